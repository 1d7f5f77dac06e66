"""The page of a fitted model: what it has learned, how it got there, and how it was set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..experiments.comparison import Comparison
from ..experiments.outcomes import describe_fit, shown_scores
from ..files.data_set import DataSet
from ..plots.fitted import attribute
from .comparison import settings
from .fits import code_maps, confusion, convergence
from .learned import codes, components
from .page import Section, page
from .tables import Entry, sortable


def model_page(model: Any, data: DataSet, name: str | None = None) -> str:
    """The page as text.

    Parameters
    ----------
    model : estimator
        Fitted to the samples.
    data : DataSet
        They and what is known about them.
    name : str, optional
        Of the model; by default that of its class.
    """
    n, n_coded = data.X.shape[0], len(attribute(model, "embedding_"))
    if n != n_coded:
        raise ValueError(f"X has {n} samples; the model was fitted to {n_coded}.")
    for name_of_part in ("components_", "history_"):
        attribute(model, name_of_part)
    nobody = np.full(n, -1)
    outcome = describe_fit(
        name or type(model).__name__, model, model.labels_, data.y, nobody, float(model.history_["time"][-1])
    )
    samples = data.X if sp.issparse(data.X) else np.nan_to_num(data.X)
    shown = Comparison(data, samples, "Samples as they are", nobody, (outcome,), 0)
    scores = ", ".join(f"{label} {getattr(outcome, key):.3f}" for label, key in shown_scores([outcome]).items())
    sections = [
        components(shown),
        code_maps(shown),
        codes(shown),
        *_selection(model),
        confusion(shown),
        convergence([outcome]),
        settings(shown, {}),
    ]
    size = f"{n:,} samples, {data.X.shape[1]:,} features, {len(outcome.components)} components"
    return page(f"{outcome.name}: a fitted model", f"{size}; {outcome.ending}{scores and '; ' + scores}.", sections)


def _selection(model: Any) -> Sequence[Section]:
    """What "auto" compared, a table per parameter."""
    tables = []
    for path in model.selection_.paths if hasattr(model, "selection_") else ():
        columns = path.columns()
        rows = [
            [Entry(f"{value:g}", float(value)), *(Entry(column[i], float(column[i])) for column in columns.values())]
            for i, value in enumerate(path.values)
        ]
        chosen = int(np.flatnonzero(path.values == path.chosen)[0])
        rows[chosen][0] = Entry(f"{path.chosen:g}", float(path.chosen), best=True)
        caption = f"{path.parameter}: the values tried; {path.chosen:g} was chosen by {' and '.join(path.decided_by)}"
        tables.append(sortable([path.parameter, *columns], rows, caption))
    return [Section("selection", "What was chosen without labels", tuple(tables))] if tables else []

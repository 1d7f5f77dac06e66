"""The page of ``partwise compare``: several methods on one data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..experiments.comparison import Comparison
from ..experiments.outcomes import LABEL_FREE, SCORES, Outcome, shown_scores
from ..files import DataSet
from ..plots.markup import Markup, element
from .charts import Series, line_chart
from .fits import code_maps, confusion, convergence
from .learned import codes, components
from .page import Section, page, settings_list, versions
from .tables import Entry, sortable

WITHOUT_LABELS = """\
The data have no labels, so scores say how well the clusters fit the data: the share of links to neighbours that stay
inside a cluster, averaged over the clusters; the modularity of the links; how much a neighbour's cluster says about
one's own; and how much nearer samples are to their own cluster than to the next."""


def comparison_page(comparison: Comparison, asked: Mapping[str, str]) -> str:
    """The page as text.

    Parameters
    ----------
    comparison : Comparison
    asked : mapping of str to str
        What the comparison was asked for, in words.
    """
    data = comparison.data
    n, m = comparison.X.shape
    classes = f", {len(data.class_names)} classes" if data.class_names else ", classes not known"
    sections = [
        _scores(comparison),
        components(comparison),
        code_maps(comparison),
        codes(comparison),
        confusion(comparison),
        _strengths(comparison),
        convergence(comparison.outcomes),
        settings(comparison, asked),
    ]
    return page(
        f"{data.name}: methods compared",
        f"{n:,} samples, {m:,} features{classes}. {comparison.preparation}.",
        sections,
        element("p", sentence, class_="lead") if (sentence := verdict(comparison.outcomes)) else None,
    )


def verdict(outcomes: Sequence[Outcome]) -> str:
    """Who is best, and by how much; empty if there is nothing to compare."""
    if len(outcomes) < 2:
        return ""
    if any(outcome.accuracy is None for outcome in outcomes):
        return _label_free_verdict(outcomes)
    first, second = sorted(outcomes, key=lambda outcome: -float(outcome.accuracy or 0))[:2]
    lead = 100 * (float(first.accuracy or 0) - float(second.accuracy or 0))
    best = f"{first.name} is best: {first.accuracy:.1%} of the samples are in the cluster of their class"
    return f"{best}, {f'{lead:.1f} points more than' if lead >= 0.05 else 'as many as with'} {second.name}."


def _label_free_verdict(outcomes: Sequence[Outcome]) -> str:
    criteria = [key for key in LABEL_FREE if all(getattr(outcome, key) is not None for outcome in outcomes)]
    if not criteria:
        return ""
    winners = [max(outcomes, key=lambda outcome, key=key: getattr(outcome, key)).name for key in criteria]  # type: ignore[misc]
    best = max(dict.fromkeys(winners), key=winners.count)
    return f"Without labels: {best} has the best clusters by {winners.count(best)} of {len(criteria)} criteria."


def _scores(comparison: Comparison) -> Section:
    outcomes = comparison.outcomes
    scores = shown_scores(outcomes)
    texts = {name: [_number(getattr(o, key)) for o in outcomes] for name, key in scores.items()}
    best = {name: max(column, key=lambda text: float(text or "-inf")) for name, column in texts.items()}
    rows = []
    for i, outcome in enumerate(outcomes):
        row = [Entry(outcome.name)]
        for name, key in scores.items():
            text = texts[name][i]
            row.append(Entry(text, getattr(outcome, key), best=text != "" and text == best[name]))
        row += [Entry(f"{outcome.seconds:.2f} s", outcome.seconds), Entry(outcome.ending, kind="text")]
        rows.append(row)
    table = sortable(["method", *scores, "time", "fit"], rows, "Scores of all methods; the best of each are marked")
    hidden = int(((comparison.data.y >= 0) & (comparison.known < 0)).sum())
    legend = (
        f"accuracy: samples whose cluster is matched to their class; unlabelled: the same on the {hidden:,} samples "
        "whose label no method was given; NMI: normalised mutual information by the larger entropy; time: from the "
        "data to the clusters, on one thread."
        if "accuracy" in scores
        else WITHOUT_LABELS
    )
    notes = [element("li", f"{o.name}: {note}") for o in outcomes for note in o.notes]
    words = element("div", element("p", legend), element("ul", *notes) if notes else None, class_="muted")
    return Section("scores", "Scores", (element("div", table, words, class_="beside scores"),))


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _strengths(comparison: Comparison) -> Section:
    key, title = "sensitivity", "Strength of the graph"
    if not comparison.strengths:
        return Section(key, title, ())
    x = [strength for strength, _ in comparison.strengths]
    series = [
        Series(name, x, [float(getattr(outcome, score)) for _, outcome in comparison.strengths], colour)
        for colour, (name, score) in enumerate(SCORES.items())
        if score in ("accuracy", "nmi")
    ]
    chart = line_chart(
        series, "graph_strength", "score", title="Accuracy and NMI against graph_strength", log_x=True, x_ticks=x
    )
    note = (
        "GraphNMF with fixed strengths instead of the one it chose, everything else as above. The scores need the "
        "classes: this is not a way to choose a strength."
    )
    return Section(key, title, (element("div", chart, class_="grid-of"),), note)


def described(data: DataSet, image_shape: Any, feature_names: Any, named: Any, X: Any) -> DataSet:
    """The data set with what is known about its features; names may also come from a fitted model or a data frame, X.

    A data frame whose index is not of numbers names the samples, too.
    """
    if feature_names is None:
        feature_names = getattr(named, "columns", getattr(named, "feature_names_in_", None))
    changes: dict[str, Any] = {} if image_shape is None else {"image_shape": tuple(image_shape)}
    if feature_names is not None:
        changes["terms"] = tuple(map(str, feature_names))
    if hasattr(X, "iloc") and hasattr(X, "index") and X.index.dtype.kind not in "iuf":
        changes["sample_names"] = tuple(map(str, X.index))
    known = (
        ("image_shape", f"image_shape {image_shape} is that of", int(np.prod(image_shape or ()))),
        ("terms", "feature_names names", len(changes.get("terms", ()))),
    )
    for name, says, found in known:
        if name in changes and found != data.X.shape[1]:
            raise ValueError(f"X has {data.X.shape[1]} features, but {says} {found}.")
    return replace(data, **changes)


def settings(comparison: Comparison, asked: Mapping[str, str]) -> Section:
    """What was asked for, the estimators, the data and the versions."""
    data = comparison.data
    estimators = {outcome.name: outcome.settings for outcome in comparison.outcomes}
    source = {"citation": data.citation, "licence": data.licence}
    body: list[Markup] = []
    for heading, facts in (
        ("This comparison", asked),
        ("Estimators, with everything that is not a default", estimators),
        ("The data", {name: text for name, text in source.items() if text}),
        ("Versions", versions()),
    ):
        if facts:
            body += [element("h3", heading), settings_list(facts)]
    return Section("settings", "Settings and versions", tuple(body))

"""What displays and pages read from a fitted model, and what they say where it is not there."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

# What an attribute holds, as sentences about its absence say it.
MEANINGS = {
    "components_": "no components in the features of X",
    "embedding_": "no codes",
    "labels_": "no clusters",
    "history_": "no sweeps that a history could record",
    "selection_": "no selection_: none of its parameters was open",
    "rank_stability_": "no rank_stability_: it compared no numbers of components. Give n_components as a sequence",
}


def attribute(model: Any, name: str) -> Any:
    """An attribute that the fit of a model has left; whoever is not fitted, or has none, is refused in a sentence.

    Parameters
    ----------
    model : estimator
    name : str
        One of `MEANINGS`.
    """
    found = getattr(model, name, None)
    if found is None:
        if hasattr(model, "fit"):
            check_is_fitted(model)
        raise ValueError(f"This {type(model).__name__} has {MEANINGS[name]}.")
    return found

"""Label-free scores of a fitted model on samples it has not seen, for scikit-learn's searches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import scipy.sparse as sp
from sklearn.base import clone

from ..core.door import has_nan, read_data
from ..core.interruption import fit_whole
from ..graphs import neighbor_graph
from .criteria import agreement, modularity, neighbor_information, normalized_cut, silhouette
from .trials import JUDGING_NEIGHBORS

Scorer = Callable[..., float]


def _reconstruction(estimator: Any, X: Any, y: Any = None) -> float:
    return float(estimator.score(X))


def _connectedness(estimator: Any, X: Any, y: Any = None) -> float:
    return 1 - normalized_cut(_graph(estimator, X), estimator.predict(X), _n_clusters(estimator))


def _modularity(estimator: Any, X: Any, y: Any = None) -> float:
    return modularity(_graph(estimator, X), estimator.predict(X))


def _information(estimator: Any, X: Any, y: Any = None) -> float:
    return neighbor_information(_graph(estimator, X), estimator.predict(X))


def _silhouette(estimator: Any, X: Any, y: Any = None) -> float:
    return silhouette(_complete(estimator, X), estimator.predict(X))


def _prediction_strength(estimator: Any, X: Any, y: Any = None) -> float:
    return agreement(fit_whole(clone(estimator), X).predict(X), estimator.predict(X))


def _graph(estimator: Any, X: Any) -> Any:
    X = _complete(estimator, X)
    return neighbor_graph(X, min(JUDGING_NEIGHBORS, X.shape[0] - 1))


def _complete(estimator: Any, X: Any) -> Any:
    """X, if all of it is known."""
    missing = getattr(_model(estimator), "missing", None)
    X = read_data(X, allow_nan=missing == "nan")
    unstored = missing == "unstored" and sp.issparse(X) and X.nnz < X.shape[0] * X.shape[1]
    if unstored or (missing == "nan" and has_nan(X)):
        raise ValueError(
            "This scorer compares samples with their neighbours, but data with missing entries have none. Use "
            "'reconstruction' or 'prediction strength', or partwise.selection.cross_validate_entries for n_components."
        )
    return X


def _model(estimator: Any) -> Any:
    """The method, alone or at the end of a pipeline."""
    return estimator[-1] if hasattr(estimator, "steps") else estimator


def _n_clusters(estimator: Any) -> int:
    """The number of clusters the method was asked for."""
    return int(_model(estimator).embedding_.shape[1])


SCORERS: dict[str, Scorer] = {
    "reconstruction": _reconstruction,
    "connectedness": _connectedness,
    "modularity": _modularity,
    "information": _information,
    "silhouette": _silhouette,
    "prediction strength": _prediction_strength,
}


def scorer_names() -> list[str]:
    """Names that :func:`get_scorer` knows."""
    return sorted(SCORERS)


def get_scorer(name: str) -> Scorer:
    """A label-free scorer, for the `scoring` of GridSearchCV, RandomizedSearchCV and cross_val_score.

    All judge the model on samples it has not seen, and larger is better:

    - "reconstruction": the estimator's `score`. It falls with every penalty, so do not choose penalties by it.
    - "connectedness": the share of a cluster's links to neighbours that stay inside, averaged over the clusters.
    - "modularity": of the links; comparable between numbers of components.
    - "information": the share of the clusters' entropy that the clusters of neighbours explain.
    - "silhouette": with cosine distances, on X.
    - "prediction strength": whether a model fitted to the new samples finds the clusters that were predicted
      (Tibshirani & Walther 2005), as an adjusted Rand index. It costs a fit.

    Parameters
    ----------
    name : str

    Returns
    -------
    scorer : callable
        Of an estimator, X and y, which is ignored.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import GridSearchCV
    >>> from partwise import GraphNMF
    >>> from partwise.selection import get_scorer
    >>> X, _ = load_digits(n_class=4, return_X_y=True)
    >>> scoring = {name: get_scorer(name) for name in ("connectedness", "silhouette")}
    >>> search = GridSearchCV(
    ...     GraphNMF(4, random_state=0), {"graph_strength": [0, 1, 100]}, scoring=scoring, refit="silhouette", cv=3
    ... ).fit(X)
    >>> sorted(search.best_params_)
    ['graph_strength']
    """
    if name not in SCORERS:
        raise ValueError(f"There is no label-free scorer {name!r}; give one of {', '.join(map(repr, scorer_names()))}.")
    return SCORERS[name]

"""The evidence for a number of components: entries that were hidden, and runs that agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import check_random_state

from ..core.door import read_data
from ..core.interruption import fit_whole
from ..core.state import State
from ..core.storage import as_operand
from ..core.types import Array
from .consensus import consensus
from .criteria import agreement
from .grids import RANKS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class EntryValidation:
    """How well hidden entries are predicted.

    Attributes
    ----------
    n_components : ndarray of int, shape (n_ranks,)
    losses : ndarray of shape (n_ranks, n_splits)
        Mean loss per hidden entry.
    """

    n_components: Array
    losses: Array

    @property
    def mean(self) -> Array:
        """Mean over the splits."""
        return self.losses.mean(axis=1)

    @property
    def error(self) -> Array:
        """Standard error of the mean."""
        return self.losses.std(axis=1, ddof=1) / np.sqrt(self.losses.shape[1])

    @property
    def best(self) -> int:
        """The number of components with the lowest mean loss."""
        return int(self.n_components[self.mean.argmin()])

    @property
    def smallest_good(self) -> int:
        """The smallest number whose mean loss is within one standard error of the lowest."""
        limit = self.mean.min() + self.error[self.mean.argmin()]
        return int(self.n_components[self.mean <= limit].min())


@dataclass(frozen=True, eq=False)
class RankEvidence:
    """What speaks for which number of components.

    Attributes
    ----------
    n_components : ndarray of int, shape (n_ranks,)
    hidden : EntryValidation or None
        Cross-validation over entries, if it was asked for.
    cophenetic, cophenetic_error : ndarray of shape (n_ranks,)
        Cophenetic correlation of the consensus matrix, and its standard error over the runs.
    stability, stability_error : ndarray of shape (n_ranks,)
        Mean adjusted Rand index of a run with the others, and the standard error of it over the runs.
    dispersion : ndarray of shape (n_ranks,)
        Of the consensus matrix.
    """

    n_components: Array
    hidden: EntryValidation | None
    cophenetic: Array
    cophenetic_error: Array
    stability: Array
    stability_error: Array
    dispersion: Array

    def plot(self) -> Figure:
        """Draw the evidence with its error bars. Needs matplotlib.

        Returns
        -------
        figure : matplotlib.figure.Figure
        """
        from ..report.curves import Curve, draw_curves

        curves = [
            Curve("cophenetic correlation", self.n_components, self.cophenetic, self.cophenetic_error),
            Curve("stability", self.n_components, self.stability, self.stability_error),
        ]
        if self.hidden is not None:
            curves.insert(0, Curve("loss on hidden entries", self.n_components, self.hidden.mean, self.hidden.error))
        return draw_curves(curves, "number of components")


def cross_validate_entries(
    estimator: Any,
    X: Any,
    n_components: Sequence[int],
    *,
    n_splits: int = 5,
    share: float = 0.1,
    random_state: Any = None,
) -> EntryValidation:
    """Hide entries of X, fit the rest, and see how well the hidden ones are predicted.

    A sample that is left out as a whole has to be coded before it can be judged, and the code sees what it is judged
    by: more components always look better. Hidden entries are not seen by anything.

    Parameters
    ----------
    estimator : estimator
        One that takes missing entries: NMF, or Factorization. It is not changed.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Complete data. Of a sparse X, entries that are stored and as many that are not are hidden, and count by how many
        there are of each.
    n_components : sequence of int
        Numbers to compare.
    n_splits : int, default=5
        Choices of hidden entries.
    share : float, default=0.1
        Share of the entries (of a sparse X: of the stored ones) that is hidden.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    validation : EntryValidation

    Examples
    --------
    >>> import numpy as np
    >>> from partwise import NMF
    >>> from partwise.selection import cross_validate_entries
    >>> rng = np.random.RandomState(0)
    >>> X = rng.gamma(0.5, size=(60, 3)) @ rng.gamma(0.5, size=(3, 40)) + rng.uniform(0, 0.2, size=(60, 40))
    >>> cross_validate_entries(NMF(), X, [1, 2, 3, 4, 6], random_state=0).smallest_good
    3
    """
    ranks = [int(k) for k in RANKS.given("n_components", n_components).values]
    if not 0 < share < 1:
        raise ValueError(f"share={share!r} was given; it must lie between 0 and 1.")
    if n_splits < 2:
        raise ValueError(f"n_splits={n_splits!r} was given; error bars need at least 2.")
    if "missing" not in estimator.get_params():
        raise ValueError(
            f"{type(estimator).__name__} takes no missing entries, so none can be hidden from it. Use NMF or "
            "Factorization, or look at stability alone."
        )
    X = read_data(X)
    rng = check_random_state(random_state)
    losses = np.empty((len(ranks), n_splits))
    for split in range(n_splits):
        weights, known = _hide(X, share, rng)
        seed = int(rng.randint(np.iinfo(np.int32).max))
        for i, k in enumerate(ranks):
            model = clone(estimator).set_params(n_components=k, missing="nan", random_state=seed)
            model = fit_whole(model, known)
            losses[i, split] = _loss_at(model, X, weights)
    return EntryValidation(np.array(ranks), losses)


def _hide(X: Any, share: float, rng: np.random.RandomState) -> tuple[Any, Any]:
    """Weights of the hidden entries, each standing for as many as it was drawn from; and X without them."""
    n, m = X.shape
    if not sp.issparse(X):
        hidden = rng.uniform(size=X.shape) < share
        return sp.csr_array(hidden.astype(X.dtype)), np.where(hidden, np.nan, X)
    stored = X.tocoo()
    seen = rng.uniform(size=X.nnz) < share
    n_empty = n * m - X.nnz
    draws = min(int(seen.sum()), n_empty)
    places = np.unique(rng.randint(n * m, size=2 * draws, dtype=np.int64)) if draws else np.empty(0, np.int64)
    taken = stored.row.astype(np.int64) * m + stored.col
    empty = rng.permutation(np.setdiff1d(places, taken))[:draws]
    rows, columns = np.divmod(empty, m)
    at = np.concatenate([stored.row[seen], rows]), np.concatenate([stored.col[seen], columns])
    ones = np.ones(int(seen.sum()))
    each = np.full(len(empty), share * n_empty / max(len(empty), 1))
    weights = sp.csr_array((np.concatenate([ones, each]).astype(X.dtype), at), shape=X.shape)
    values = np.concatenate([np.where(seen, np.nan, stored.data), np.full(len(empty), np.nan)])
    where = np.concatenate([stored.row, rows]), np.concatenate([stored.col, columns])
    return weights, sp.csr_array((values.astype(X.dtype), where), shape=X.shape)


def _loss_at(model: Any, X: Any, weights: Any) -> float:
    """Mean loss of the hidden entries."""
    fits = model._fit_terms()
    if not fits:
        raise ValueError(f"{type(model).__name__} has no fit among its terms, so there is nothing to validate.")
    operand = as_operand(X)
    state = State(operand, model.embedding_, np.ascontiguousarray(model.components_.T))
    return sum(replace(fit, weights=weights).bind(operand).value(state) for fit in fits) / float(weights.sum())


def rank_evidence(
    estimator: Any,
    X: Any,
    n_components: Sequence[int],
    *,
    n_splits: int = 5,
    n_runs: int = 10,
    max_samples: int = 500,
    random_state: Any = None,
) -> RankEvidence:
    """Gather what speaks for each number of components: predicted entries, and agreement of runs.

    Parameters
    ----------
    estimator : estimator
        Not changed.
    X : array-like or sparse matrix of shape (n_samples, n_features)
    n_components : sequence of int
        Numbers to compare.
    n_splits : int, default=5
        Of :func:`cross_validate_entries`; 0 leaves it out, which methods that take no missing entries need.
    n_runs : int, default=10
        Of :func:`consensus`.
    max_samples : int, default=500
        Largest consensus matrix.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    evidence : RankEvidence
    """
    ranks = [int(k) for k in RANKS.given("n_components", n_components).values]
    rng = check_random_state(random_state)
    hidden = None
    if n_splits:
        hidden = cross_validate_entries(estimator, X, ranks, n_splits=n_splits, random_state=rng)
    columns = []
    for k in ranks:
        found = consensus(
            clone(estimator).set_params(n_components=k), X, n_runs=n_runs, max_samples=max_samples, random_state=rng
        )
        together, error = _agreement(found.labellings)
        columns.append((found.cophenetic_correlation, found.cophenetic_error, together, error, found.dispersion))
    return RankEvidence(np.array(ranks), hidden, *np.array(columns).T)


def _agreement(labellings: Array) -> tuple[float, float]:
    """Mean adjusted Rand index of every run with the others, and its standard error over the runs."""
    n = len(labellings)
    table = np.array([[agreement(a, b) for b in labellings] for a in labellings])
    means = (table.sum(axis=1) - 1) / (n - 1)
    return float(means.mean()), float(means.std(ddof=1) / np.sqrt(n))

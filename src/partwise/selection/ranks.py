"""The evidence for a number of components: prediction of hidden entries, and agreement of runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import check_random_state

from ..core.annotated import instead_of
from ..core.door import read_data
from ..core.interruption import fit_whole
from ..core.numbers import check_number
from ..core.operand import Operand
from ..core.storage import as_operand
from ..core.types import Array
from ..plots import Curve, draw_curves
from ..plots.views import picture, table, view
from ..terms.entries import check_weights, restrict
from .consensus import consensus
from .criteria import agreement
from .entries import hidden_loss, hide
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

    def _columns(self) -> dict[str, list[Any]]:
        return {"loss on hidden entries": self.mean.tolist(), "± standard error": self.error.tolist()}

    def _repr_html_(self) -> str:
        """The losses, with the lowest in bold."""
        ranks = self.n_components.tolist()
        return view(table({"components": ranks, **self._columns()}, chosen=ranks.index(self.best)))


@dataclass(frozen=True, eq=False)
class RankEvidence:
    """The evidence for each number of components.

    Attributes
    ----------
    n_components : ndarray of int, shape (n_ranks,)
    hidden : EntryValidation or None
        Cross-validation over entries, if requested.
    cophenetic, cophenetic_error : ndarray of shape (n_ranks,)
        Cophenetic correlation of the consensus matrix, and its standard error over the runs.
    stability, stability_error : ndarray of shape (n_ranks,)
        Mean adjusted Rand index of a run with the others, and its standard error over the runs.
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

    def _repr_html_(self) -> str:
        """A row per number of components, and the plot."""
        columns = {
            "components": self.n_components.tolist(),
            **({} if self.hidden is None else self.hidden._columns()),
            "cophenetic correlation": self.cophenetic.tolist(),
            "stability": self.stability.tolist(),
            "dispersion": self.dispersion.tolist(),
        }
        return view(table(columns), picture(self.plot, "The evidence for each number of components"))

    def plot(self) -> Figure:
        """Draw the evidence with its error bars. Needs matplotlib.

        Returns
        -------
        figure : matplotlib.figure.Figure
        """
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
    """Hide entries of X, fit the rest, and measure how well the hidden ones are predicted.

    A sample that is left out whole must be coded before it can be judged, and its code sees what it is judged by: more
    components always look better. Hidden entries are seen by nothing. Where little is known about a sample, its code
    is poorly determined, and some predictions are far off: several starts (`n_init`) and small penalties
    (`l2_codes`, `l2_components`) keep them in bounds; ``n_components="auto"`` uses both.

    Parameters
    ----------
    estimator : estimator
        One that accepts missing entries: NMF, WeightedNMF or Factorization. It is not changed. Its parameter `missing`
        says which entries of X are unknown; these, and entries of weight zero, are neither hidden nor scored.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        In a sparse X whose unstored entries are zeros, as many unstored as stored entries are hidden, weighted by how
        many there are of each.
    n_components : sequence of int
        Numbers to compare.
    n_splits : int, default=5
        Choices of hidden entries.
    share : float, default=0.1
        Share of the known entries (of a sparse X: of the stored ones) that is hidden.
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
    check_number("n_splits", n_splits, 2)
    if "missing" not in estimator.get_params():
        raise ValueError(
            f"{type(estimator).__name__} takes no missing entries, so none can be hidden from it. Use NMF, "
            "WeightedNMF or Factorization, or consider only stability."
        )
    data = _known_entries(estimator, X)
    weights = getattr(estimator, "weights", None)
    settings = {}
    if weights is not None:
        data, settings["weights"] = restrict(
            data, check_weights(weights(data.array) if callable(weights) else weights, data)
        )
    fits = clone(estimator).set_params(missing=data.missing, **settings).problem(instead_of(X, data.array)).fits
    if not fits:
        raise ValueError(f"{type(estimator).__name__} has no fit among its terms, so there is nothing to validate.")
    rng = check_random_state(random_state)
    losses = np.empty((len(ranks), n_splits))
    for split in range(n_splits):
        hidden, known = hide(data, share, rng)
        settings |= {"missing": known.missing, "random_state": int(rng.randint(np.iinfo(np.int32).max))}
        for i, k in enumerate(ranks):
            model = fit_whole(clone(estimator).set_params(n_components=k, **settings), instead_of(X, known.array))
            Ht = np.ascontiguousarray(model.components_.T)
            losses[i, split] = hidden_loss(fits, data, hidden, model.embedding_, Ht)
    return EntryValidation(np.array(ranks), losses)


def _known_entries(estimator: Any, X: Any) -> Operand:
    """The data, with the entries that the estimator treats as unknown."""
    missing = estimator.missing
    if missing == "unstored" and not sp.issparse(X):
        raise ValueError(
            "missing='unstored' needs a sparse X; for a dense X mark unknown entries with NaN and use 'nan'."
        )
    X = read_data(
        X, allow_nan=missing == "nan", if_nan="If these entries are unknown, give the estimator missing='nan'."
    )
    return as_operand(X, missing)


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
    """Gather the evidence for each number of components: predicted entries, and agreement of runs.

    Parameters
    ----------
    estimator : estimator
        Not changed.
    X : array-like or sparse matrix of shape (n_samples, n_features)
    n_components : sequence of int
        Numbers to compare.
    n_splits : int, default=5
        Of :func:`cross_validate_entries`; 0 omits it, as methods that take no missing entries require.
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

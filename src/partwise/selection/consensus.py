"""Consensus clustering: how often two samples fall into one cluster over many runs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ..clusters import Assignment
from ..core.interruption import fit_whole
from ..core.numbers import check_number
from ..core.types import Array, IntArray
from ..core.warn import warn
from ..plots import draw_consensus
from ..plots.views import picture, table, view
from ..solvers import Options, solve_many
from .criteria import stability

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LARGEST_SEED = np.iinfo(np.int32).max
# Starts that are always the same: runs from them would agree whatever the data.
FIXED_STARTS = ("auto", "nndsvd", "nndsvda")


@dataclass(frozen=True, eq=False)
class Consensus:
    """What many runs agree on.

    Attributes
    ----------
    labellings : ndarray of int, shape (n_runs, n_samples)
        Clusters of every sample in every run.
    n_clusters : int
    rows : ndarray of int, shape (n_rows,)
        The samples in `matrix`: all of them, or a random choice if there are many.
    """

    labellings: IntArray
    n_clusters: int
    rows: IntArray

    @cached_property
    def matrix(self) -> Array:
        """Share of the runs in which two samples are in one cluster, n_rows × n_rows."""
        return _together(self.labellings[:, self.rows])

    @cached_property
    def _tree(self) -> Array:
        """Average linkage of the rows, by 1 − matrix."""
        from scipy.cluster.hierarchy import linkage

        return np.asarray(linkage(_distances(self.matrix), "average"))

    @property
    def cophenetic_correlation(self) -> float:
        """How well a tree describes the matrix, 1 if all runs agree (Brunet et al. 2004)."""
        return _cophenetic(self.matrix, self._tree)

    @cached_property
    def cophenetic_error(self) -> float:
        """Standard error of the cophenetic correlation, by leaving out one run at a time (jackknife)."""
        n = len(self.labellings)
        if n < 3:
            return float("nan")
        others = [_cophenetic(_together(np.delete(self.labellings[:, self.rows], i, axis=0))) for i in range(n)]
        return float(np.sqrt((n - 1) * np.var(others)))

    @property
    def dispersion(self) -> float:
        """Mean of 4 (c − ½)² over the matrix: 1 if every pair is always or never together (Kim & Park 2007)."""
        return float(np.mean(4 * (self.matrix - 0.5) ** 2))

    @property
    def stability(self) -> float:
        """Mean adjusted Rand index between every two runs."""
        return stability(list(self.labellings))

    @cached_property
    def order(self) -> IntArray:
        """An order of `rows` in which samples of one cluster are adjacent."""
        from scipy.cluster.hierarchy import leaves_list

        return np.asarray(leaves_list(self._tree), np.intp)

    @cached_property
    def labels(self) -> IntArray:
        """The clusters of all samples that the runs agree on.

        The tree over `rows` is cut into `n_clusters`; every other sample goes to the cluster whose samples it was with
        most often, on average.
        """
        from scipy.cluster.hierarchy import fcluster

        cut = np.unique(fcluster(self._tree, self.n_clusters, "maxclust"), return_inverse=True)[1].ravel()
        labels = np.empty(self.labellings.shape[1], np.intp)
        labels[self.rows] = cut
        others = np.setdiff1d(np.arange(len(labels)), self.rows)
        if len(others):
            together = np.zeros((len(others), int(cut.max()) + 1))
            for run in self.labellings:
                k = int(run.max()) + 1
                counts = np.zeros((k, together.shape[1]))
                np.add.at(counts, (run[self.rows], cut), 1)
                together += counts[run[others]]
            labels[others] = (together / np.bincount(cut)).argmax(axis=1)
        return labels

    def _repr_html_(self) -> str:
        """The scores, and the matrix."""
        scores: dict[str, list[object]] = {
            "runs": [len(self.labellings)],
            "clusters": [self.n_clusters],
            "cophenetic correlation": [self.cophenetic_correlation],
            "dispersion": [self.dispersion],
            "stability": [self.stability],
        }
        return view(table(scores), picture(self.plot, "Share of runs in which two samples are together"))

    def plot(self) -> Figure:
        """Draw the matrix with samples of one cluster adjacent. Needs matplotlib.

        Returns
        -------
        figure : matplotlib.figure.Figure
        """
        return draw_consensus(self.matrix[np.ix_(self.order, self.order)], self.cophenetic_correlation)


def consensus(
    estimator: Any, X: Any, *, n_runs: int = 20, max_samples: int = 2000, random_state: Any = None
) -> Consensus:
    """Fit an estimator many times from different starts and see which samples stay together.

    Fits of an `NMF` or `GraphNMF` with fixed parameters run side by side (:func:`partwise.solvers.solve_many`), with
    one graph for all.

    Parameters
    ----------
    estimator : estimator
        Anything with `labels_` and `random_state`; it is not changed. Starts that are always the same ("auto",
        "nndsvd", "nndsvda") are replaced by "random".
    X : array-like or sparse matrix of shape (n_samples, n_features)
    n_runs : int, default=20
    max_samples : int, default=2000
        Largest matrix; if there are more samples, this many are chosen at random for it. All samples get `labels`.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    consensus : Consensus

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from partwise import GraphNMF
    >>> from partwise.selection import consensus
    >>> X, _ = load_digits(n_class=3, return_X_y=True)
    >>> result = consensus(GraphNMF(3), X, n_runs=5, random_state=0)
    >>> result.matrix.shape == (len(X), len(X))
    True
    >>> bool(result.cophenetic_correlation > 0.9)
    True
    """
    check_number("n_runs", n_runs, 2)
    check_number("max_samples", max_samples, 2)
    rng = check_random_state(random_state)
    varied = {"init": "random"} if getattr(estimator, "init", None) in FIXED_STARTS else {}
    varying = clone(estimator).set_params(**varied)
    labellings = _labellings(varying, X, rng.randint(LARGEST_SEED, size=n_runs))
    n = len(labellings[0])
    rows = np.arange(n) if n <= max_samples else np.sort(rng.choice(n, max_samples, replace=False))
    k = max(int(labels.max()) + 1 for labels in labellings)
    return Consensus(np.array(labellings), k, rows)


def _labellings(estimator: Any, X: Any, seeds: Array) -> list[IntArray]:
    """The clusters that the estimator finds with every seed."""
    if not getattr(estimator, "replicable", False):
        return [fit_whole(clone(estimator).set_params(random_state=int(seed)), X).labels_ for seed in seeds]
    posed, rngs = estimator.problem(X), [np.random.RandomState(seed) for seed in seeds]
    options = Options(estimator.max_iter, estimator.tol, inner=True)
    found, unfinished = {}, 0
    for index, minimum in solve_many(map(posed.reseeded, rngs), options):
        unfinished += minimum.result.stop_reason == "max_iter"
        seed = int(rngs[index].randint(LARGEST_SEED))
        found[index] = Assignment(minimum.state.W, estimator.assign, seed).labels
    warn_if_unfinished(unfinished, len(seeds), options)
    return [found[index] for index in range(len(seeds))]


def warn_if_unfinished(n_unfinished: int, n_fits: int, options: Options) -> None:
    """Warn if some of many fits have reached the limit of sweeps."""
    if n_unfinished and options.tol > 0:
        warn(
            f"{n_unfinished} of {n_fits} fits have not converged to tol={options.tol:g} after {options.max_iter} "
            "sweeps. Raise max_iter or tol.",
            ConvergenceWarning,
        )


def _together(labellings: IntArray) -> Array:
    matrix = np.zeros((labellings.shape[1],) * 2)
    for labels in labellings:
        matrix += labels[:, None] == labels
    return matrix / len(labellings)


def _distances(matrix: Array) -> Array:
    from scipy.spatial.distance import squareform

    return squareform(1 - matrix, checks=False)


def _cophenetic(matrix: Array, tree: Array | None = None) -> float:
    from scipy.cluster.hierarchy import cophenet, linkage

    distances = _distances(matrix)
    if np.ptp(distances) == 0:
        return 1.0
    along_tree = cophenet(linkage(distances, "average") if tree is None else tree)
    return float(np.corrcoef(distances, along_tree)[0, 1])

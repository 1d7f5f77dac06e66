"""Components of many fits, clustered: which of them are found again and again, and what they look like.

The consensus of cNMF (Kotliar et al., "Identifying gene expression programs of cell-type identity and cellular activity
with single-cell RNA-Seq", eLife 2019): components of unit norm; those far from their nearest neighbours are dropped;
k-means groups the others; the median of a group is its component.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..clusters import cluster
from ..core.types import Array, IntArray

# Bytes of distances at a time.
BLOCK_BYTES = 2**22
KMEANS_STARTS = 10


class TooFewAgree(ValueError):
    """The fits agree on fewer components than they have."""


@dataclass(frozen=True, eq=False)
class Programs:
    """Components that many fits agree on.

    Attributes
    ----------
    components : ndarray of shape (n_components, n_features)
        Of unit norm, those found most often first.
    low, high : ndarray of the same shape
        Where the components of single fits lie, entry by entry: an interval that holds the given share of them.
    sizes : ndarray of int, shape (n_components,)
        How many components of single fits each stands for.
    stability, stability_error : ndarray of shape (n_components,)
        Mean silhouette of these, from −1 to 1, and its standard error. 1: all fits agree.
    cosine, cosine_error : ndarray of shape (n_components,)
        Their mean cosine with the component, and its standard error.
    labels : ndarray of int, shape (n_found,)
        The component that each found one belongs to; −1 if it was dropped.
    density : ndarray of shape (n_found,)
        Mean distance of each to its nearest neighbours.
    """

    components: Array
    low: Array
    high: Array
    sizes: IntArray
    stability: Array
    stability_error: Array
    cosine: Array
    cosine_error: Array
    labels: IntArray
    density: Array

    @property
    def mean_stability(self) -> float:
        """Mean silhouette of all components of single fits that were kept."""
        return float(np.average(self.stability, weights=self.sizes))

    @property
    def mean_stability_error(self) -> float:
        """Its standard error."""
        shares = self.sizes / self.sizes.sum()
        return float(np.sqrt(np.sum((shares * self.stability_error) ** 2)))


def find_programs(
    found: Array,
    n_components: int,
    *,
    n_neighbors: int,
    density_threshold: float = 0.5,
    center: str = "median",
    level: float = 0.9,
    seed: int = 0,
) -> Programs:
    """Cluster the components of many fits.

    Parameters
    ----------
    found : ndarray of shape (n_found, n_features)
        Of unit norm; those of zero norm are dropped.
    n_components : int
        Number of clusters.
    n_neighbors : int
        Neighbours that determine the density at a component.
    density_threshold : float, default=0.5
        Components with a larger mean distance to these are dropped; distances between unit vectors without negative
        entries are at most √2.
    center : {"median", "medoid"}, default="median"
        The median of every feature, or the one found component that is nearest to the others of its cluster.
    level : float, default=0.9
        Share of the found components between `low` and `high`.
    seed : int, default=0

    Returns
    -------
    programs : Programs

    Raises
    ------
    TooFewAgree
        If fewer than `n_components` are left.
    """
    density = local_density(found, n_neighbors)
    kept = (density <= density_threshold) & found.any(axis=1)
    if kept.sum() < n_components:
        raise TooFewAgree(
            f"Only {int(kept.sum())} of {len(found)} components lie within density_threshold={density_threshold:g} of "
            f"their {n_neighbors} nearest neighbours, too few for {n_components} clusters: the fits hardly agree. Give "
            "several numbers of components to see with which of them fits agree, or a larger density_threshold."
        )
    members = found if kept.all() else found[kept]
    groups = _ordered(cluster(members, n_components, KMEANS_STARTS, seed)[0])
    n_distinct = int(groups.max()) + 1
    if n_distinct < n_components:
        raise TooFewAgree(
            f"The components of all fits are copies of {n_distinct}, too few for {n_components} clusters. Use fewer "
            "components, and see whether X has as many distinct rows."
        )
    labels = np.full(len(found), -1, np.intp)
    labels[kept] = groups
    inside = [groups == group for group in range(n_components)]
    silhouettes = silhouette_of_rows(members, groups)
    components = np.array([_center(members[rows], center) for rows in inside])
    cosines = (members @ components.T)[np.arange(len(members)), groups]
    quantiles = np.array([np.quantile(members[rows], [(1 - level) / 2, (1 + level) / 2], axis=0) for rows in inside])
    summaries = [_mean_and_error(values, inside) for values in (silhouettes, cosines)]
    sizes = np.array([rows.sum() for rows in inside])
    low, high = quantiles.astype(found.dtype).transpose(1, 0, 2)
    return Programs(components, low, high, sizes, *summaries[0], *summaries[1], labels, density)


def local_density(found: Array, n_neighbors: int) -> Array:
    """Mean Euclidean distance of every row to its nearest others."""
    density = np.empty(len(found))
    for rows, distances in _distances(found):
        nearest = np.partition(distances, n_neighbors, axis=1)[:, : n_neighbors + 1]
        # The row itself is among them, at distance 0.
        density[rows] = nearest.sum(axis=1) / n_neighbors
    return density


def silhouette_of_rows(members: Array, groups: IntArray) -> Array:
    """Silhouette of every row: how much nearer it is to its own group than to the next one, from −1 to 1."""
    one_hot = np.eye(int(groups.max()) + 1)[groups]
    sizes = one_hot.sum(axis=0)
    if len(sizes) == 1:
        # There is no other group: only the distance within the group shows how far the fits agree.
        others = max(1, len(members) - 1)
        return np.concatenate([1 - distances.sum(axis=1) / others for _, distances in _distances(members)])
    silhouettes = np.empty(len(members))
    for rows, distances in _distances(members):
        sums, own = distances @ one_hot, groups[rows]
        place = np.arange(len(own)), own
        within = sums[place] / np.maximum(sizes[own] - 1, 1)
        means = sums / sizes
        means[place] = np.inf
        nearest = means.min(axis=1)
        larger = np.maximum(within, nearest)
        gap = (nearest - within) / np.where(larger > 0, larger, 1)
        silhouettes[rows] = np.where(sizes[own] > 1, gap, 0)
    return silhouettes


def unit_rows(components: Array) -> Array:
    """Rows at unit norm; zeros stay zero."""
    norms = np.linalg.norm(components, axis=1, keepdims=True)
    return np.divide(components, norms, out=np.zeros_like(components), where=norms > 0)


def _distances(found: Array) -> Iterator[tuple[slice, Array]]:
    """Euclidean distances of some rows to all."""
    squares = np.einsum("ij,ij->i", found, found, dtype=np.float64)
    at_a_time = max(1, BLOCK_BYTES // (8 * len(found)))
    for start in range(0, len(found), at_a_time):
        rows = slice(start, min(start + at_a_time, len(found)))
        squared = squares[rows, None] + squares - 2 * (found[rows] @ found.T).astype(np.float64)
        # A row is at no distance from itself, whatever rounding says.
        squared[np.arange(rows.stop - rows.start), np.arange(rows.start, rows.stop)] = 0
        yield rows, np.sqrt(np.maximum(squared, 0))


def _ordered(groups: IntArray) -> IntArray:
    """Groups numbered by size, the largest first."""
    sizes = np.bincount(groups)
    place = np.empty(len(sizes), np.intp)
    place[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    return place[groups]


def _center(members: Array, center: str) -> Array:
    """The component that stands for some, of unit norm."""
    if center == "median":
        median = unit_rows(np.median(members, axis=0)[None, :].astype(members.dtype))[0]
        if median.any():
            return median
    # Where more than half of the members are zero everywhere, none of them is the median.
    total = np.zeros(len(members))
    for rows, distances in _distances(members):
        total[rows] = distances.sum(axis=1)
    return members[int(total.argmin())]


def _mean_and_error(values: Array, inside: list[Array]) -> tuple[Array, Array]:
    """Mean of the values in every group, and its standard error."""
    means = np.array([values[rows].mean() for rows in inside])
    errors = [values[rows].std(ddof=1) / np.sqrt(rows.sum()) if rows.sum() > 1 else np.nan for rows in inside]
    return means, np.array(errors)

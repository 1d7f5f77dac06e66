"""Cells of similar samples: where to look for neighbours when there are too many samples to compare each with all.

Samples are projected onto the leading right singular vectors of the data, which keep most of what tells neighbours
from others, and the projections are divided into cells by k-means. A sample is compared, by its projection, with the
members of the few cells nearest to it; the best of these candidates are then compared in full. How many cells and how
many candidates that takes is read off a few samples whose neighbours were found exactly.

In memory are the projections, 64 numbers of float32 per sample, whatever the number of features; the data are read in
blocks of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from ..core.operand import Operand
from ..core.types import Array, IntArray
from .samples import blocks_of

# Dimensions of the projections.
DIMENSIONS = 64
# The projection is that of a sample: this many of the samples, some more dimensions than are kept, power iterations.
BASIS_ROWS, OVERSAMPLING, POWERS = 8192, 10, 3
# k-means of the projections of this many samples per cell, in this many passes.
CELL_ROWS, CELL_PASSES = 64, 8
# Everything that is drawn is drawn from this seed: the neighbours of data are the same in every fit.
SEED = 0
# Rows that are projected, or compared with cells, at a time.
PROJECTED_ROWS, COMPARED_ROWS = 2**13, 2**11


@dataclass(frozen=True)
class Cells:
    """The samples that may be neighbours, in cells.

    Attributes
    ----------
    basis : ndarray of shape (n_features, d)
        Orthonormal columns.
    unit : bool
        Whether projections are divided by their norms, as under the cosine metric.
    points : ndarray of shape (n_samples, d)
        The projections, in float32.
    half : ndarray of shape (n_samples,)
        Half of their squared norms.
    centres : ndarray of shape (n_cells, d)
    members : ndarray of int
        The samples, without those that are no sample's neighbours, cell by cell.
    starts : ndarray of shape (n_cells + 1,)
        Where each cell begins in `members`.
    """

    basis: Array
    unit: bool
    points: Array
    half: Array
    centres: Array
    members: IntArray
    starts: IntArray

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self.centres)

    def project(self, X: Operand, scales: Array) -> Array:
        """Projections of other samples."""
        return projections(X, scales, self.basis, self.unit)

    def distances(self, points: Array) -> Array:
        """How far some points are from every cell: half the squared distance, up to a constant of each point."""
        return _half_distances(points, self.centres)

    def cell_of(self, samples: IntArray) -> IntArray:
        """The cells of some members."""
        cell = np.zeros(len(self.points), np.intp)
        cell[self.members] = np.repeat(np.arange(self.n_cells), np.diff(self.starts))
        return cell[samples]

    def candidates(self, points: Array, n_probes: int, size: int, own: IntArray | None = None) -> IntArray:
        """The `size` nearest, by projections, among the members of the `n_probes` cells nearest to each point.

        Parameters
        ----------
        points : ndarray of shape (n_points, d)
        n_probes, size : int
        own : ndarray of shape (n_points,), optional
            The samples that the points are, which are not their own candidates.

        Returns
        -------
        candidates : ndarray of shape (n_points, size)
            From near to far; −1 where there are too few.
        """
        near = self._nearest_cells(points, n_probes)
        best = np.full((len(points), size), np.inf, np.float32)
        nearest = np.full((len(points), size), -1, np.intp)
        places = np.full(len(points), -1, np.intp) if own is None else self._places[own]
        # The nearest cell first: then few members of the others are near enough for the lists.
        for cells in (near[:, :1], near[:, 1:]):
            self._offer(points, cells, best, nearest, places)
        return np.where(nearest >= 0, self.members[nearest], -1)

    def _offer(self, points: Array, cells: IntArray, best: Array, nearest: IntArray, places: IntArray) -> None:
        """Offer the members of some cells to the lists of the points, which number members by their places.

        Points that are members are not offered themselves: their own places are given.
        """
        from ..kernels.neighbors import offer_columns

        order = np.argsort(cells, axis=None, kind="stable")
        looks = np.searchsorted(cells.ravel()[order], np.arange(self.n_cells + 1))
        for cell in np.flatnonzero(np.diff(looks) * np.diff(self.starts)):
            rows = order[looks[cell] : looks[cell + 1]] // cells.shape[1]
            inside = slice(self.starts[cell], self.starts[cell + 1])
            members = self.members[inside]
            products = points[rows] @ self.points[members].T
            lists = best[rows], nearest[rows]
            offer_columns(products, self.half[members], *lists, places[rows], inside.start, True, False)
            best[rows], nearest[rows] = lists

    @cached_property
    def _places(self) -> IntArray:
        """Where every sample is among the members; −1 if it is not."""
        places = np.full(len(self.points), -1, np.intp)
        places[self.members] = np.arange(len(self.members))
        return places

    def _nearest_cells(self, points: Array, n_probes: int) -> IntArray:
        """Of every point, the nearest first, the others in any order."""
        kth = np.unique([0, min(n_probes, self.n_cells) - 1])
        return np.argpartition(self.distances(points), kth, axis=1)[:, :n_probes]


def build_cells(
    X: Operand, scales: Array, alive: IntArray, unit: bool, n_cells: int, rng: np.random.RandomState
) -> Cells:
    """Project the samples and divide them into cells.

    Parameters
    ----------
    X : Operand
    scales : ndarray of shape (n_samples,)
        What the samples are divided by.
    alive : ndarray of int
        The samples that can be neighbours, in rising order.
    unit : bool
    n_cells : int
    rng : RandomState
    """
    rows = _draw(alive, BASIS_ROWS, rng)
    basis = leading_vectors(X.take(rows), scales[rows], DIMENSIONS, rng)
    points = projections(X, scales, basis, unit)
    centres = _centres(points[_draw(alive, CELL_ROWS * n_cells, rng)], n_cells, rng)
    cell = nearest_centres(points, centres, alive)
    members = alive[np.argsort(cell, kind="stable")]
    starts = np.concatenate([[0], np.cumsum(np.bincount(cell, minlength=n_cells))])
    half = np.einsum("ij,ij->i", points, points) / 2
    return Cells(basis, unit, points, half, centres, members, starts)


def projections(X: Operand, scales: Array, basis: Array, unit: bool) -> Array:
    """X over its scales, projected; in float32."""
    points = X.dot(basis)
    projected = np.empty(points.shape, np.float32)
    for part in blocks_of(len(points), PROJECTED_ROWS):
        rows = points[part] / scales[part, None]
        if unit:
            lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
            rows /= np.where(lengths > 0, lengths, 1.0)[:, None]
        projected[part] = rows
    return projected


def leading_vectors(sample: Operand, scales: Array, dimensions: int, rng: np.random.RandomState) -> Array:
    """Leading right singular vectors of samples over their scales, as many as these have dimensions or are wanted.

    By a randomised power iteration (Halko et al. 2011, Alg. 4.4).
    """
    inverse = 1.0 / scales[:, None]
    width = min(dimensions, *sample.shape)
    basis = rng.standard_normal((sample.shape[1], min(width + OVERSAMPLING, *sample.shape)))
    for _ in range(POWERS):
        basis, _ = np.linalg.qr(basis)
        products = sample.dot(basis.astype(sample.dtype)) * inverse
        basis = sample.t_dot((products * inverse).astype(sample.dtype)).astype(np.float64)
    # basis = AᵀA q for the orthonormal q before it: the leading left singular vectors span what AᵀA spans.
    leading, _, _ = np.linalg.svd(basis, full_matrices=False)
    return np.ascontiguousarray(leading[:, :width], sample.dtype)


def _centres(points: Array, n_cells: int, rng: np.random.RandomState) -> Array:
    """k-means; a cell that loses all points keeps its centre."""
    centres = points[rng.choice(len(points), n_cells, replace=False)]
    everyone = np.arange(len(points))
    for _ in range(CELL_PASSES):
        cell = nearest_centres(points, centres, everyone)
        counts = np.bincount(cell, minlength=n_cells)
        belongs = sp.csr_array((np.ones(len(points), points.dtype), (cell, everyone)), shape=(n_cells, len(points)))
        means = (belongs @ points) / np.maximum(counts, 1)[:, None].astype(points.dtype)
        centres = np.where(counts[:, None] > 0, means, centres)
    return centres


def nearest_centres(points: Array, centres: Array, rows: IntArray) -> IntArray:
    """The nearest centre of some of the points."""
    parts = blocks_of(len(rows), COMPARED_ROWS)
    return np.concatenate([_half_distances(points[rows[part]], centres).argmin(axis=1) for part in parts])


def _half_distances(points: Array, centres: Array) -> Array:
    """Half the squared distance of every point from every centre, up to a constant of each point."""
    distances: Array = np.einsum("ij,ij->i", centres, centres) / 2 - points @ centres.T
    return distances


def _draw(rows: IntArray, size: int, rng: np.random.RandomState) -> IntArray:
    """Some of the rows, in rising order; all if there are no more."""
    return rows if len(rows) <= size else np.sort(rng.choice(rows, size, replace=False))

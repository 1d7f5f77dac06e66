"""Exact nearest neighbours of dense and sparse samples, in blocks."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp

from ..core.types import Array, IntArray
from .samples import block_rows, blocks_of, read_new_samples, read_samples, row_norms

Metric = Literal["cosine", "euclidean"]

# Scores are of order one, with rounding errors of a few 1e-16 that differ between dense and sparse products
# and between blocks. Rounded to so many decimals, equal distances are equal, and the lower index wins.
SCORE_DECIMALS = 12


def nearest_neighbors(X: Any, n_neighbors: int, metric: Metric = "cosine", *, X_train: Any = None) -> Any:
    """Link every sample to its nearest samples.

    The search is exact and compares blocks of samples: besides its result it holds less than 100 MB, whatever
    the number of samples. A sample is never its own neighbour, though its duplicates may be. Among equally
    distant samples the one with the lower index wins; distances count as equal if their squares agree to
    about 1e-12 of the largest squared norm (for cosine: of one). All-zero samples have no direction: they get
    no links and are nobody's neighbours, under both metrics.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The samples to find neighbours for.
    n_neighbors : int
        Number of neighbours of each sample. More than there are other samples is clipped, with a warning.
    metric : {"cosine", "euclidean"}, default="cosine"
        The distance that decides who is near.
    X_train : {array-like, sparse matrix} of shape (n_train, n_features), default=None
        Where to look for the neighbours. By default among the other rows of `X`. Here too many neighbours are
        clipped to `n_train` without a warning: it came when the training samples were linked.

    Returns
    -------
    links : csr_array of shape (n_samples, n_samples) or (n_samples, n_train)
        1.0 at (i, j) if j is among the nearest of i. In general not symmetric.
    """
    if metric not in get_args(Metric):
        raise ValueError(f"metric={metric!r} was given; it must be 'cosine' or 'euclidean'.")
    within = X_train is None
    if within:
        X = X_train = read_samples(X)
    else:
        X, X_train = read_new_samples(X, X_train)
    p = _clip_neighbors(n_neighbors, X_train.shape[0], within)

    norms, train_norms = row_norms(X), row_norms(X_train)
    if metric == "cosine":
        scales, train_scales = np.where(norms > 0, norms, 1.0), np.where(train_norms > 0, train_norms, 1.0)
    else:
        largest = train_norms.max() or 1.0
        scales, train_scales = np.full_like(norms, largest), np.full_like(train_norms, largest)
    # ‖a − b‖² / 2 = ‖a‖² / 2 + (‖b‖² / 2 − ⟨a, b⟩), and only the bracket ranks the neighbours of a.
    half = np.where(train_norms > 0, (train_norms / train_scales) ** 2 / 2, np.inf)

    found = np.empty((X.shape[0], p), dtype=np.intp)
    for rows in blocks_of(X.shape[0], block_rows(X)):
        A = _scaled(X[rows], scales[rows])
        best = np.full((A.shape[0], p), np.inf)
        nearest = np.full((A.shape[0], p), -1)
        for cols in blocks_of(X_train.shape[0], block_rows(X_train)):
            scores = half[cols] - _product(A, _scaled(X_train[cols], train_scales[cols]))
            np.round(scores, SCORE_DECIMALS, out=scores)
            if within and rows == cols:
                np.fill_diagonal(scores, np.inf)
            best, nearest = _merge(best, nearest, scores, cols.start)
        found[rows] = nearest
    found[norms == 0] = -1

    kept = found >= 0
    indptr = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
    links = sp.csr_array((np.ones(indptr[-1]), found[kept], indptr), shape=(X.shape[0], X_train.shape[0]))
    links.sort_indices()
    return links


def _clip_neighbors(n_neighbors: int, n_train: int, within: bool) -> int:
    if not isinstance(n_neighbors, Integral) or n_neighbors < 1:
        raise ValueError(f"n_neighbors={n_neighbors!r} was given; it must be an integer of at least 1.")
    most = n_train - 1 if within else n_train
    if within and n_neighbors > most:
        warnings.warn(
            f"n_neighbors={n_neighbors} was given, but each of the {n_train} samples has only {most} others; "
            f"n_neighbors={most} is used. Give fewer neighbours or more samples.",
            UserWarning,
            stacklevel=3,
        )
    return min(int(n_neighbors), most)


def _scaled(block: Any, scales: Array) -> Any:
    """Rows divided by their scales, in float64."""
    if sp.issparse(block):
        return sp.diags_array(1.0 / scales) @ block
    return block / scales[:, None]


def _product(A: Any, B: Any) -> Array:
    """A Bᵀ as a dense array."""
    product = A @ B.T
    return product.toarray() if sp.issparse(product) else np.asarray(product)


def _merge(best: Array, nearest: IntArray, scores: Array, start: int) -> tuple[Array, IntArray]:
    """Let the scores of samples start, start + 1, … compete with the best scores so far, row by row."""
    n, p = best.shape
    width = scores.shape[1]
    # Only a strictly lower score wins a place: ties stay with the lower index, and infinity never wins.
    better = scores < best[:, -1:]
    if start == 0:
        # Everyone beats the empty list; sorting them all would cost as much as the products.
        last = min(p, width) - 1
        better &= scores <= np.partition(scores, last, axis=1)[:, last, None]
    rows, cols = np.divmod(np.flatnonzero(better), width)
    all_rows = np.concatenate([np.repeat(np.arange(n), p), rows])
    all_scores = np.concatenate([best.ravel(), scores[rows, cols]])
    all_indices = np.concatenate([nearest.ravel(), cols + start])
    order = np.lexsort((all_scores, all_rows))
    first = np.searchsorted(all_rows[order], np.arange(n))
    chosen = order[first[:, None] + np.arange(p)]
    return all_scores[chosen], all_indices[chosen]

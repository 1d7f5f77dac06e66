"""Nearest neighbours of dense and sparse samples."""

from __future__ import annotations

from importlib.util import find_spec
from numbers import Integral
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp

from ..core.memory import check_fits
from ..core.warn import warn
from .samples import read_new_samples, read_samples, row_norms
from .searches import Query, search_descent, search_index, search_products

Metric = Literal["cosine", "euclidean"]
Method = Literal["auto", "exact", "approximate"]
Search = Literal["products", "index", "descent"]

SEARCHES = {"products": search_products, "index": search_index, "descent": search_descent}
# Beyond this many dense samples an approximate search is much faster than an exact one.
EXACT_ROWS = 30_000
# A link takes an index during the search, then a weight and an index in a sparse matrix.
LINK_BYTES = 24


def nearest_neighbors(
    X: Any, n_neighbors: int, metric: Metric = "cosine", *, X_train: Any = None, method: Method = "auto"
) -> Any:
    """Link every sample to its nearest samples.

    The exact search compares dense samples in blocks, with less than 100 MB per thread besides its result however
    many there are, and sparse samples through an inverted index as large as the data. A sample is never its own
    neighbour, though its duplicates may be. Among equally distant samples the one with the lower index wins; distances
    count as equal if their squares agree to about 1e-12 of the largest squared norm (for cosine: of one). All-zero
    samples have no direction: under both metrics they get no links and are no sample's neighbours.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The samples to find neighbours for.
    n_neighbors : int
        Number of neighbours of each sample. It is clipped to the number of other samples, with a warning; if this
        machine's memory could not hold the links (24 bytes each), it is refused, whatever the number of samples.
    metric : {"cosine", "euclidean"}, default="cosine"
        The distance that defines neighbours.
    X_train : {array-like, sparse matrix} of shape (n_train, n_features), default=None
        Where to look for the neighbours, by default among the other rows of `X`. Here `n_neighbors` is clipped to
        `n_train` without a warning, which was given when the training samples were linked.
    method : {"auto", "exact", "approximate"}, default="auto"
        "auto" searches exactly, except among more than 30,000 dense samples if pynndescent is installed: then the
        search is approximate and misses a few links in a thousand. :func:`choose_search` says which it will be.

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
    p = clip_neighbors(n_neighbors, X.shape[0], X_train.shape[0], within)

    search = choose_search(X, method, within=within)

    norms = row_norms(X)
    train_norms = norms if within else row_norms(X_train)
    if metric == "cosine":
        scales, train_scales = np.where(norms > 0, norms, 1.0), np.where(train_norms > 0, train_norms, 1.0)
    else:
        largest = train_norms.max() or 1.0
        scales, train_scales = np.full_like(norms, largest), np.full_like(train_norms, largest)
    # ‖a − b‖² / 2 = ‖a‖² / 2 + (‖b‖² / 2 − ⟨a, b⟩), and only the bracket ranks the neighbours of a.
    half = np.where(train_norms > 0, (train_norms / train_scales) ** 2 / 2, np.inf)
    query = Query(X, X_train, p, norms, scales, train_scales, half, within)
    found = SEARCHES[search](query) if p else np.empty((X.shape[0], 0), np.intp)
    found[norms == 0] = -1

    kept = found >= 0
    indptr = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
    links = sp.csr_array((np.ones(indptr[-1]), found[kept], indptr), shape=(X.shape[0], X_train.shape[0]))
    links.sort_indices()
    return links


def choose_search(X: Any, method: Method = "auto", *, within: bool = True) -> Search:
    """How neighbours will be found.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
    method : {"auto", "exact", "approximate"}, default="auto"
        As for :func:`nearest_neighbors`.
    within : bool, default=True
        Whether to look for neighbours among the samples themselves. New samples are always linked exactly: the links
        of each must not depend on the others.

    Returns
    -------
    search : {"products", "index", "descent"}
        Exact by blocked products (dense data), exact by an inverted index (sparse data), or approximate by
        nearest-neighbour descent.
    """
    if method not in get_args(Method):
        raise ValueError(f"method={method!r} was given; it must be 'auto', 'exact' or 'approximate'.")
    if sp.issparse(X):
        if method == "approximate":
            raise ValueError(
                "method='approximate' was given with sparse data, for which it is slower and less accurate than the "
                "exact search. Use method='auto'."
            )
        return "index"
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if not within or method == "exact" or (method == "auto" and n <= EXACT_ROWS):
        return "products"
    if find_spec("pynndescent") is not None:
        return "descent"
    install = "pip install 'partwise[neighbors]'"
    if method == "approximate":
        raise ImportError(f"method='approximate' was given, which needs pynndescent: {install}. Or use method='exact'.")
    warn(
        f"The neighbours of {n} samples are searched exactly, which takes a long time. For a faster approximate "
        f"search: {install}. For the exact one without this message: method='exact'.",
    )
    return "products"


def clip_neighbors(n_neighbors: int, n_samples: int, n_train: int, within: bool) -> int:
    """At most as many neighbours as there are samples, with a warning; no more links than the memory holds."""
    if not isinstance(n_neighbors, Integral) or n_neighbors < 1:
        raise ValueError(f"n_neighbors={n_neighbors!r} was given; it must be an integer of at least 1.")
    most = n_train - 1 if within else n_train
    # The number as given, though it would be clipped: nobody means a number that no memory can hold. For new samples
    # it was checked and clipped in the fit.
    links = n_samples * (int(n_neighbors) if within else min(int(n_neighbors), most))
    check_fits(LINK_BYTES * links, f"n_neighbors={n_neighbors} for {n_samples} samples", "Choose fewer neighbours.")
    if within and n_neighbors > most:
        warn(
            f"n_neighbors={n_neighbors} was given, but each of the {n_train} samples has only {most} others; "
            f"n_neighbors={most} is used. Give fewer neighbours or more samples.",
        )
    return min(int(n_neighbors), most)

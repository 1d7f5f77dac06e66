"""Nearest neighbours of dense and sparse samples."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp

from ..core.memory import check_fits
from ..core.operand import Operand
from ..core.types import Array, IntArray
from ..core.warn import warn
from .approximate import Plan, make_plan, measured_recall, search_cells
from .pairs import HELD_BYTES, stored_row_bytes
from .samples import as_read, read_new_samples, read_operand, row_norms
from .searches import Query, search_index, search_products

Metric = Literal["cosine", "euclidean"]
Method = Literal["auto", "exact", "approximate"]
Search = Literal["products", "index", "cells"]

# Beyond this many dense samples an approximate search is much faster than an exact one; up to these, an exact search
# takes no longer than the tests of an approximate one.
EXACT_ROWS, LEAST_ROWS = 20_000, 2_000
# A link takes an index during the search, then a weight and an index in a sparse matrix.
LINK_BYTES = 24


@dataclass(frozen=True)
class Neighbors:
    """Links to the nearest samples, and how they were found.

    Attributes
    ----------
    links : csr_array of shape (n_samples, n_samples)
        1.0 at (i, j) if j is among the nearest of i. In general not symmetric.
    search : {"products", "index", "cells"}
        Exact by blocked products (dense data), exact by an inverted index (sparse data), or approximate by cells.
    recall : float
        1.0 if the search was exact. Otherwise the share of links that lead to one of the true nearest samples, measured
        on 256 samples whose neighbours were also found exactly.
    """

    links: Any
    search: Search
    recall: float


def find_neighbors(X: Any, n_neighbors: int, metric: Metric = "cosine", method: Method = "auto") -> Neighbors:
    """Link every sample to its nearest samples, and say how they were found.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or Operand
    n_neighbors, metric, method
        See :func:`nearest_neighbors`.

    Returns
    -------
    neighbors : Neighbors
    """
    _check_metric(metric)
    X = read_operand(X)
    p = clip_neighbors(n_neighbors, X.shape[0], X.shape[0], True)
    search = choose_search(X, method)
    if search != "cells" and not X.in_memory:
        X = X.take(np.arange(X.shape[0]))
    query = _query(X, X, p, metric, within=True)
    if search == "cells" and p and np.isfinite(query.half).any():
        plan = make_plan(query)
        if plan.reached or method == "approximate" or not X.in_memory:
            found = search_cells(query, plan)
            return Neighbors(_as_links(found, X.shape[0]), "cells", measured_recall(query, plan, found))
        search = "products"
    return Neighbors(_as_links(_exact(query), X.shape[0]), search, 1.0)


def nearest_neighbors(
    X: Any,
    n_neighbors: int,
    metric: Metric = "cosine",
    *,
    X_train: Any = None,
    method: Method = "auto",
    plan: Plan | None = None,
) -> Any:
    """Link every sample to its nearest samples.

    The exact search compares dense samples in blocks, with less than 100 MB per thread besides its result however
    many there are, and sparse samples through an inverted index as large as the data. A sample is never its own
    neighbour, though its duplicates may be. Among equally distant samples the one with the lower index wins; distances
    count as equal if their squares agree to about 1e-12 of the largest squared norm (for cosine: of one). All-zero
    samples have no direction: under both metrics they get no links and are no sample's neighbours.

    The approximate search projects the samples to 64 dimensions, divides them into cells, ranks the members of a few
    cells by their projections and the best of these exactly. How many cells and candidates it takes for 99 % of the
    neighbours is measured on 256 samples. It is the same for any number of threads.

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
        "auto" searches exactly, except among more than 20,000 dense samples: there the search is approximate if its
        test succeeds, and misses about one link in a hundred. Sparse data in memory are always searched exactly.
        :func:`choose_search` says which it will be, :func:`find_neighbors` which it was.
    plan : Plan, optional
        What :func:`plan_search` returned for `X_train`, so that an approximate search is prepared once for all new
        samples.

    Returns
    -------
    links : csr_array of shape (n_samples, n_samples) or (n_samples, n_train)
        1.0 at (i, j) if j is among the nearest of i. In general not symmetric.
    """
    if X_train is None:
        return find_neighbors(X, n_neighbors, metric, method).links
    _check_metric(metric)
    X, X_train = map(as_read, read_new_samples(X, X_train))
    p = clip_neighbors(n_neighbors, X.shape[0], X_train.shape[0], False)
    plan = plan or plan_search(X_train, n_neighbors, metric, method)
    query = _query(X, X_train, p, metric, within=False)
    return _as_links(_exact(query) if plan is None else search_cells(query, plan), X_train.shape[0])


def plan_search(X_train: Any, n_neighbors: int, metric: Metric = "cosine", method: Method = "auto") -> Plan | None:
    """Prepare the links from new samples to training samples.

    Parameters
    ----------
    X_train : {array-like, sparse matrix} of shape (n_train, n_features)
    n_neighbors, metric, method
        See :func:`nearest_neighbors`.

    Returns
    -------
    plan : Plan or None
        What an approximate search needs to know; None if the search is exact. It depends on the training samples
        alone, so that the links of a new sample do not depend on the others.
    """
    X = read_operand(X_train, "X_train")
    if choose_search(X, method) != "cells":
        return None
    query = _query(X, X, max(1, min(int(n_neighbors), X.shape[0] - 1)), metric, within=True)
    if not np.isfinite(query.half).any():
        return None
    plan = make_plan(query)
    return plan if plan.reached or method == "approximate" or not X.in_memory else None


def choose_search(X: Any, method: Method = "auto") -> Search:
    """How neighbours among samples will be found.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The samples among which neighbours are looked for.
    method : {"auto", "exact", "approximate"}, default="auto"
        As for :func:`nearest_neighbors`.

    Returns
    -------
    search : {"products", "index", "cells"}
        Exact by blocked products (dense data), exact by an inverted index (sparse data), or approximate by cells. With
        "auto" it may still be exact, if a test on some samples shows that cells would miss too much.
    """
    if method not in get_args(Method):
        raise ValueError(f"method={method!r} was given; it must be 'auto', 'exact' or 'approximate'.")
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if isinstance(X, Operand):
        if not X.in_memory:
            return _choose_for_stored(X, method)
        X = X.array
    if sp.issparse(X):
        if method == "approximate":
            raise ValueError(
                "method='approximate' was given with sparse data, for which it is slower and less accurate than the "
                "exact search. Use method='auto'."
            )
        return "index"
    return "products" if method == "exact" or n <= (EXACT_ROWS if method == "auto" else LEAST_ROWS) else "cells"


def _choose_for_stored(X: Operand, method: Method) -> Search:
    """Data that are not in memory are searched exactly if they are small, so that they can be read whole."""
    fits = stored_row_bytes(X) * X.shape[0] <= HELD_BYTES
    if method == "exact" and not fits:
        raise ValueError(
            "method='exact' was given for data that are not in memory: the exact search needs all of them. Use "
            "method='auto', or read them into memory first if they fit."
        )
    if fits and (method == "exact" or X.shape[0] <= EXACT_ROWS):
        return "index" if X.is_sparse else "products"
    return "cells"


def _check_metric(metric: str) -> None:
    if metric not in get_args(Metric):
        raise ValueError(f"metric={metric!r} was given; it must be 'cosine' or 'euclidean'.")


def _query(X: Operand, X_train: Operand, p: int, metric: Metric, within: bool) -> Query:
    """What to look for, in the units of the metric."""
    norms = _norms(X)
    train_norms = norms if within else _norms(X_train)
    if metric == "cosine":
        scales, train_scales = np.where(norms > 0, norms, 1.0), np.where(train_norms > 0, train_norms, 1.0)
    else:
        largest = train_norms.max() or 1.0
        scales, train_scales = np.full_like(norms, largest), np.full_like(train_norms, largest)
    # ‖a − b‖² / 2 = ‖a‖² / 2 + (‖b‖² / 2 − ⟨a, b⟩), and only the bracket ranks the neighbours of a.
    half = np.where(train_norms > 0, (train_norms / train_scales) ** 2 / 2, np.inf)
    return Query(X, X_train, p, norms, scales, train_scales, half, metric == "cosine", within)


def _norms(X: Operand) -> Array:
    return row_norms(X.array) if X.in_memory else np.sqrt(X.row_squared_norms())


def _exact(query: Query) -> IntArray:
    """The p nearest of every row; −1 where there are too few."""
    if not query.p:
        return np.empty((query.X.shape[0], 0), np.intp)
    found = (search_index if sp.issparse(query.X_train.array) else search_products)(query)
    found[query.norms == 0] = -1
    return found


def _as_links(found: IntArray, n_train: int) -> Any:
    kept = found >= 0
    indptr = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
    links = sp.csr_array((np.ones(indptr[-1]), found[kept], indptr), shape=(len(found), n_train))
    links.sort_indices()
    return links


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

"""A graph of all samples, for fits to a part of them."""

from __future__ import annotations

from collections import defaultdict
from hashlib import blake2b
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.door import read_data
from ..core.types import Array, IntArray
from .given import check_graph

KEY_BYTES = 16


class SampleGraph:
    """Edge weights of all samples, as a function that gives the graph of whichever samples are fitted.

    A fold of a cross-validation holds some of the samples, and a matrix of edge weights does not say which of its rows
    are theirs. This function of X recognises every sample by its values. Give it as the `graph` of an estimator
    passed to ``GridSearchCV``, ``cross_val_score`` or a bootstrap. New samples are linked to their nearest
    training samples, as with any graph.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        All samples, as the estimator will see them: in a pipeline, after the steps before it. Equal samples are given
        their rows in order. X itself is not kept.
    graph : {array-like, sparse matrix} of shape (n_samples, n_samples)
        Their edge weights, see :func:`check_graph`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.neighbors import kneighbors_graph
    >>> from partwise import GraphNMF
    >>> from partwise.graphs import SampleGraph
    >>> X, _ = load_digits(n_class=3, return_X_y=True)
    >>> links = kneighbors_graph(X, 7)
    >>> graph = SampleGraph(X, links.maximum(links.T))
    >>> search = GridSearchCV(GraphNMF(3, graph=graph, random_state=0), {"graph_strength": [1, 10]}, cv=3).fit(X)
    >>> sorted(search.best_params_)
    ['graph_strength']
    """

    def __init__(self, X: Any, graph: Any):
        self._keys = _row_keys(X)
        self._edges = check_graph(graph, len(self._keys))

    def __call__(self, X: Any) -> Any:
        """The edge weights between the rows of X, which are some of the samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features)

        Returns
        -------
        graph : csr_array of shape (n_rows, n_rows)
        """
        rows = self._find(_row_keys(X))
        return self._edges[rows][:, rows]

    def _find(self, keys: Array) -> IntArray:
        places: defaultdict[bytes, list[int]] = defaultdict(list)
        for row, key in enumerate(self._keys):
            places[key.tobytes()].append(row)
        met: defaultdict[bytes, int] = defaultdict(int)
        rows = np.full(len(keys), -1, np.intp)
        for i, key in enumerate(key.tobytes() for key in keys):
            if key in places:
                rows[i] = places[key][met[key] % len(places[key])]
                met[key] += 1
        unknown = int((rows < 0).sum())
        if unknown:
            raise ValueError(
                f"{unknown} of {len(rows)} samples are not among the {len(self._keys)} whose graph SampleGraph holds. "
                "Give SampleGraph(X, graph) the samples as the estimator gets them, after the steps of a pipeline that "
                "come before it."
            )
        return rows

    def __deepcopy__(self, memo: Any) -> SampleGraph:
        # Every clone of an estimator copies its parameters; this one never changes.
        return self

    def __repr__(self) -> str:
        return f"SampleGraph({len(self._keys)} samples, {self._edges.nnz // 2} edges)"


def _row_keys(X: Any) -> Array:
    """A hash of every sample, the same for dense and sparse data and for all types that hold its values."""
    X = read_data(X, allow_nan=True)
    keys = np.empty((X.shape[0], KEY_BYTES), np.uint8)
    for i in range(X.shape[0]):
        if sp.issparse(X):
            at = slice(X.indptr[i], X.indptr[i + 1])
            columns, values = X.indices[at][X.data[at] != 0], X.data[at][X.data[at] != 0]
        else:
            columns = np.flatnonzero(X[i])
            values = X[i, columns]
        contents = columns.astype(np.int64).tobytes() + values.astype(np.float64).tobytes()
        keys[i] = np.frombuffer(blake2b(contents, digest_size=KEY_BYTES).digest(), np.uint8)
    return keys

"""Normalised cuts."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from ..core.operand import Operand
from ..core.types import Array
from ..graphs import warn_if_scattered
from ..solvers.cuts import cut_vectors
from ..terms import NeighborGraph
from ..terms.graph import BoundNeighborGraph
from .base import closed
from .graph_nmf import GraphNMF
from .options import EdgeWeights, Metric, NeighborsMethod
from .spectral import BaseSpectralClustering
from .units import Units, no_functions

GRAPH_PARAMETERS = ("n_neighbors", "metric", "edge_weights", "bandwidth", "graph", "neighbors_method")


class NormalizedCut(BaseSpectralClustering):
    r"""Spectral clustering by normalised cuts of the graph of neighbours (NC).

    Minimises, over matrices W (n × k) with Wᵀ diag(d) W = I and entries of either sign,

        Σ_{i<j} e_ij ‖w_i − w_j‖²,   d = E 1

    (Shi & Malik, "Normalized cuts and image segmentation", PAMI 2000, Eq. 10-11), the relaxation of the cut that leaves
    the clusters most of their own edges. E is the graph of :class:`GraphNMF`, or one of your own. K-means on
    the embedding gives the clusters. There is no `transform`: the embedding is of these samples alone.

    Parameters
    ----------
    n_components : int, default=8
        Number of eigenvectors and of clusters, k.
    n_neighbors, metric, edge_weights, bandwidth, graph, neighbors_method
        As for :class:`GraphNMF`.
    random_state : int, RandomState or None, default=None
        Of k-means; the embedding does not depend on it.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Rows of the eigenvectors, as scikit-learn's `spectral_embedding` gives them; zero for samples without
        neighbours, and for those in small pieces of a graph of more than k pieces.
    labels_ : ndarray of int, shape (n_samples,)
        Clusters, by the best of 20 runs of k-means on first access.
    n_components_ : int
    n_features_in_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from partwise import NormalizedCut
    >>> from partwise.metrics import clustering_accuracy
    >>> X, y = load_digits(return_X_y=True)
    >>> model = NormalizedCut(10, random_state=0).fit(X)
    >>> clustering_accuracy(y, model.labels_) > 0.7
    True
    """

    _paper = "Shi & Malik 2000"
    _cost = "once: neighbours, and k eigenvectors of a sparse n × n matrix"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{name: closed(GraphNMF._parameter_constraints[name]) for name in GRAPH_PARAMETERS},
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: int = 8,
        *,
        n_neighbors: int = 5,
        metric: Metric = "cosine",
        edge_weights: EdgeWeights = "binary",
        bandwidth: float | None = None,
        graph: Any = None,
        neighbors_method: NeighborsMethod = "auto",
        random_state: Any = None,
    ):
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.edge_weights = edge_weights
        self.bandwidth = bandwidth
        self.graph = graph
        self.neighbors_method = neighbors_method
        self.random_state = random_state

    def _units(self) -> Units:
        no_functions(self, "graph")
        return Units(codes=0, parameters={"bandwidth": 2})

    def _embed(self, X: Operand) -> Array:
        term = NeighborGraph(1.0, **{name: getattr(self, name) for name in GRAPH_PARAMETERS})
        bound = term.bind(X)
        assert isinstance(bound, BoundNeighborGraph)  # what such a term binds to
        edges = bound.edges
        warn_if_scattered(edges, self.n_components)
        embedding = np.zeros((X.shape[0], self.n_components))
        linked = np.flatnonzero(np.diff(edges.indptr))
        k = min(self.n_components, len(linked))
        if k > 0:
            # A sample without edges would be an eigenvector of its own.
            embedding[linked, :k] = cut_vectors(edges[linked][:, linked], k)
        return embedding

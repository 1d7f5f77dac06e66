"""Smoothness over a graph of neighbours: strength · Σ_edges e_ij ‖w_i − w_j‖²."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..core.forms import Coupling, Quadratic
from ..core.operand import Operand
from ..core.rows import Cliques, Diagonal, Links, RowMatrix
from ..core.state import State
from ..core.term import BoundTerm, Term, Uncodable
from ..core.types import Array, IntArray
from ..graphs import (
    check_graph,
    choose_search,
    edit_by_labels,
    heat_bandwidth,
    neighbor_graph,
    new_sample_links,
    warn_if_distances,
    warn_if_scattered,
    weigh_links,
)
from ..graphs.neighbors import Method, Search
from .gauge import Gauged
from .new_codes import BoundNewCodes
from .penalties import check_strength
from .smoothness import BoundSmoothness

GraphOrigin = Search | Literal["given"]
# How new samples are linked: n_neighbors, metric, edge_weights, bandwidth.
Linking = tuple[int, Any, Any, float | None]

NO_NEIGHBORS = (
    "New samples cannot be coded: they are linked to their nearest training samples, and neighbours cannot be found in "
    "data with missing entries. Use embedding_, or fit with the new samples among the others."
)


@dataclass(frozen=True, eq=False)
class NeighborGraph(Term):
    """strength · tr(Wᵀ (D − E) W) = strength · Σ_{i<j} e_ij ‖w_i − w_j‖², E the edge weights, D their row sums.

    Parameters
    ----------
    strength : float
    n_neighbors, metric, edge_weights, bandwidth
        Of the nearest-neighbour graph, see :func:`partwise.graphs.neighbor_graph`.
    graph : sparse matrix of shape (n_samples, n_samples) or callable, optional
        Symmetric non-negative edge weights to use instead, larger for samples that are closer (no distances), or a
        function that makes them from X. New samples are still linked to their nearest training samples, as the other
        parameters say.
    use_labels : bool, default=False
        Join all samples of one class and cut all edges between classes; y = −1 leaves a sample's edges as they are.
    neighbors_method : {"auto", "exact", "approximate"}, default="auto"
        How neighbours are found, see :func:`partwise.graphs.nearest_neighbors`. New samples are linked exactly.
    """

    strength_name = "graph_strength"

    strength: float
    n_neighbors: int = 5
    metric: Any = "cosine"
    edge_weights: Any = "binary"
    bandwidth: float | None = None
    graph: Any = None
    use_labels: bool = False
    neighbors_method: Any = "auto"

    def bind(
        self, X: Operand, y: Array | None = None, rng: Any = None, sample_weight: Array | None = None
    ) -> BoundTerm:
        """Build or check the graph."""
        strength = check_strength("The strength of NeighborGraph", self.strength)
        search, edges, bandwidth = self._edges(X)
        groups = None
        if self.use_labels and y is not None and (y >= 0).any():
            edges, groups = edit_by_labels(edges, y)
        linking = (self.n_neighbors, self.metric, self.edge_weights, bandwidth)
        return BoundNeighborGraph(edges, groups, strength, X, linking, search)

    def _edges(self, X: Operand) -> tuple[GraphOrigin, Any, float | None]:
        """Where the graph comes from, its edge weights, and the bandwidth that new samples will need."""
        search: GraphOrigin = "given"
        if self.graph is None:
            if X.missing is not None:
                raise ValueError("Neighbours cannot be found in data with missing entries; give a graph of your own.")
            search = choose_search(X.array, self.neighbors_method)
            method: Method = "approximate" if search == "descent" else "exact"
            links = neighbor_graph(X.array, self.n_neighbors, self.metric, method=method)
        else:
            links = check_graph(self.graph(X.array) if callable(self.graph) else self.graph, X.shape[0])
        bandwidth = self.bandwidth
        if self.edge_weights == "heat" and bandwidth is None:
            bandwidth = heat_bandwidth(X.array, links)
        if self.graph is None:
            links = weigh_links(links, X.array, edge_weights=self.edge_weights, bandwidth=bandwidth)
        return search, links, bandwidth


class BoundNeighborGraph(BoundSmoothness):
    """The graph's Laplacian, and the cliques of the classes if labels are used.

    Attributes
    ----------
    edges : csr_array
        Edge weights, without those of the cliques.
    search : {"products", "index", "descent", "given"}
        How the neighbours were found, see :func:`partwise.graphs.choose_search`.
    """

    def __init__(
        self,
        edges: Any,
        groups: IntArray | None,
        strength: float,
        X: Operand,
        linking: Linking,
        search: GraphOrigin,
    ):
        matrices: list[RowMatrix] = [] if groups is None else [Cliques(groups, strength, X.dtype)]
        super().__init__("graph", [*matrices, Links.laplacian(edges, strength, X.dtype)])
        self.edges = edges
        self._groups = groups
        self._strength = strength
        self._X = X
        self._linking = linking
        self.search = search

    def with_strength(self, strength: float) -> BoundNeighborGraph:
        """The same graph."""
        return BoundNeighborGraph(self.edges, self._groups, strength, self._X, self._linking, self.search)

    def consider(self, n_components: int) -> None:
        """Warn if the graph falls into more pieces than there are components, or if a given one holds distances."""
        if self.search == "given" and self._X.missing is None:
            warn_if_distances(self.edges, self._X.array)
        warn_if_scattered(self.edges, n_components, groups=self._groups)

    def for_new(self, state: State) -> Term:
        """New samples are drawn to the codes of their nearest training samples."""
        if self._X.missing is not None:
            return Uncodable(NO_NEIGHBORS)
        return LinkedCodes(self._strength, *self._linking, self._X.kept.array, state.W)


def graph_origin(terms: Iterable[BoundTerm]) -> GraphOrigin | Literal["none"]:
    """Where the graph among the terms comes from, gauged or not."""
    penalties = (term.penalty if isinstance(term, Gauged) else term for term in terms)
    return next((term.search for term in penalties if isinstance(term, BoundNeighborGraph)), "none")


@dataclass(frozen=True, eq=False)
class LinkedCodes(Term):
    """strength · Σ_i Σ_t e_it ‖w_i − w_t‖² for new samples i and the training samples t, whose codes w_t are fixed.

    Parameters
    ----------
    strength : float
    n_neighbors, metric, edge_weights, bandwidth
        Of the links from new to training samples, see :func:`partwise.graphs.new_sample_links`.
    samples : array or sparse matrix of shape (n_samples, n_features)
        The training samples.
    codes : ndarray of shape (n_samples, n_components)
        Their codes.
    """

    strength: float
    n_neighbors: int
    metric: Any
    edge_weights: Any
    bandwidth: float | None
    samples: Any
    codes: Array

    def bind(
        self, X: Operand, y: Array | None = None, rng: Any = None, sample_weight: Array | None = None
    ) -> BoundTerm:
        """Link the new samples: Σ_i d_i ‖w_i‖² − 2⟨w_i, Σ_t e_it w_t⟩ + Σ_it e_it ‖w_t‖²."""
        if X.missing is not None:
            raise ValueError(NO_NEIGHBORS)
        linking = (self.n_neighbors, self.metric, self.edge_weights, self.bandwidth)
        links = self.strength * new_sample_links(X.array, self.samples, *linking)
        codes = self.codes.astype(X.dtype, copy=False)
        degrees = np.asarray(links.sum(axis=1)).ravel().astype(codes.dtype)
        pull = Coupling(np.ones(codes.shape[1], codes.dtype), Diagonal(degrees))
        form = Quadratic(attract=np.asarray(links @ codes, codes.dtype), couplings=(pull,))
        squares = np.einsum("ij,ij->i", codes, codes, dtype=np.float64)
        return BoundNewCodes(self, "graph", lambda state: form, float(links.sum(axis=0) @ squares))

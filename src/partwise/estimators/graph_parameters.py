"""The graph of neighbours as parameters, and the terms built from them."""

from collections.abc import Sequence
from typing import cast

from ..core import BoundTerm, State, Term
from ..terms import NeighborGraph
from ..terms.graph import graph_origin
from .attaching import Attaching
from .options import (
    Count,
    EdgeWeights,
    MatrixFunctionOrName,
    Metric,
    NeighborsMethod,
    NeighborsOrAuto,
    NonNegative,
    Positive,
    StrengthOrAuto,
)
from .parameters import Parametrised


class GraphParameters(Parametrised):
    """Which samples are neighbours, and how much each pair counts.

    Parameters
    ----------
    n_neighbors : int, "auto" or sequence of int
        Neighbours of each sample in the graph. "auto" chooses among 3, 5, 10 and 20.
    metric : {"cosine", "euclidean"}
        Distance that defines neighbours.
    edge_weights : {"binary", "heat", "cosine"}
        Weight of an edge: 1, exp(−‖x_i − x_j‖² / bandwidth), or the cosine of the two samples.
    bandwidth : float
        Of the heat kernel; by default the mean squared distance of neighbours.
    graph : sparse matrix of shape (n_samples, n_samples), callable or str
        Symmetric non-negative edge weights to use instead, larger for samples that are closer (not distances), or a
        function that computes them from X, or their name in ``obsp`` of an AnnData, such as "connectivities". In a grid
        search or cross-validation, which fit parts of X, give the name, or :class:`partwise.graphs.SampleGraph`. New
        samples are always linked to their nearest training samples.
    use_labels : bool
        Let `y` edit the graph: samples of one class are linked, samples of different classes are not; −1 marks samples
        of unknown class. A fit then needs `y`.
    neighbors_method : {"auto", "exact", "approximate"}
        How neighbours are found: "auto" is exact, except approximate among more than 20,000 dense samples, of whose
        neighbours about one in a hundred is missed. `graph_recall_` says how many were found.
    """

    n_neighbors: NeighborsOrAuto = 5
    metric: Metric = "cosine"
    edge_weights: EdgeWeights = "binary"
    bandwidth: Positive | None = None
    graph: MatrixFunctionOrName = None
    use_labels: bool = False
    neighbors_method: NeighborsMethod = "auto"

    def _neighbor_graph(self, strength: float) -> NeighborGraph:
        return NeighborGraph(
            strength,
            cast(int, self.n_neighbors),
            self.metric,
            self.edge_weights,
            self._edge_bandwidth,
            self.graph,
            self.use_labels,
            self.neighbors_method,
        )

    @property
    def _edge_bandwidth(self) -> float | None:
        return self.bandwidth


class GraphOnCodes(Attaching, GraphParameters):
    """graph_strength · Σ_{i<j} e_ij ‖w_i − w_j‖² as a term of a factorisation.

    Parameters
    ----------
    graph_strength : float, "auto" or sequence of float
        How much neighbours count, λ in the paper. "auto" chooses it without labels.

    Attributes
    ----------
    graph_method_ : {"products", "index", "cells", "shared", "given", "none"}
        Where the graph comes from: neighbours found exactly by products (dense data) or by an inverted index (sparse
        data), approximately by cells of similar samples, or by the features known in both samples (missing entries);
        given by the user; or none, at strength 0.
    graph_recall_ : float
        The share of the nearest samples that the search found: 1.0 unless it was approximate, and then measured on 256
        samples whose neighbours were also found exactly.
    """

    graph_strength: StrengthOrAuto = "auto"

    def _graph_terms(self) -> list[Term]:
        return [self._neighbor_graph(cast(float, self.graph_strength))]

    def _uses_labels(self) -> bool:
        return bool(self.use_labels)

    def _keep(self, terms: Sequence[BoundTerm], state: State) -> None:
        super()._keep(terms, state)  # type: ignore[misc]  # of the factorisation
        origin = graph_origin(terms)
        self.graph_method_, self.graph_recall_ = origin.search, origin.recall


class _EdgeBandwidth(Parametrised):
    """A second bandwidth.

    Parameters
    ----------
    edge_bandwidth : float
        Of the heat kernel; by default the mean squared distance of neighbours.
    """

    edge_bandwidth: Positive | None = None


class GraphBesideKernel(GraphOnCodes, _EdgeBandwidth):
    """The same for methods with a kernel, whose bandwidth is distinct from that of the edges.

    No parameter of the graph is chosen here.

    Parameters
    ----------
    graph_strength : float
        How much neighbours count, λ in the paper.
    n_neighbors : int
        Neighbours of each sample in the graph.
    metric : {"cosine", "euclidean"}
        Distance that defines neighbours. Samples are compared as given, whatever the kernel; with "precomputed" these
        are the rows of the kernel.
    edge_weights : {"binary", "heat", "cosine"}
        Weight of an edge: 1, exp(−‖x_i − x_j‖² / edge_bandwidth), or the cosine of the two samples.
    bandwidth : float
        Of the rbf kernel between samples; by default the mean squared distance between samples.
    """

    graph_strength: NonNegative = 10.0
    n_neighbors: Count = 5

    @property
    def _edge_bandwidth(self) -> float | None:
        return self.edge_bandwidth

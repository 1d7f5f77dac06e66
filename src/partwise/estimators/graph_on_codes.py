"""What estimators share that have a graph of neighbours on the codes beside a kernel."""

from __future__ import annotations

from typing import Any, ClassVar

from ..core.term import Term
from ..terms import NeighborGraph
from .base import closed
from .graph_nmf import GraphNMF
from .options import EdgeWeights, Metric, NeighborsMethod

# The bandwidth of a heat kernel on edges must not be taken for that of the kernel between samples.
_NAMES = {
    name: name for name in ("graph_strength", "n_neighbors", "metric", "edge_weights", "graph", "neighbors_method")
} | {"edge_bandwidth": "bandwidth"}


class GraphOnCodes:
    """graph_strength · Σ_{i<j} e_ij ‖w_i − w_j‖² as a term, from the parameters that :class:`GraphNMF` has too."""

    # Nothing of the graph is chosen here.
    _graph_constraints: ClassVar[dict[str, list[Any]]] = {
        name: closed(GraphNMF._parameter_constraints[theirs]) for name, theirs in _NAMES.items()
    }

    graph_strength: float
    n_neighbors: int
    metric: Metric
    edge_weights: EdgeWeights
    edge_bandwidth: float | None
    graph: Any
    neighbors_method: NeighborsMethod

    def _terms(self) -> list[Term]:
        if self.graph_strength == 0:
            return []
        linking = (self.n_neighbors, self.metric, self.edge_weights, self.edge_bandwidth, self.graph)
        return [NeighborGraph(self.graph_strength, *linking, neighbors_method=self.neighbors_method)]

    graph_method_ = GraphNMF.graph_method_

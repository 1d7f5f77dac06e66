"""Semi-NMF with a graph, as a class with declared parameters."""

from partwise import SemiNMF
from partwise.estimators.graph_parameters import GraphOnCodes
from partwise.estimators.options import NonNegative


class GraphSemiNMF(GraphOnCodes, SemiNMF):
    """Data of either sign, and neighbours with similar codes."""

    graph_strength: NonNegative = 10.0

    def _terms(self):
        return [*super()._terms(), *self._graph_terms()]


model = GraphSemiNMF(10)

"""Semi-NMF with a graph, as a class with a constructor, and as few parameters as will do."""

from partwise import SemiNMF
from partwise.terms import NeighborGraph


class GraphSemiNMF(SemiNMF):
    """Data of either sign, and neighbours with similar codes."""

    def __init__(self, n_components=8, *, graph_strength=10.0, init="auto", max_iter=500, tol=1e-4, random_state=None):
        super().__init__(n_components, init=init, max_iter=max_iter, tol=tol, random_state=random_state)
        self.graph_strength = graph_strength

    def _terms(self):
        return [*super()._terms(), NeighborGraph(self.graph_strength)]


model = GraphSemiNMF(10)

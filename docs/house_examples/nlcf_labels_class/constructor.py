"""NLCF with a graph that labels edit, as a class with a constructor."""

from numbers import Integral, Real

from sklearn.utils._param_validation import Interval, StrOptions

from partwise.estimators.base import BaseFactorization
from partwise.estimators.labelled import LabelledFactorization
from partwise.terms import Frobenius, LocalCoordinates, NeighborGraph


class LabelledCoordinates(LabelledFactorization):
    """Components close to the samples that use them, and classes that have codes of their own."""

    _parameter_constraints = {  # noqa: RUF012
        **BaseFactorization._parameter_constraints,
        "coordinate_strength": [Interval(Real, 0, None, closed="left")],
        "graph_strength": [Interval(Real, 0, None, closed="left")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "metric": [StrOptions({"cosine", "euclidean"})],
        "edge_weights": [StrOptions({"binary", "heat", "cosine"})],
        "bandwidth": [Interval(Real, 0, None, closed="neither"), None],
        "graph": ["array-like", "sparse matrix", callable, None],
        "use_labels": ["boolean"],
        "neighbors_method": [StrOptions({"auto", "exact", "approximate"})],
    }

    def __init__(
        self,
        n_components=8,
        *,
        coordinate_strength=0.1,
        graph_strength=10.0,
        n_neighbors=5,
        metric="cosine",
        edge_weights="binary",
        bandwidth=None,
        graph=None,
        use_labels=True,
        neighbors_method="auto",
        scale="auto",
        solver="auto",
        init="auto",
        max_iter=500,
        tol=1e-6,
        n_init=1,
        warm_start=False,
        assign="kmeans",
        random_state=None,
        verbose=0,
        callbacks=None,
    ):
        self.n_components = n_components
        self.coordinate_strength = coordinate_strength
        self.graph_strength = graph_strength
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.edge_weights = edge_weights
        self.bandwidth = bandwidth
        self.graph = graph
        self.use_labels = use_labels
        self.neighbors_method = neighbors_method
        self.scale = scale
        self.solver = solver
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.warm_start = warm_start
        self.assign = assign
        self.random_state = random_state
        self.verbose = verbose
        self.callbacks = callbacks

    def _terms(self):
        graph = NeighborGraph(
            self.graph_strength,
            self.n_neighbors,
            self.metric,
            self.edge_weights,
            self.bandwidth,
            self.graph,
            self.use_labels,
            self.neighbors_method,
        )
        return [Frobenius(), LocalCoordinates(self.coordinate_strength), graph]

    def _uses_labels(self):
        return bool(self.use_labels)


model = LabelledCoordinates(10)

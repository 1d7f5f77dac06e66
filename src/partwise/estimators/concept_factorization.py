"""Concept factorisation, plain and locally consistent."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.utils._param_validation import StrOptions

from ..core.dual import KernelMatrix
from ..core.term import BoundTerm, Term
from ..core.types import Factor
from ..terms.dual import DualFit
from .dual import BaseDualFactorization
from .graph_on_codes import GraphOnCodes
from .options import Assign, AutoScale, ClusterInit, DualSolver, EdgeWeights, Kernel, Metric, NeighborsMethod
from .scale import apply_scale
from .units import Units, no_functions


class ConceptFactorization(GraphOnCodes, BaseDualFactorization):
    r"""Concept factorisation in which neighbours have similar codes (LCCF; CF without a graph).

    Minimises, over codes W ≥ 0 and coefficients P ≥ 0 (both n × k), with H = Pᵀ X,

        ‖X − W Pᵀ X‖² + graph_strength · Σ_{i<j} e_ij ‖w_i − w_j‖²

    (Cai, He & Han, "Locally consistent concept factorization for document clustering", 2011, with W = V, P = W; at
    graph_strength 0 Xu & Gong, "Document clustering by concept factorization", 2004.) It is to :class:`GraphNMF` what
    :class:`ConvexNMF` is to :class:`NMF`: concepts are sums of samples, data may have either sign, and samples can be
    seen through any kernel. Neither the kernel K = X Xᵀ nor anything else of size n × n is formed.

    Scale is part of the model: as printed, the objective can be lowered by shrinking W and stretching P until the graph
    has no say. By default the penalty is measured where every concept has unit norm, p_jᵀ K p_j = 1, which is the norm
    that the paper gives to its results.

    Parameters
    ----------
    n_components : int, default=8
        Number of concepts, k.
    graph_strength : float, default=10.0
        How much neighbours count, λ in the paper; 0 is concept factorisation. It has no unit.
    n_neighbors : int, default=5
        Neighbours of each sample in the graph.
    metric : {"cosine", "euclidean"}, default="cosine"
        Distance that decides who is near. Samples are compared as they come, whatever the kernel; with "precomputed"
        these are the rows of the kernel.
    edge_weights : {"binary", "heat", "cosine"}, default="binary"
        Weight of an edge: 1, exp(−‖x_i − x_j‖² / edge_bandwidth), or the cosine of the two samples.
    edge_bandwidth : float, default=None
        Of the heat kernel; by default the mean squared distance of neighbours.
    graph : sparse matrix of shape (n_samples, n_samples) or callable, default=None
        Symmetric non-negative edge weights to use instead, larger for samples that are closer (no distances), or a
        function that makes them from X. In a grid search or cross-validation, which fit to parts of X, give
        :class:`partwise.graphs.SampleGraph`. New samples are linked to their nearest training samples in any case.
    neighbors_method : {"auto", "exact", "approximate"}, default="auto"
        As for :class:`GraphNMF`.
    kernel, bandwidth, n_landmarks
        How samples are seen, as for :class:`ConvexNMF`.
    scale : {"auto", None}, default="auto"
        "auto" measures the penalty where concepts have unit norm; None is the paper's free scale.
    solver : {"auto", "projected", "multiplicative"}, default="auto"
        "projected", the default, takes codes by coordinate descent and coefficients by accelerated projected gradient.
        "multiplicative" makes, with ``scale=None``, the paper's steps. Neither raises the objective.
    init : {"auto", "kmeans", "random"} or (W, P), default="auto"
        "auto" is "kmeans".
    max_iter, tol, n_init, warm_start, assign, random_state, verbose, callbacks
        As for :class:`NMF`.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        H = Pᵀ X at unit norm; only with the kernels "linear" and "cosine" (there of samples at unit norm).
    dual_components_ : ndarray of shape (n_components, n_samples)
        Pᵀ: how much of every sample is in every concept.
    graph_method_ : {"products", "index", "descent", "given", "none"}
        Where the graph comes from, as for :class:`GraphNMF`.
    embedding_, labels_, objective_, history_, n_iter_, solver_, stop_reason_, n_features_in_
        As for :class:`NMF`.

    Notes
    -----
    A sweep costs two products with X for the codes and two per step on the coefficients, at most ten steps, and a few
    passes over the edges. X may be dense or sparse, with entries of either sign.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.preprocessing import normalize
    >>> from partwise import ConceptFactorization
    >>> from partwise.metrics import clustering_accuracy
    >>> X, y = load_digits(return_X_y=True)
    >>> model = ConceptFactorization(10, random_state=0).fit(normalize(X))
    >>> clustering_accuracy(y, model.labels_) > 0.75
    True
    """

    _paper = "Cai, He & Han 2011; Xu & Gong 2004"
    _cost = "about 53 T + edges · k (9 T multiplicative)"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseDualFactorization._parameter_constraints,
        **GraphOnCodes._graph_constraints,
        "scale": [StrOptions({"auto"}), None],
    }

    _signed_data = True

    def __init__(
        self,
        n_components: int = 8,
        *,
        graph_strength: float = 10.0,
        n_neighbors: int = 5,
        metric: Metric = "cosine",
        edge_weights: EdgeWeights = "binary",
        edge_bandwidth: float | None = None,
        graph: Any = None,
        neighbors_method: NeighborsMethod = "auto",
        kernel: Kernel = "linear",
        bandwidth: float | None = None,
        n_landmarks: int = 500,
        scale: AutoScale = "auto",
        solver: DualSolver = "auto",
        init: ClusterInit = "auto",
        max_iter: int = 500,
        tol: float = 1e-4,
        n_init: int = 1,
        warm_start: bool = False,
        assign: Assign = "kmeans",
        random_state: Any = None,
        verbose: int = 0,
        callbacks: Any = None,
    ):
        self.n_components = n_components
        self.graph_strength = graph_strength
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.edge_weights = edge_weights
        self.edge_bandwidth = edge_bandwidth
        self.graph = graph
        self.neighbors_method = neighbors_method
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.n_landmarks = n_landmarks
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

    def _units(self) -> Units:
        no_functions(self, "graph")
        kernel = self._kernel_unit
        # A free scale stays where the start puts it: at codes of unit norm.
        codes = 0.0 if self.scale is None else kernel / 2
        return self._dual_units(codes, {"graph_strength": kernel - 2 * codes, "edge_bandwidth": 2})

    def _dual_terms(self, kernel: KernelMatrix) -> list[Term]:
        return [DualFit()]

    def _scaled(self, terms: list[BoundTerm]) -> tuple[list[BoundTerm], Factor | None]:
        return apply_scale(terms, self.scale)

"""Graph regularised non-negative matrix factorisation."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ..core.term import Term
from ..selection.grids import NEIGHBORS, RANKS, STRENGTHS, Grid
from ..terms import NeighborGraph
from ..terms.divergence import order
from ..terms.graph import BoundNeighborGraph
from .base import OPEN, BaseFactorization
from .labelled import LabelledFactorization
from .nmf import fit_term
from .options import (
    Assign,
    EdgeWeights,
    Init,
    Metric,
    NeighborsMethod,
    OpenFloat,
    OpenInt,
    PenalisedLoss,
    Scale,
    Solver,
)
from .units import Units, codes_unit, no_functions


class GraphNMF(LabelledFactorization):
    r"""Non-negative matrix factorisation in which neighbours have similar codes (GNMF, SemiGNMF).

    Minimises, over codes W ≥ 0 (n × k) and components H ≥ 0 (k × m),

        D(X, W H) + graph_strength · Σ_{i<j} e_ij ‖w_i − w_j‖²
            = D(X, W H) + graph_strength · tr(Wᵀ L W),   L = diag(E 1) − E

    (Cai, He, Han & Huang, "Graph regularized non-negative matrix factorization for data representation", Eq. 6-8 with
    W = V, H = Uᵀ). D is ‖X − W H‖² or the Kullback-Leibler divergence. The multiplicative solver with ``scale=None``
    makes the paper's steps, Eq. 15-16. With ``use_labels=True`` samples of one class are joined and samples of
    different classes are cut apart (SemiGNMF).

    Scale is part of the model: as printed, the objective can be lowered by shrinking W and stretching H, until the
    graph has no say. By default the penalty is therefore measured where every component has unit norm.

    Parameters
    ----------
    n_components : int, "auto" or sequence of int, default=8
        Number of parts, k. "auto" chooses it without labels, a sequence among its values; see `selection_`.
    graph_strength : float, "auto" or sequence of float, default="auto"
        How much neighbours count, λ in the paper; 0 is :class:`NMF`. It has no unit: scaling X does not change it.
        Faces want 1 or less, digits 1 to 10, objects and topics 10 to 1,000. "auto" chooses it without labels, among 0,
        0.01, 0.1, … 1,000. On small data this costs about seven times as much as a fit with a number, at most ten times
        on the sets of the study, and less the more samples there are: more than 2,000 are represented by so many.
        Where there is nothing to compare (one component, hardly any samples, a warm start), it is 10, or what the last
        fit had, and `selection_` says so. ``graph_strength=10`` is a good fixed value.
    n_neighbors : int, "auto" or sequence of int, default=5
        Neighbours of each sample in the graph. "auto" chooses among 3, 5, 10 and 20.
    metric : {"cosine", "euclidean"}, default="cosine"
        Distance that decides who is near.
    edge_weights : {"binary", "heat", "cosine"}, default="binary"
        Weight of an edge: 1, exp(−‖x_i − x_j‖² / bandwidth), or the cosine of the two samples.
    bandwidth : float, default=None
        Of the heat kernel; by default the mean squared distance of neighbours.
    graph : sparse matrix of shape (n_samples, n_samples) or callable, default=None
        Symmetric non-negative edge weights to use instead, larger for samples that are closer (no distances), or a
        function that makes them from X. In a grid search or cross-validation, which fit to parts of X, give
        :class:`partwise.graphs.SampleGraph`. New samples are linked to their nearest training samples in any case.
    use_labels : bool, default=False
        Let `y` edit the graph; −1 marks samples of unknown class. A fit then needs `y`.
    neighbors_method : {"auto", "exact", "approximate"}, default="auto"
        How neighbours are found: "auto" is exact, but approximate for more than 30,000 dense samples if pynndescent is
        installed (``pip install 'partwise[neighbors]'``).
    loss : {"frobenius", "kullback-leibler"}, default="frobenius"
        D.
    scale : {"auto", "components", None}, default="auto"
        "auto" and "components" measure the penalty where components have unit norm; None is the paper's free scale.
    solver, init, max_iter, tol, n_init, warm_start, assign, random_state, verbose, callbacks
        As for :class:`NMF`.

    Attributes
    ----------
    components_, embedding_, labels_, objective_, history_, n_iter_, solver_, stop_reason_, scale_, n_features_in_
        As for :class:`NMF`.
    classes_ : ndarray of shape (n_classes,)
        With ``use_labels=True``: the classes that occur in `y`. `predict_classes` finds them for new samples; `predict`
        and `labels_` give cluster numbers, as for every method.
    transduction_ : ndarray of shape (n_samples,)
        With ``use_labels=True``: class of every training sample, the given one or that of the labelled sample with the
        nearest code (see `predict_classes`).
    selection_ : partwise.selection.Selection
        If a parameter was open, as `graph_strength` is by default: the values that were tried, what each was worth,
        and the choice; ``print`` it or call its ``plot``. The final fit continues from the best one.
    graph_method_ : {"products", "index", "descent", "given", "none"}
        Where the graph comes from: neighbours found exactly by products (dense data) or by an inverted index (sparse
        data), or approximately by nearest-neighbour descent; given by the user; or none, at strength 0.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.preprocessing import normalize
    >>> from partwise import GraphNMF
    >>> from partwise.metrics import clustering_accuracy
    >>> X, y = load_digits(return_X_y=True)
    >>> model = GraphNMF(10, random_state=0).fit(normalize(X))
    >>> clustering_accuracy(y, model.labels_) > 0.8
    True
    """

    _paper = "Cai, He & Han 2008"
    _cost = "2 T + edges · k"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseFactorization._parameter_constraints,
        "n_components": [Interval(Integral, 1, None, closed="left"), *OPEN],
        "graph_strength": [Interval(Real, 0, None, closed="left"), *OPEN],
        "n_neighbors": [Interval(Integral, 1, None, closed="left"), *OPEN],
        "metric": [StrOptions({"cosine", "euclidean"})],
        "edge_weights": [StrOptions({"binary", "heat", "cosine"})],
        "bandwidth": [Interval(Real, 0, None, closed="neither"), None],
        "graph": ["array-like", "sparse matrix", callable, None],
        "use_labels": ["boolean"],
        "neighbors_method": [StrOptions({"auto", "exact", "approximate"})],
        "loss": [StrOptions({"frobenius", "kullback-leibler"})],
    }

    _selectable: ClassVar[dict[str, Grid]] = {
        "n_components": RANKS,
        "n_neighbors": NEIGHBORS,
        "graph_strength": STRENGTHS,
    }

    def __init__(
        self,
        n_components: OpenInt = 8,
        *,
        graph_strength: OpenFloat = "auto",
        n_neighbors: OpenInt = 5,
        metric: Metric = "cosine",
        edge_weights: EdgeWeights = "binary",
        bandwidth: float | None = None,
        graph: Any = None,
        use_labels: bool = False,
        neighbors_method: NeighborsMethod = "auto",
        loss: PenalisedLoss = "frobenius",
        scale: Scale = "auto",
        solver: Solver = "auto",
        init: Init = "auto",
        max_iter: int = 500,
        tol: float = 1e-6,
        n_init: int = 1,
        warm_start: bool = False,
        assign: Assign = "kmeans",
        random_state: Any = None,
        verbose: int = 0,
        callbacks: Any = None,
    ):
        self.n_components: Any = n_components
        self.graph_strength: Any = graph_strength
        self.n_neighbors: Any = n_neighbors
        self.metric = metric
        self.edge_weights = edge_weights
        self.bandwidth = bandwidth
        self.graph = graph
        self.use_labels = use_labels
        self.neighbors_method = neighbors_method
        self.loss = loss
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

    def _terms(self) -> list[Term]:
        fit = fit_term(self.loss)
        if self.graph_strength == 0:
            return [fit]
        return [
            fit,
            NeighborGraph(
                self.graph_strength,
                self.n_neighbors,
                self.metric,
                self.edge_weights,
                self.bandwidth,
                self.graph,
                self.use_labels,
                self.neighbors_method,
            ),
        ]

    def _units(self) -> Units:
        no_functions(self, "graph")
        fit, codes = order(self.loss), codes_unit(self.scale)
        return Units(codes, 1 - codes, fit, {"graph_strength": fit - 2 * codes, "bandwidth": 2})

    def _uses_labels(self) -> bool:
        return bool(self.use_labels)

    @property
    def graph_method_(self) -> str:
        """How the neighbours of the training samples were found."""
        check_is_fitted(self, "embedding_")
        terms = (getattr(term, "penalty", term) for term in self._bound_terms)
        return next((term.search for term in terms if isinstance(term, BoundNeighborGraph)), "none")

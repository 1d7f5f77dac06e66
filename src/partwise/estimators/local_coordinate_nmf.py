"""Non-negative local coordinate factorisation."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval, StrOptions

from ..core.term import Term
from ..selection.grids import COORDINATE_STRENGTHS, NEIGHBORS, RANKS, STRENGTHS, Grid
from ..terms import NeighborGraph
from ..terms.divergence import order
from ..terms.local_coordinates import LocalCoordinates
from .base import OPEN, BaseFactorization
from .nmf import fit_term
from .options import Assign, EdgeWeights, Init, Metric, OpenFloat, OpenInt, PenalisedLoss, Solver
from .units import Units, Unscalable, no_functions


class LocalCoordinateNMF(BaseFactorization):
    r"""Non-negative matrix factorisation in which samples are coded by components close to them (NLCF, NLCF-G).

    Minimises, over codes W ≥ 0 (n × k) and components H ≥ 0 (k × m),

        D(X, W H) + coordinate_strength · Σ_ij w_ij ‖x_i − h_j‖² + graph_strength · tr(Wᵀ L W)

    (Chen, Zhang, Cai, Liu & He, "Non-negative local coordinate factorization for image representation", IEEE TIP 2013,
    Eq. 3 and 10 with W = Vᵀ, H = Uᵀ). L is the Laplacian of the nearest-neighbour graph, as in :class:`GraphNMF`; with
    ``graph_strength > 0`` the method is the paper's NLCF-G. D is ‖X − W H‖² or, what the paper leaves open, the
    Kullback-Leibler divergence. The multiplicative solver makes the paper's steps, Eq. 7-8 and 11-12.

    Components look like samples and codes are sparse. The penalty ties the components to the samples, so nothing is
    left to choose about the scale: the factors come as the minimum has them, and the graph is measured as it is
    written. Components that no sample uses any more are put at the samples that are represented worst.

    Parameters
    ----------
    n_components : int, "auto" or sequence of int, default=8
        Number of parts, k. "auto" chooses it without labels, a sequence among its values; see `selection_`.
    coordinate_strength : float, "auto" or sequence of float, default="auto"
        How much the distance between a sample and the components of its code counts, μ in the paper, which uses 0.1 to
        1. With the squared error it has no unit: scaling X does not change it. With the Kullback-Leibler divergence it
        has that of 1 / X. 0 is :class:`GraphNMF`, with its scale. "auto" chooses it without labels, by the clusters,
        among 0, 0.001, 0.01, 0.1 and 1, at eight times the cost of a fit with a number on small data, at most 13 times
        on the sets of the study; where there is nothing to compare, it is 0.1. For components that look like samples
        and for sparse codes, give 0.1 or more.
    graph_strength : float, "auto" or sequence of float, default=0.0
        How much neighbours count, λ in the paper; "auto" as for :class:`GraphNMF`. Next to coordinates, which have no
        unit, it has that of D; without them it is that of :class:`GraphNMF`. So where it is a number, "auto" chooses
        among coordinate strengths above 0.
    n_neighbors, metric, edge_weights, bandwidth, graph
        Of the graph, as for :class:`GraphNMF`.
    loss : {"frobenius", "kullback-leibler"}, default="frobenius"
        D.
    solver, init, max_iter, tol, n_init, warm_start, assign, random_state, verbose, callbacks
        As for :class:`NMF`.

    Attributes
    ----------
    components_, embedding_, labels_, objective_, history_, n_iter_, solver_, stop_reason_, scale_, n_features_in_
        As for :class:`NMF`.
    selection_ : partwise.selection.Selection
        If a parameter was open, as the strength is by default: the values that were tried, what each was worth, and
        the choice.

    Notes
    -----
    The objective flattens long before the factors stop to move (the paper reads the former as convergence): clusterings
    are better after many sweeps. For missing entries see :class:`partwise.terms.LocalCoordinates`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from partwise import LocalCoordinateNMF
    >>> from partwise.metrics import sparseness
    >>> X, y = load_digits(return_X_y=True)
    >>> model = LocalCoordinateNMF(20, coordinate_strength=0.1, random_state=0).fit(X)
    >>> bool(sparseness(model.embedding_).mean() > 0.7)
    True
    """

    _paper = "Chen, Zhang, Cai, Liu & He 2013"
    _cost = "2 T (+ edges · k)"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{name: rule for name, rule in BaseFactorization._parameter_constraints.items() if name != "scale"},
        "n_components": [Interval(Integral, 1, None, closed="left"), *OPEN],
        "coordinate_strength": [Interval(Real, 0, None, closed="left"), *OPEN],
        "graph_strength": [Interval(Real, 0, None, closed="left"), *OPEN],
        "n_neighbors": [Interval(Integral, 1, None, closed="left"), *OPEN],
        "metric": [StrOptions({"cosine", "euclidean"})],
        "edge_weights": [StrOptions({"binary", "heat", "cosine"})],
        "bandwidth": [Interval(Real, 0, None, closed="neither"), None],
        "graph": ["array-like", "sparse matrix", callable, None],
        "loss": [StrOptions({"frobenius", "kullback-leibler"})],
    }

    _selectable: ClassVar[dict[str, Grid]] = {
        "n_components": RANKS,
        "n_neighbors": NEIGHBORS,
        "coordinate_strength": COORDINATE_STRENGTHS,
        # Coordinates are chosen first, and without a graph: it is measured in another unit where they do not count.
        "graph_strength": replace(STRENGTHS, meanwhile=0.0),
    }

    # The penalty settles the scale; there is nothing to choose.
    scale = "auto"

    def __init__(
        self,
        n_components: OpenInt = 8,
        *,
        coordinate_strength: OpenFloat = "auto",
        graph_strength: OpenFloat = 0.0,
        n_neighbors: OpenInt = 5,
        metric: Metric = "cosine",
        edge_weights: EdgeWeights = "binary",
        bandwidth: float | None = None,
        graph: Any = None,
        loss: PenalisedLoss = "frobenius",
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
        self.coordinate_strength: Any = coordinate_strength
        self.graph_strength: Any = graph_strength
        self.n_neighbors: Any = n_neighbors
        self.metric = metric
        self.edge_weights = edge_weights
        self.bandwidth = bandwidth
        self.graph = graph
        self.loss = loss
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
        fit = order(self.loss)
        coordinates = self.coordinate_strength
        listed = [] if isinstance(coordinates, Real | str) else list(coordinates)
        if 0 in listed and isinstance(self.graph_strength, Real) and self.graph_strength != 0:
            raise Unscalable("coordinate_strength may become 0, where graph_strength has another unit")
        # Components that are tied to samples have the unit, and coordinates none. While the strength is open they count
        # as tied.
        codes = 1.0 if isinstance(coordinates, Real) and coordinates == 0 else 0.0
        strengths = {"coordinate_strength": fit - 2, "graph_strength": fit - 2 * codes, "bandwidth": 2.0}
        return Units(codes, 1 - codes, fit, strengths)

    def _terms(self) -> list[Term]:
        terms = [fit_term(self.loss)]
        if self.coordinate_strength > 0:
            terms.append(LocalCoordinates(self.coordinate_strength))
        if self.graph_strength > 0:
            terms.append(
                NeighborGraph(
                    self.graph_strength, self.n_neighbors, self.metric, self.edge_weights, self.bandwidth, self.graph
                )
            )
        return terms

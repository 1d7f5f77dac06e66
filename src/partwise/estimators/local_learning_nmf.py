"""Local learning regularised non-negative matrix factorisation, and local learning clustering."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from ..core.operand import Operand
from ..core.state import State
from ..core.term import BoundTerm, Term
from ..selection.grids import NEIGHBORS, RANKS, STRENGTHS, Grid
from ..solvers.loop import Options
from ..solvers.spectral import spectral_embedding
from ..solvers.starts import start_from_labels
from ..terms.divergence import order
from ..terms.local_learning import BoundLocalLearning, LocalLearning
from .assignment import Assignment
from .base import NAMED_STARTS, OPEN, BaseFactorization
from .nmf import fit_term
from .options import (
    Assign,
    InitOrSpectral,
    LocalKernel,
    Metric,
    OpenFloat,
    OpenInt,
    PenalisedLoss,
    ScaleOrCodes,
    Solver,
)
from .units import Units, codes_unit, no_functions

# Parameters of the local predictors, shared with LocalLearningClustering.
PREDICTOR_CONSTRAINTS: dict[str, list[Any]] = {
    "n_neighbors": [Interval(Integral, 1, None, closed="left")],
    "kernel": [StrOptions({"cosine", "rbf", "linear"}), callable],
    "bandwidth": [Interval(Real, 0, None, closed="neither"), None],
    "ridge": [Interval(Real, 0, None, closed="neither")],
    "metric": [StrOptions({"cosine", "euclidean"})],
}


def predictor_units(estimator: Any) -> dict[str, float]:
    """Parameters of the local predictors as powers of the unit of X."""
    no_functions(estimator, "kernel")
    return {"bandwidth": 2.0, "ridge": 2.0 if estimator.kernel == "linear" else 0.0}


class LocalLearningNMF(BaseFactorization):
    r"""Non-negative matrix factorisation in which codes can be predicted from their neighbours (LLNMF).

    Minimises, over codes W ≥ 0 (n × k) and components H ≥ 0 (k × m),

        D(X, W H) + local_strength · Σ_i ‖w_i − Σ_j g_ij w_j‖²
            = D(X, W H) + local_strength · tr(Wᵀ L W),   L = (I − G)ᵀ(I − G)

    (Gu & Zhou, "Local learning regularized nonnegative matrix factorization", IJCAI 2009, Eq. 13 with W = Vᵀ, H = Uᵀ;
    the transpose in L is missing in the paper's Eq. 11). Row i of G predicts a code from those of the p nearest
    neighbours, without the sample itself, by kernel ridge regression (Eq. 4-9). D is ‖X − W H‖² or the Kullback-Leibler
    divergence. The multiplicative solver with ``scale=None`` makes the steps of Eq. 19 without the square root, which
    fall too, and faster.

    Scale is part of the model: as printed, the objective can be lowered by shrinking W and stretching H, until the
    neighbours have no say. By default the penalty is therefore measured where every component has unit norm. The paper
    fixes the norm of every *column of W* instead, which is ``scale="codes"``. The two are different models, and their
    strengths are not comparable: unit-norm columns of W have entries of size 1/√n, whatever X is.

    Parameters
    ----------
    n_components : int, "auto" or sequence of int, default=8
        Number of parts, k. "auto" chooses it without labels, a sequence among its values; see `selection_`.
    local_strength : float, "auto" or sequence of float, default="auto"
        How much the neighbours' prediction counts, μ in the paper; 0 is :class:`NMF`. With the default scale it has no
        unit: scaling X does not change it. With ``scale="codes"`` it has the unit of ‖X‖² and good values are larger.
        "auto" chooses it without labels, as for :class:`GraphNMF`, at six times the cost of a fit with a number on
        small data, at most ten times on the sets of the study; where there is nothing to compare, it is 10.
    n_neighbors : int, "auto" or sequence of int, default=10
        Size of a neighbourhood, p. Up to about 20 the matrix L is formed and swept; for much larger neighbourhoods it
        is only applied, which takes the multiplicative solver.
    kernel : {"cosine", "rbf", "linear"} or callable, default="cosine"
        ⟨x, y⟩ / (‖x‖ ‖y‖), exp(−‖x − y‖² / bandwidth), ⟨x, y⟩, or a function of two arrays of samples that gives the
        matrix of kernel values.
    bandwidth : float, default=None
        Of the rbf kernel; by default 16 times the mean squared distance of neighbours.
    ridge : float, default=0.01
        λ > 0 of the regressions, Eq. 4, against a kernel that is 1 on its diagonal ("cosine", "rbf"). Much more than
        0.1 makes predictions shrink towards zero, and the codes with them.
    metric : {"cosine", "euclidean"}, default="cosine"
        Distance that decides who is near.
    loss : {"frobenius", "kullback-leibler"}, default="frobenius"
        D.
    scale : {"auto", "components", "codes", None}, default="auto"
        "auto" and "components" measure the penalty where components have unit norm; "codes" keeps the columns of W at
        unit norm, the paper's scale, with a solver of its own (squared error only); None leaves the scale free.
    init : {"auto", "random", "nndsvd", "nndsvda", "kmeans", "spectral"} or (W, H), default="auto"
        As for :class:`NMF`; "spectral" starts from the clusters of :class:`LocalLearningClustering`, which for large
        strengths reaches far better solutions than a random start.
    solver, max_iter, tol, n_init, warm_start, assign, random_state, verbose, callbacks
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
    All-zero samples have no neighbours and no predictor. New samples are drawn to what the training codes of their
    neighbours predict.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from partwise import LocalLearningNMF
    >>> from partwise.metrics import clustering_accuracy
    >>> X, y = load_digits(return_X_y=True)
    >>> model = LocalLearningNMF(10, local_strength=10, init="spectral", random_state=0).fit(X)
    >>> clustering_accuracy(y, model.labels_) > 0.8
    True
    """

    _paper = "Gu & Zhou 2009"
    _cost = "2 T + nnz(L) · k"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseFactorization._parameter_constraints,
        **PREDICTOR_CONSTRAINTS,
        "n_components": [Interval(Integral, 1, None, closed="left"), *OPEN],
        "n_neighbors": [Interval(Integral, 1, None, closed="left"), *OPEN],
        "local_strength": [Interval(Real, 0, None, closed="left"), *OPEN],
        "loss": [StrOptions({"frobenius", "kullback-leibler"})],
        "scale": [StrOptions({"auto", "components", "codes"}), None],
        "init": [StrOptions({*NAMED_STARTS, "spectral"}), tuple, list],
    }

    _selectable: ClassVar[dict[str, Grid]] = {
        "n_components": RANKS,
        "n_neighbors": NEIGHBORS,
        "local_strength": STRENGTHS,
    }

    def __init__(
        self,
        n_components: OpenInt = 8,
        *,
        local_strength: OpenFloat = "auto",
        n_neighbors: OpenInt = 10,
        kernel: LocalKernel = "cosine",
        bandwidth: float | None = None,
        ridge: float = 0.01,
        metric: Metric = "cosine",
        loss: PenalisedLoss = "frobenius",
        scale: ScaleOrCodes = "auto",
        solver: Solver = "auto",
        init: InitOrSpectral = "auto",
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
        self.local_strength: Any = local_strength
        self.n_neighbors: Any = n_neighbors
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.ridge = ridge
        self.metric = metric
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

    def _local_learning(self) -> LocalLearning:
        return LocalLearning(
            self.local_strength, self.n_neighbors, self.kernel, self.bandwidth, self.ridge, self.metric
        )

    def _units(self) -> Units:
        fit, codes = order(self.loss), codes_unit(self.scale)
        return Units(codes, 1 - codes, fit, {"local_strength": fit - 2 * codes, **predictor_units(self)})

    def _terms(self) -> list[Term]:
        fit = fit_term(self.loss)
        return [fit] if self.local_strength == 0 else [fit, self._local_learning()]

    def _starts(
        self, X: Operand, terms: Sequence[BoundTerm], rng: np.random.RandomState, options: Options
    ) -> list[Callable[[], State]]:
        if self.init != "spectral" or self._given_start(X.shape, X.dtype) is not None:
            return super()._starts(X, terms, rng, options)
        penalty = next((term for term in terms if isinstance(term, BoundLocalLearning)), None)
        residual = (self._local_learning().bind(X) if penalty is None else penalty).residual
        seed = int(rng.randint(np.iinfo(np.int32).max))
        labels = Assignment(spectral_embedding(residual, self.n_components), "kmeans", seed).labels
        return [lambda: State(X, *start_from_labels(X, labels, self.n_components))]

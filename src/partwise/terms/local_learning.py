"""Local learning: every sample's code can be predicted from its neighbours' codes."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.forms import Coupling, Quadratic
from ..core.operand import Operand
from ..core.rows import Diagonal, FormedSquare, Square
from ..core.state import State
from ..core.term import BoundTerm, Term
from ..core.types import CODES, Array, Factor, dot64
from ..core.units import Powers, no_function
from ..graphs import (
    find_neighbors,
    local_predictors,
    nearest_neighbors,
    plan_search,
    rbf_bandwidth,
    warn_if_scattered,
)
from ..graphs.predictors import Kernel, check_predictors
from ..graphs.projected import Compared, compared, seen_along
from .graph import GraphOrigin
from .new_codes import BoundNewCodes
from .penalties import check_strength
from .smoothness import BoundSmoothness

# S = (I − G)ᵀ(I − G) is multiplied out while its rows are no longer than this, or than a row of X.
LONGEST_ROW = 500


@dataclass(frozen=True, eq=False)
class LocalLearning(Term):
    """strength · ‖(I − G) W‖² = strength · Σ_i ‖w_i − Σ_j g_ij w_j‖², G the local predictors of the samples.

    Every code should be what a kernel ridge regression on the neighbours' codes predicts (Gu & Zhou 2009, Eq. 11 with
    L = (I − G)ᵀ(I − G); printed without the transpose). Samples without neighbours, which are the all-zero ones, have
    no predictor and do not enter the sum.

    Parameters
    ----------
    strength : float
        μ in the paper.
    n_neighbors : int, default=10
    kernel : {"cosine", "rbf", "linear"} or callable, default="cosine"
    bandwidth : float, optional
        Of the rbf kernel, see :func:`partwise.graphs.rbf_bandwidth`.
    ridge : float, default=0.01
    metric : {"cosine", "euclidean"}, default="cosine"
        See :func:`partwise.graphs.nearest_neighbors`; for the rest, :func:`partwise.graphs.local_predictors`.
    """

    strength_name = "local_strength"
    spreads = True
    couples_samples = True

    strength: float
    n_neighbors: int = 10
    kernel: Kernel = "cosine"
    bandwidth: float | None = None
    ridge: float = 0.01
    metric: Any = "cosine"

    def bind(
        self, X: Operand, y: Array | None = None, rng: Any = None, sample_weight: Array | None = None
    ) -> BoundLocalLearning:
        """Solve the local regressions."""
        strength = check_strength("The strength of LocalLearning", self.strength)
        check_predictors(self.kernel, self.bandwidth, self.ridge)
        if X.missing is not None:
            raise ValueError("Neighbours cannot be found in data with missing entries; local learning needs them.")
        seen = compared(X)
        samples = seen.samples.array
        found = find_neighbors(samples, self.n_neighbors, self.metric)
        links = found.links
        bandwidth = self.bandwidth
        if self.kernel == "rbf" and bandwidth is None:
            bandwidth = rbf_bandwidth(samples, links)
        G = local_predictors(links, samples, kernel=self.kernel, bandwidth=bandwidth, ridge=self.ridge)
        return BoundLocalLearning(self, G, bandwidth, strength, X, GraphOrigin(found.search, found.recall), seen)

    @property
    def penalises(self) -> Factor:
        """The codes."""
        return CODES

    def units(self, powers: Powers) -> Mapping[str, float]:
        """It grows with the codes' square; the ridge is added to the kernel."""
        no_function("kernel", self.kernel)
        ridge = 2.0 if self.kernel == "linear" else 0.0
        return {"strength": powers.objective - 2 * powers.codes, "bandwidth": 2.0, "ridge": ridge}


class BoundLocalLearning(BoundSmoothness):
    """S = strength · (I − G)ᵀ(I − G), multiplied out or applied.

    Attributes
    ----------
    predictors : csr_array of shape (n_samples, n_samples)
        G.
    residual : csr_array of shape (n_predicted, n_samples)
        I − G, its rows those of the samples that have a predictor.
    origin : GraphOrigin
        How the neighbours were found.
    """

    def __init__(
        self,
        term: LocalLearning,
        G: Any,
        bandwidth: float | None,
        strength: float,
        X: Operand,
        origin: GraphOrigin,
        seen: Compared,
    ):
        self.predictors = G
        self.origin = origin
        self._term = term
        self._bandwidth = bandwidth
        self._strength = strength
        self._X = X
        predicted = np.flatnonzero(np.diff(G.indptr))
        self.residual = (sp.eye_array(G.shape[0], format="csr") - G)[predicted]
        self.offers_entries = _longest_row(G) <= max(LONGEST_ROW, _stored_per_row(X))
        self._seen = seen
        square = Square(self.residual, strength, X.dtype)
        super().__init__("local learning", [X.placed_matrix(square.formed() if self.offers_entries else square)])

    def with_strength(self, strength: float) -> BoundLocalLearning | None:
        """The same predictors and their product."""
        if self._X.spread:
            return None
        other = copy(self)
        other._strength = strength
        (square,) = self.matrices
        assert isinstance(square, Square | FormedSquare)  # what the constructor makes
        other.matrices = [square.scaled(strength / self._strength)]
        return other

    def consider(self, n_components: int) -> None:
        """Warn if the neighbourhoods fall into more pieces than there are components."""
        warn_if_scattered(self.predictors, n_components)

    def for_new(self, state: State) -> Term:
        """New codes are pulled towards the predictions from their neighbours' training codes."""
        term = self._term
        regression = (term.n_neighbors, term.kernel, self._bandwidth, term.ridge, term.metric)
        if self._X.spread:
            samples, basis = self._seen
            return PredictedCodes(self._strength, *regression, samples.array, np.asarray(state.W), basis)
        return PredictedCodes(self._strength, *regression, self._X.kept.array, state.W)


def _longest_row(G: Any) -> int:
    """Upper bound on the mean length of a row of (I − G)ᵀ(I − G): p + 1 residuals of p + 1 samples each."""
    n = int(G.shape[0])
    return min(n, (G.nnz // n + 1) ** 2)


def _stored_per_row(X: Operand) -> int:
    if X.spread or not X.is_sparse:
        return X.shape[1]
    return int(X.array.nnz) // X.shape[0]


@dataclass(frozen=True, eq=False)
class PredictedCodes(Term):
    """strength · Σ_i ‖w_i − t_i‖² for new samples i, with t_i = Σ_t g_it w_t predicted from the training codes.

    Parameters
    ----------
    strength : float
    n_neighbors, kernel, bandwidth, ridge, metric
        As for :class:`LocalLearning`; an rbf kernel needs its bandwidth.
    samples : array or sparse matrix of shape (n_samples, n_features)
        The training samples, among which neighbours are found.
    codes : ndarray of shape (n_samples, n_components)
        Their codes.
    basis : ndarray of shape (n_features, d), optional
        What the training samples were multiplied by, if these are projections.
    """

    strength: float
    n_neighbors: int
    kernel: Kernel
    bandwidth: float | None
    ridge: float
    metric: Any
    samples: Any
    codes: Array
    basis: Any = None

    @cached_property
    def _plan(self) -> Any:
        """What an approximate search among the training samples needs to know, found out once."""
        return plan_search(self.samples, self.n_neighbors, self.metric)

    def bind(
        self, X: Operand, y: Array | None = None, rng: Any = None, sample_weight: Array | None = None
    ) -> BoundTerm:
        """Predict the codes of the new samples. Predictions, and so pulls, may have either sign."""
        how = {"X_train": self.samples, "method": "exact", "plan": self._plan}
        seen = seen_along(X, self.basis).array
        links = nearest_neighbors(seen, self.n_neighbors, self.metric, **how)
        G = local_predictors(links, seen, self.samples, kernel=self.kernel, bandwidth=self.bandwidth, ridge=self.ridge)
        codes = self.codes.astype(X.dtype, copy=False)
        target = np.asarray(G @ codes, codes.dtype)
        weight = (self.strength * (np.diff(G.indptr) > 0)).astype(codes.dtype)
        pull = weight[:, None] * target
        form = Quadratic(
            attract=np.maximum(pull, 0),
            repel=np.maximum(-pull, 0),
            couplings=(Coupling(np.ones(codes.shape[1], codes.dtype), Diagonal(weight)),),
        )
        return BoundNewCodes(self, "local learning", lambda state: form, dot64(pull, target))

"""What estimators share whose components are made of samples, H = Pᵀ Φ."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import partial
from typing import Any

import numpy as np

from ..core.dual import DualState, KernelMatrix
from ..core.objective import Objective
from ..core.operand import Operand
from ..core.state import State
from ..core.storage import as_operand
from ..core.term import BoundPenalty, BoundTerm, Term
from ..core.types import CODES, COMPONENTS, Array, Factor, IntArray
from ..solvers.choice import choose_dual_solver
from ..solvers.codes import code_rows, coding_terms
from ..solvers.loop import Options, minimise
from ..solvers.point import Solver
from ..solvers.starts import dual_start
from ..terms import Frobenius
from ..terms.dual import BoundRobustDualFit
from ..terms.dual import dual as dual_state
from .feature_maps import feature_map
from .options import AutoScale, ClusterInit, Count, DualSolver, Kernel, NonNegative, Positive
from .scale import apply_scale, normalise
from .units import Units, no_functions
from .unweighted import UnweightedFactorization
from .validation import check_factor


class BaseDualFactorization(UnweightedFactorization):
    """Minimise a sum of terms over codes W ≥ 0 and coefficients P ≥ 0 (both n × k), with Φ ≈ W Pᵀ Φ.

    A subclass says in `_dual_terms` which terms these are, in `_terms` which more there are on the codes alone, seen
    with the samples as they come.

    Parameters
    ----------
    kernel : {"linear", "cosine", "rbf", "precomputed"} or callable
        How samples are seen. "cosine" takes them at unit norm. "rbf", exp(−‖x − x'‖² / bandwidth), and a function of
        two arrays of samples that gives the matrix of kernel values go through a Nyström map of `n_landmarks` features.
        With "precomputed", X is the kernel itself (n × n, dense or sparse, positive semidefinite), and new samples
        come as their kernel values with the training samples.
    bandwidth : float
        Of the rbf kernel; by default the mean squared distance between samples.
    n_landmarks : int
        Samples on which the Nyström map rests, chosen at random.
    solver : {"auto", "projected", "multiplicative"}
        "projected", the default, takes codes by coordinate descent and coefficients by accelerated projected gradient.
        "multiplicative" is the reference.
    init : {"auto", "kmeans", "random"} or (W, P)
        Start; "auto" is "kmeans".

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        H = Pᵀ X; only with the kernels "linear" and "cosine" (there of samples at unit norm).
    dual_components_ : ndarray of shape (n_components, n_samples)
        Pᵀ: how much of every sample is in every component.
    """

    kernel: Kernel = "linear"
    bandwidth: Positive | None = None
    n_landmarks: Count = 500
    scale: AutoScale = field(default="auto", init=False)
    solver: DualSolver = "auto"  # type: ignore[assignment]
    init: ClusterInit = "auto"
    tol: NonNegative = 1e-4

    _auto_init = "kmeans"

    @abstractmethod
    def _dual_terms(self, kernel: KernelMatrix) -> list[Term]:
        """The objective as a list of terms, given how the samples are seen."""

    def _terms(self) -> list[Term]:
        return []

    @property
    def _kernel_unit(self) -> float:
        """As which power of the unit of X the kernel grows."""
        no_functions(self, "kernel")
        return {"linear": 2.0, "precomputed": 1.0}.get(str(self.kernel), 0.0)

    def _dual_units(self, codes: float, parameters: Mapping[str, float]) -> Units:
        """Units where the codes have one; coefficients have the inverse, so that components are made of samples."""
        kernel = self._kernel_unit
        units = {**parameters, "bandwidth": 2.0}
        return Units(codes, kernel / 2 - codes, kernel, units, {"dual_components_": -codes}, (codes, -codes))

    def _fit_operand(
        self,
        X: Operand,
        y: IntArray | None,
        callbacks: list[Any],
        rng: np.random.RandomState,
    ) -> None:
        self._map = feature_map(self.kernel, self.bandwidth, self.n_landmarks)
        kernel = self._map.fit(X, rng)
        with kernel.operand.at_work():
            dual = [term.bind(kernel.operand, y, rng) for term in self._dual_terms(kernel)]
            on_codes = [term.bind(X, y, rng) for term in self._terms()]
            for term in on_codes:
                term.consider(self.n_components)
            terms, unit = self._scaled([*dual, *on_codes])
            objective = Objective(terms)
            starts = self._dual_starts(kernel, dual, rng)
            result = minimise(
                objective, self._new_solver(objective), starts, Options(self.max_iter, self.tol, tuple(callbacks))
            )
            state = dual_state(normalise(result.state, unit))
            self._settle(state, dual)
            self._keep(terms[len(dual) :], state)
        self._losses = self._fits()
        self.scale_ = unit
        self._record(result)

    def _fits(self) -> list[Term]:
        return [Frobenius()]

    def _scaled(self, terms: list[BoundTerm]) -> tuple[list[BoundTerm], Factor | None]:
        """The terms, penalties on free codes under the gauge, and the factor with columns of unit norm in the end."""
        if any(term.orthogonality for term in terms):
            return terms, None
        if any(isinstance(term, BoundPenalty) for term in terms):
            return apply_scale(terms, "auto")
        # Whatever leaves the scale free does not feel it.
        return terms, CODES

    def _new_solver(self, objective: Objective) -> Callable[[], Solver]:
        return choose_dual_solver(self.solver, objective, self._printed_powers)

    def _settle(self, state: DualState, bound: Sequence[BoundTerm]) -> None:
        """The factors, and what new samples need of the terms on features, from where the fit ended."""
        self.embedding_ = np.array(state.W, order="C")
        self.dual_components_ = np.array(state.P.T, order="C")
        self._coding_by_features = coding_terms(bound, state)
        image = state.image(COMPONENTS)
        self._coding_factor = np.ascontiguousarray(state.P if image is None else image)
        if self._map.in_data_space:
            self.components_ = np.array(self._coding_factor.T, order="C")
        elif hasattr(self, "components_"):
            del self.components_

    def _dual_starts(
        self, kernel: KernelMatrix, bound: Sequence[BoundTerm], rng: np.random.RandomState
    ) -> list[Callable[[], State]]:
        n, k, dtype = kernel.operand.shape[0], self.n_components, kernel.operand.dtype
        given = self._given_pair(n, dtype)
        if given is not None:
            return [lambda: DualState(kernel, *given)]
        init: Any = self.init
        if init == "auto":
            init = self._auto_init if k <= n else "random"
        doubt = next((term.doubt for term in bound if isinstance(term, BoundRobustDualFit)), None)
        n_starts: int = self.n_init
        seeds = rng.randint(np.iinfo(np.int32).max, size=n_starts)

        def start(seed: int) -> State:
            return dual_start(kernel, k, init, np.random.RandomState(seed), doubt)

        return [partial(start, int(seed)) for seed in seeds]

    def _given_pair(self, n: int, dtype: Any) -> tuple[Array, Array] | None:
        """W and P to start from, if the user gave them or a warm start has them."""
        k = self.n_components
        if self.warm_start and hasattr(self, "embedding_") and self.embedding_.shape == (n, k):
            return self.embedding_.astype(dtype), np.array(self.dual_components_.T, dtype, order="C")
        if isinstance(self.init, str):
            return None
        if self.n_init != 1:
            raise ValueError(f"n_init is {self.n_init}; with a given start init=(W, P) it must be 1.")
        if len(self.init) != 2:
            raise ValueError("init must be the name of a start or a pair of arrays (W, P).")
        W, P = self.init
        return check_factor("W", W, (n, k), dtype), check_factor("P", P, (n, k), dtype)

    def _seen(self, X: Operand) -> tuple[Operand, Array]:
        if self.kernel == "precomputed":
            raise ValueError("kernel='precomputed' says nothing about the length of new samples: there is no score.")
        seen = as_operand(self._map.new(X).array, sample_weight=X.sample_weight)
        return seen, self._coding_factor.astype(X.dtype, copy=False)

    def _code(self, X: Operand) -> Array:
        mapped = self._map.new(X)
        with mapped.at_work():
            by_features = [term.bind(mapped) for term in self._coding_by_features]
            objective = Objective([*by_features, *(term.bind(X) for term in self._coding)])
            return code_rows(objective, mapped, self._coding_factor.astype(X.dtype, copy=False))

    def inverse_transform(self, X: Any) -> Array:
        """Bring codes back to the space of the features: W H, for codes W.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            The codes; the name is that of scikit-learn.

        Returns
        -------
        X_original : ndarray of shape (n_samples, n_features)
        """
        if hasattr(self, "embedding_") and not hasattr(self, "components_"):
            raise ValueError(
                f"kernel={self.kernel!r} has no components in the space of the data; only 'linear' and 'cosine' have."
            )
        return super().inverse_transform(X)

    @property
    def _n_features_out(self) -> int:
        return len(self.dual_components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

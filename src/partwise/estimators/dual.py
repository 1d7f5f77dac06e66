"""What estimators share whose components are made of samples, H = Pᵀ Φ."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from ..core.dual import DualState, KernelMatrix
from ..core.objective import Objective
from ..core.operand import Operand, as_operand
from ..core.state import State
from ..core.term import BoundTerm, Term
from ..core.types import CODES, COMPONENTS, Array, Factor, IntArray
from ..solvers.choice import choose_dual_solver
from ..solvers.codes import code_rows
from ..solvers.dual_starts import dual_start
from ..solvers.loop import Options, minimise
from ..terms import Frobenius
from ..terms.dual import BoundDualTerm, BoundRobustDualFit
from .base import BaseFactorization
from .feature_maps import feature_map
from .scale import normalise
from .validation import check_factors

KERNEL_CONSTRAINTS: dict[str, list[Any]] = {
    "kernel": [StrOptions({"linear", "cosine", "rbf", "precomputed"}), callable],
    "bandwidth": [Interval(Real, 0, None, closed="neither"), None],
    "n_landmarks": [Interval(Integral, 1, None, closed="left")],
}


class BaseDualFactorization(BaseFactorization):
    """Minimise a sum of terms over codes W ≥ 0 and coefficients P ≥ 0 (both n × k), with Φ ≈ W Pᵀ Φ.

    A subclass says in `_dual_terms` which terms these are, and has the parameters `kernel`, `bandwidth`, `n_landmarks`.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{name: rule for name, rule in BaseFactorization._parameter_constraints.items() if name != "scale"},
        **KERNEL_CONSTRAINTS,
        "solver": [StrOptions({"auto", "projected", "multiplicative"})],
        "init": [StrOptions({"auto", "kmeans", "random"}), tuple, list],
    }

    _auto_init = "kmeans"

    init: Any
    kernel: Any
    bandwidth: float | None
    n_landmarks: int

    @abstractmethod
    def _dual_terms(self, kernel: KernelMatrix) -> list[Term]:
        """The objective as a list of terms, given how the samples are seen."""

    def _terms(self) -> list[Term]:
        return []

    def fit(self, X: Any, y: Any = None) -> Self:  # type: ignore[override]
        """Learn codes and coefficients from the data.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Non-negative data; with ``kernel="precomputed"`` the kernel of all samples, of shape (n_samples, n_samples).
        y : object
            Ignored.

        Returns
        -------
        self
        """
        return super().fit(X)

    def fit_transform(self, X: Any, y: Any = None) -> Array:  # type: ignore[override]
        """Fit, then code the same samples as if they were new.

        This equals ``fit(X).transform(X)``. The codes that the fit itself found are in `embedding_`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : object
            Ignored.

        Returns
        -------
        W : ndarray of shape (n_samples, n_components)
        """
        return self.fit(X).transform(X)

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
            bound = [term.bind(kernel.operand, y, rng) for term in self._dual_terms(kernel)]
            objective = Objective(bound)
            new_solver = choose_dual_solver(self.solver, objective)
            starts = self._dual_starts(kernel, bound, rng)
            result = minimise(objective, new_solver, starts, Options(self.max_iter, self.tol, tuple(callbacks)))
            # Whatever leaves the scale free does not feel it.
            free: Factor | None = None if any(term.orthogonality for term in bound) else CODES
            W, P = normalise(result.W, result.Ht, free, kernel.operand)
            self._settle(DualState(kernel, W, P), bound)
        self._losses = [Frobenius()]
        self.objective_ = result.objective
        self.history_ = result.history
        self.n_iter_ = result.n_iter
        self.solver_ = result.solver
        self.stop_reason_ = result.stop_reason

    def _settle(self, state: DualState, bound: Sequence[BoundTerm]) -> None:
        """The factors, and what new samples need, from where the fit ended."""
        self.embedding_ = np.ascontiguousarray(state.W)
        self.dual_components_ = np.ascontiguousarray(state.P.T)
        fixed = [term.fixed(state) for term in bound if isinstance(term, BoundDualTerm)]
        self._coding = [term for term in fixed if term is not None]
        image = state.image(COMPONENTS)
        self._coding_factor = np.ascontiguousarray(state.P if image is None else image)
        if self._map.in_data_space:
            self.components_ = np.ascontiguousarray(self._coding_factor.T)
        elif hasattr(self, "components_"):
            del self.components_

    def _dual_starts(
        self, kernel: KernelMatrix, bound: Sequence[BoundTerm], rng: np.random.RandomState
    ) -> list[Callable[[], State]]:
        n, k, dtype = kernel.operand.shape[0], self.n_components, kernel.operand.dtype
        given = self._given_pair(n, dtype)
        if given is not None:
            return [lambda: DualState(kernel, *given)]
        init = self.init
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
            return check_factors((self.embedding_, self.dual_components_), (n, n), k, dtype)
        if isinstance(self.init, str):
            return None
        if self.n_init != 1:
            raise ValueError(f"n_init is {self.n_init}; with a given start init=(W, P) it must be 1.")
        if len(self.init) != 2:
            raise ValueError("init must be the name of a start or a pair of arrays (W, P).")
        W, P = (np.asarray(F) for F in self.init)
        if P.shape != (n, k):
            raise ValueError(f"init: P has shape {P.shape}; it must be {(n, k)}.")
        return check_factors((W, P.T), (n, n), k, dtype)

    def _seen(self, X: Operand) -> tuple[Operand, Array]:
        self._check_space()
        mapped = self._map.new(X)
        seen = as_operand(mapped.array, sample_weight=X.sample_weight)
        return seen, np.array(self.components_.T, X.dtype, order="C")

    def _check_space(self) -> None:
        """Refuse what needs components in the space of the data where there are none."""
        if hasattr(self, "embedding_") and not hasattr(self, "components_"):
            raise ValueError(
                f"kernel={self.kernel!r} has no components in the space of the data; only 'linear' and 'cosine' have."
            )

    def _code(self, X: Operand) -> Array:
        mapped = self._map.new(X)
        with mapped.at_work():
            objective = Objective([term.bind(mapped) for term in self._coding])
            return code_rows(objective, mapped, self._coding_factor.astype(X.dtype, copy=False))

    def inverse_transform(self, W: Any) -> Array:
        """Bring codes back to the space of the features: W H.

        Parameters
        ----------
        W : array-like of shape (n_samples, n_components)

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        """
        self._check_space()
        return super().inverse_transform(W)

    @property
    def _n_features_out(self) -> int:
        return len(self.dual_components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

"""Base class for estimators whose components are made of samples, H = Pᵀ Φ."""

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import Any, Literal

import numpy as np

from ..core import KernelMatrix, Objective, Operand, Term, as_operand
from ..core.domains import Domain
from ..core.types import COMPONENTS, Array, Factor, IntArray
from ..core.units import Powers, Unit, no_function, scaled
from ..solvers import DualStart, Minimum, Options, Problem, Solver, Start, choose_dual_solver, code_rows, codes_power
from ..terms.dual import dual as dual_state
from ..terms.orthogonality import Orthogonality
from .feature_maps import feature_map
from .options import ClusterInit, Count, DualSolver, Kernel, NonNegative, Positive
from .unweighted import UnweightedFactorization
from .validation import check_factor


class BaseDualFactorization(UnweightedFactorization):
    """Minimise a sum of terms over codes W ≥ 0 and coefficients P ≥ 0 (both n × k), with Φ ≈ W Pᵀ Φ.

    Terms on only the codes, such as a graph, see the samples as given.

    Parameters
    ----------
    kernel : {"linear", "cosine", "rbf", "precomputed"} or callable
        How samples are compared. "cosine" scales them to unit norm. "rbf", exp(−‖x − x'‖² / bandwidth), and a function
        of two arrays of samples that gives the matrix of kernel values use a Nyström map of `n_landmarks` features.
        With "precomputed", X is the kernel itself (n × n, dense or sparse, positive semidefinite; non-negative where
        the data must be), and new samples are given as their kernel values with the training samples.
    bandwidth : float
        Of the rbf kernel; by default the mean squared distance between samples.
    n_landmarks : int
        Samples on which the Nyström map is based, chosen at random.
    solver : {"auto", "projected", "multiplicative"}
        "projected", the default, uses coordinate descent for codes and accelerated projected gradient for coefficients.
        "multiplicative" is the reference.
    init : {"auto", "kmeans", "random"} or (W, P)
        Start; "auto" is "kmeans".

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        H = Pᵀ X, at unit norm unless a penalty on the codes settles the scale; only with the kernels "linear" and
        "cosine" (there of samples at unit norm).
    dual_components_ : ndarray of shape (n_components, n_samples)
        Pᵀ: how much of every sample is in every component; divided by its sum, a row is a convex combination.
    """

    kernel: Kernel = "linear"
    bandwidth: Positive | None = None
    n_landmarks: Count = 500
    # Terms that leave the scale free do not depend on it.
    scale: Literal["auto", "codes"] | None = field(default="codes", init=False)  # type: ignore[assignment]
    solver: DualSolver = "auto"  # type: ignore[assignment]
    init: ClusterInit = "auto"
    tol: NonNegative = 1e-4

    _auto_init = "kmeans"

    def _powers(self, terms: Sequence[Term]) -> Powers:
        no_function("kernel", self.kernel)
        kernel = {"linear": 2.0, "precomputed": 1.0}.get(str(self.kernel), 0.0)
        power = codes_power([term for term in terms if getattr(term, "strength", None) != 0], self.scale)
        # A free scale stays where the start puts it: at codes of unit norm.
        codes = kernel / 2 if power == 1 else 0.0
        return Powers(kernel, codes, kernel / 2 - codes)

    def _unit_for(self, exponent: int, dtype: Any) -> Unit:
        unit = super()._unit_for(exponent, dtype)
        unit.number("bandwidth", self.bandwidth, 2.0, dtype)
        return unit

    def _problem(
        self, X: Operand, y: IntArray | None, rng: np.random.RandomState, options: Options, unit: Unit
    ) -> Problem:
        bandwidth = unit.number("bandwidth", self.bandwidth, 2.0, X.dtype)
        self._map = feature_map(self.kernel, bandwidth, self.n_landmarks)
        kernel = self._map.fit(X, rng)
        problem = super()._problem(X, y, rng, options, unit)
        return replace(problem, kernel=kernel, terms=tuple(self._estimated(term, kernel) for term in problem.terms))

    def _estimated(self, term: Term, kernel: KernelMatrix) -> Term:
        """A term with its "auto" parameters estimated from the samples as the kernel sees them."""
        if isinstance(term, Orthogonality) and isinstance(term.strength, str):
            return replace(term, strength=float(kernel.diagonal().sum()) / self.n_components)
        return term

    def _domains(self) -> dict[Factor, Domain]:
        return {}

    def _new_solver(self, objective: Objective) -> Callable[[], Solver]:
        return choose_dual_solver(self.solver, objective, self._printed_powers)

    def _settle(self, problem: Problem, minimum: Minimum) -> None:
        """The factors, and what new samples need, from where the fit ended."""
        state = dual_state(minimum.state)
        self.embedding_ = np.array(state.W, order="C")
        self.dual_components_ = np.array(state.P.T, order="C")
        self.scale_ = minimum.unit
        self._keep(minimum.terms, state)
        image = state.image(COMPONENTS)
        self._coding_factor = np.ascontiguousarray(state.P if image is None else image)
        if self._map.in_data_space:
            self.components_ = np.array(self._coding_factor.T, order="C")
        elif hasattr(self, "components_"):
            del self.components_

    def _bring_outside(self, unit: Unit) -> None:
        super()._bring_outside(unit)
        # Components are made of samples: coefficients have the inverse of the codes' unit.
        exponent = self._unit.shift - unit.powers.codes * unit.exponent
        self.dual_components_ = scaled(self.dual_components_, exponent) if unit.exponent else self.dual_components_

    def _start(self, shape: tuple[int, int], dtype: Any) -> Start:
        return DualStart(**self._start_fields(shape, dtype))

    def _continues(self, shape: tuple[int, int]) -> bool:
        fitted = self.warm_start and hasattr(self, "embedding_")
        return fitted and self.embedding_.shape == (shape[0], self.n_components)

    def _given_start(self, shape: tuple[int, int], dtype: Any) -> tuple[Array, ...] | None:
        """W and P to start from, if the user gave them or a warm start has them."""
        n, k = shape[0], self.n_components
        if self._continues(shape):
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
            raise ValueError("kernel='precomputed' says nothing about the norm of new samples: there is no score.")
        seen = as_operand(self._map.new(X).array, sample_weight=X.sample_weight)
        return seen, self._coding_factor.astype(X.dtype, copy=False)

    def _code(self, X: Operand) -> Array:
        mapped = self._map.new(X)
        with mapped.at_work():
            objective = Objective([term.bind(mapped if term.dual else X) for term in self._coding])
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
                f"kernel={self.kernel!r} has no components in the space of the data; only 'linear' and 'cosine' do."
            )
        return super().inverse_transform(X)

    @property
    def _n_features_out(self) -> int:
        return len(self.dual_components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

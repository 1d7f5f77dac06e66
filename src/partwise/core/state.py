"""Where a fit stands: both factors, and what was computed from them, each at most once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeVar

from .operand import Operand
from .rows import Diagonal, RowMatrix
from .types import CODES, COMPONENTS, OTHER, Array, Factor, column_norms, dot64

T = TypeVar("T")


class State:
    """The pair (W, Hᵀ) with the products derived from it.

    A state never changes: :meth:`replace` gives the next one, which keeps every result that does not depend on the
    replaced factor. So after a sweep (codes, then components) XᵀW is still known and the objective costs nothing.

    Parameters
    ----------
    X : Operand
    W : ndarray of shape (n_samples, n_components)
        The codes.
    Ht : ndarray of shape (n_features, n_components)
        The components, transposed: both factors have one row per thing coded and go through the same code.
    """

    __slots__ = ("Ht", "W", "X", "_memo")

    def __init__(self, X: Operand, W: Array, Ht: Array):
        self.X = X
        self.W: Array = X.placed(W)
        self.Ht = Ht
        # Results by the factors they depend on: one of them, or both.
        self._memo: dict[Factor | None, dict[Hashable, Any]] = {CODES: {}, COMPONENTS: {}, None: {}}

    def __getitem__(self, factor: Factor) -> Array:
        return self.W if factor == CODES else self.Ht

    def replace(self, factor: Factor, value: Array) -> State:
        """The state with one factor replaced."""
        new = self._with(value, self.Ht) if factor == CODES else self._with(self.W, value)
        kept = OTHER[factor]
        new._memo[kept] = self._memo[kept]
        return new

    def with_codes(self, W: Array, pull: Array, gram: Array) -> State:
        """The state with other codes, whose pull on the components and Gram matrix were computed on the way."""
        new = self.replace(CODES, W)
        new._memo[CODES] |= {"product": pull, "gram": gram}
        return new

    def _with(self, W: Array, Ht: Array) -> State:
        """A state of the same kind with other factors."""
        return State(self.X, W, Ht)

    def arrays(self) -> dict[str, Array]:
        """The factors by name: with X, they define the state."""
        return {"W": self.W, "Ht": self.Ht}

    def with_arrays(self, arrays: Mapping[str, Array]) -> State:
        """The same kind of state with other factors."""
        return self._with(arrays["W"], arrays["Ht"])

    @property
    def components(self) -> Array:
        """H."""
        return self.Ht.T

    def recall(self, key: Hashable, depends_on: Factor | None, compute: Callable[[], T]) -> T:
        """The result stored under `key`, computed now if it is missing.

        `depends_on` names the only factor it depends on; None means both.
        """
        memo = self._memo[depends_on]
        if key not in memo:
            memo[key] = compute()
        result: T = memo[key]
        return result

    def knows(self, key: Hashable, depends_on: Factor | None) -> bool:
        """Whether `recall` would answer without computing."""
        return key in self._memo[depends_on]

    def remember(self, key: Hashable, depends_on: Factor | None, result: Any) -> None:
        """Store a result that was computed on the way."""
        self._memo[depends_on][key] = result

    def gram(self, factor: Factor) -> Array:
        """FᵀF of one factor: Wᵀ diag(sample weights) W, or H Hᵀ."""
        F = self[factor]
        weight = self.X.sample_weight if factor == CODES else None
        return self.recall("gram", factor, lambda: F.T @ (F if weight is None else weight[:, None] * F))

    def metric(self, factor: Factor) -> RowMatrix | None:
        """The M that measures columns of a factor, fᵀ M f: the sample weights; None is I."""
        weight = self.X.sample_weight if factor == CODES else None
        return None if weight is None else Diagonal(weight)

    def norms(self, factor: Factor) -> Array:
        """Norm of every column of a factor, in float64."""
        return column_norms(self[factor], self.X.sample_weight if factor == CODES else None)

    def product(self, factor: Factor) -> Array:
        """The data's pull on a factor: X Hᵀ for the codes, Xᵀ diag(sample weights) W for the components."""
        if factor == CODES:
            return self.recall("product", COMPONENTS, lambda: self.X.dot(self.Ht))
        weight = self.X.sample_weight
        W = self.W if weight is None else weight[:, None] * self.W
        return self.recall("product", CODES, lambda: self.X.t_dot(W))

    def has_product(self, factor: Factor) -> bool:
        """Whether the data's pull on a factor is known; it depends only on the other factor."""
        return self.knows("product", OTHER[factor])

    def cross(self) -> float:
        """⟨X, W H⟩, with weighted samples, from whichever product is known."""
        if self.has_product(COMPONENTS):
            return dot64(self.product(COMPONENTS), self.Ht)
        weight, product = self.X.sample_weight, self.product(CODES)
        return dot64(product if weight is None else weight[:, None] * product, self.W)

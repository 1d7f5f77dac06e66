"""Components that are known, and stay as they are while others are learned beside them."""

from numbers import Integral
from typing import Annotated, Any

import numpy as np

from ..core import COMPONENTS, Factor, Fixed, IntArray, Operand, Unit, Unscalable
from ..core.domains import Domain
from ..solvers import Options, Problem
from .open_components import OpenFactorization


class FixedComponents(OpenFactorization):
    """A factorisation whose first components may be given.

    Parameters
    ----------
    fixed_components : array of shape (n_fixed, n_features)
        Known components, non-negative. They are the first rows of `components_`, exactly as given, and further ones are
        learned beside them; `n_components` counts all. Penalties on the codes are measured as for any other component,
        where it has unit norm (with ``scale="auto"``), but only learned components are returned at unit norm: the codes
        of fixed components have the scale of these.
    """

    fixed_components: Annotated[Any, "array-like", None] = None

    def _domains(self) -> dict[Factor, Domain]:
        if self.fixed_components is None:
            return super()._domains()
        return {**super()._domains(), COMPONENTS: Fixed(self.fixed_components)}

    def _unit_for(self, exponent: int, dtype: Any) -> Unit:
        unit = super()._unit_for(exponent, dtype)
        if self.fixed_components is not None and unit.powers.components:
            raise Unscalable("fixed_components have a unit too")
        return unit

    def _problem(
        self, X: Operand, y: IntArray | None, rng: np.random.RandomState, options: Options, unit: Unit
    ) -> Problem:
        if self.fixed_components is not None and not isinstance(self.n_components, Integral):
            raise ValueError(
                f"n_components={self.n_components!r} leaves the number of components open, but fixed_components gives "
                "some of them. Give a number that counts all."
            )
        return super()._problem(X, y, rng, options, unit)

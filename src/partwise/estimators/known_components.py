"""What is known about the components beforehand: some of them, where to look for them, where they are zero."""

from numbers import Integral
from typing import Annotated, Any

import numpy as np

from ..callbacks import sklearn_callbacks
from ..core import COMPONENTS, Factor, Fixed, IntArray, Operand, Term, Unit, Unscalable
from ..core.domains import Domain
from ..selection.grids import open_parameters
from ..solvers import NamedStart, Options, Problem
from ..terms.seeds import Seeds, check_seeds
from .dispersion import OVERDISPERSED
from .loss_scale import PER_DEVIATION
from .open_components import OpenFactorization
from .options import NonNegative

ArrayOrNone = Annotated[Any, "array-like", None]


class KnownComponents(OpenFactorization):
    """A factorisation that may be told about its components.

    Parameters
    ----------
    fixed_components : array of shape (n_fixed, n_features)
        Known components, non-negative. They are the first rows of `components_`, exactly as given, and further ones are
        learned beside them; `n_components` counts all. Penalties on the codes are measured as for any other component,
        where it has unit norm (with ``scale="auto"``), but only learned components are returned at unit norm: the codes
        of fixed components have the scale of these.
    seed_components : array of shape (n_seeds, n_features)
        Where to look for the first components, non-negative: the fit starts there, and stays near with `seed_strength`.
        Their scale does not matter. Give these or `fixed_components`.
    seed_strength : float
        How much it costs if the first components leave the directions of their seeds:
        seed_strength · Σ_j ‖w_j‖² ‖h_j − (h_j·ŝ_j) ŝ_j‖², with seeds ŝ_j of unit norm. With the squared error it has no
        unit, and 1 weighs what a component adds beside its seed like a residual. 0: the seeds are only a start.
    component_mask : array of bool, shape (n_components, n_features)
        Where components may be other than zero: the pixels of a region, the genes of a pathway, the words of a topic.
        By default everywhere. :func:`partwise.domains.marker_mask` makes one from names.
    """

    fixed_components: ArrayOrNone = None
    seed_components: ArrayOrNone = None
    seed_strength: NonNegative = 1.0
    component_mask: ArrayOrNone = None

    @property
    def replicable(self) -> bool:
        """Whether fits with other seeds solve one problem from other starts, and clusters are those of its codes.

        Then many of them can be solved side by side: nothing is to be chosen for each, and nobody is told about one.
        """
        chosen = open_parameters(self, self._selectable) or getattr(self, "loss", None) in (
            *PER_DEVIATION,
            OVERDISPERSED,
        )
        told = self.callbacks is not None or self.verbose or sklearn_callbacks(self)
        return not (chosen or told or self.warm_start or getattr(self, "weighting", None))

    def _known_terms(self) -> list[Term]:
        """The penalty that keeps components near their seeds, if there are any."""
        return [] if self.seed_components is None else [Seeds(self.seed_strength, self.seed_components)]

    def _domains(self) -> dict[Factor, Domain]:
        domains = super()._domains()
        if self.fixed_components is not None:
            domains[COMPONENTS] = Fixed(self.fixed_components)
        elif self.component_mask is not None:
            self._check_readable("component_mask")
            mask = np.asarray(self.component_mask, bool)
            domains[COMPONENTS] = Fixed(np.zeros(mask.shape), where=~mask)
        return domains

    def _unit_for(self, exponent: int, dtype: Any) -> Unit:
        unit = super()._unit_for(exponent, dtype)
        if self.fixed_components is not None and unit.powers.components:
            raise Unscalable("fixed_components have a unit too")
        return unit

    def _start(self, shape: tuple[int, int], dtype: Any) -> NamedStart:
        return NamedStart(**self._start_fields(shape, dtype), seeds=self.seed_components)

    def _start_fields(self, shape: tuple[int, int], dtype: Any) -> dict[str, Any]:
        fields = super()._start_fields(shape, dtype)
        # Singular vectors know nothing of a mask: what it leaves of them leads to bad minima.
        return fields if self.component_mask is None else {**fields, "auto": "random"}

    def _problem(
        self, X: Operand, y: IntArray | None, rng: np.random.RandomState, options: Options, unit: Unit
    ) -> Problem:
        self._check_known(X)
        return super()._problem(X, y, rng, options, unit)

    def _check_known(self, X: Operand) -> None:
        """Refuse what does not fit together."""
        names = "fixed_components", "seed_components", "component_mask"
        given = [name for name in names if getattr(self, name) is not None]
        for name in given:
            self._check_readable(name)
        if given and not isinstance(self.n_components, Integral):
            raise ValueError(
                f"n_components={self.n_components!r} leaves the number of components open, but {given[0]} describes "
                "some of them. Give a number that counts all."
            )
        if "fixed_components" in given and len(given) > 1:
            raise ValueError(f"Give fixed_components or {given[1]}: what is fixed needs no more than that.")
        if self.fixed_components is not None:
            Fixed(self.fixed_components).bind(X, COMPONENTS, int(self.n_components))  # type: ignore[arg-type]
        if self.seed_components is not None:
            n_seeds = check_seeds(self.seed_components, X).shape[1]
            if n_seeds > self.n_components:
                raise ValueError(f"There are {n_seeds} seed_components, but n_components={self.n_components}.")
        if self.component_mask is not None:
            mask, wanted = np.asarray(self.component_mask), (self.n_components, X.shape[1])
            if mask.dtype != bool or mask.shape != wanted:
                raise ValueError(
                    f"component_mask holds {mask.dtype} in the shape {mask.shape}; it must hold True and False, in the "
                    f"shape of components_, {wanted}."
                )
            if not mask.any(axis=1).all():
                empty = int(np.flatnonzero(~mask.any(axis=1))[0])
                raise ValueError(f"component_mask leaves component {empty} no feature: it would represent nothing.")

    def _check_readable(self, name: str) -> None:
        """Refuse what is not an array of numbers with the features of X in its columns."""
        value = getattr(self, name)
        if not _is_table(value):
            raise ValueError(f"{name} must hold numbers, with a row for every component.")
        features, columns = getattr(self, "feature_names_in_", None), getattr(value, "columns", None)
        if features is not None and columns is not None and list(columns) != list(features):
            raise ValueError(
                f"The columns of {name} are not the features of X in their order. Give {name}.reindex(columns="
                "X.columns, fill_value=0), or an array without names."
            )


def _is_table(value: Any) -> bool:
    """Whether it is a row of real numbers, or several."""
    try:
        array = np.asarray(value)
        return array.ndim <= 2 and not np.iscomplexobj(array) and array.astype(float).ndim > 0
    except (TypeError, ValueError):
        return False

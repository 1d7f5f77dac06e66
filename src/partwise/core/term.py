"""What a term is, before and after it is bound to the data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from .forms import Entrywise, Logarithmic, Quadratic, RowSquares, Split
from .operand import Operand
from .reading import StoredRows
from .state import State
from .types import Array, Factor, IntArray
from .units import Powers, Unit, Unscalable


class Term(ABC):
    """A summand of the objective as a user writes it: only parameters.

    Subclasses are frozen dataclasses. Whatever depends on the data is in the result of :meth:`bind`. A term whose field
    `strength` is 0 is left out.

    Attributes
    ----------
    strength_name : str
        The parameter of estimators that sets its strength, by which a problem finds it.
    compares : bool
        Whether it compares X with W H, entry by entry, and has a field `weights` for them.
    spreads : bool
        Whether it needs only sums over the samples and functions of every row, which workers can compute.
    couples_samples : bool
        Whether the code of a sample depends on the codes of others.
    dual : bool
        Whether it is for components made of samples, and bound to their features.
    order : float or None
        The power of the unit of X with which it grows, if it compares X with W H.
    penalises : {"codes", "components"} or None
        The factor that it penalises, if it is a penalty on one of them.
    settles_scale : bool
        Whether it leaves no scale to choose, and gives codes no unit.
    ignores_weights : bool
        Whether it is the same for any sample weights, so that fits that differ in them can share what it builds.
    easier : sequence of Term
        Terms through which codes of new samples approach it, if it is not convex or its steps are small; the easiest
        comes first.
    """

    strength_name: ClassVar[str] = ""
    compares: ClassVar[bool] = False
    spreads: ClassVar[bool] = False
    couples_samples: ClassVar[bool] = False
    dual: ClassVar[bool] = False
    settles_scale: ClassVar[bool] = False
    ignores_weights: ClassVar[bool] = False

    @property
    def order(self) -> float | None:  # noqa: D102
        return None

    @property
    def penalises(self) -> Factor | None:  # noqa: D102
        return None

    @property
    def easier(self) -> Sequence[Term]:  # noqa: D102
        return ()

    def seeing(self, given: Any) -> Term:
        """The term with what the data, as the user gave them, bring along: a graph by its name."""
        return self

    def needs_entries(self, X: Operand) -> bool:
        """Whether the bound term needs single entries of X, and not only products, norms and blocks of rows.

        If it does, and X is not in memory, it is bound to one piece of X after another.
        """
        return False

    @abstractmethod
    def bind(
        self, X: Operand, y: Array | None = None, rng: Any = None, sample_weight: Array | None = None
    ) -> BoundTerm:
        """Prepare the term for the data: build its graph, check its parameters against X.

        Parameters
        ----------
        X : Operand
            The training data.
        y : ndarray of int, optional
            Class of every sample, −1 for unknown.
        rng : numpy.random.RandomState, optional
            Source of randomness, for terms that need one.
        sample_weight : ndarray of shape (n_samples,), optional
        """

    def units(self, powers: Powers) -> Mapping[str, float]:
        """Its fields as powers of the unit of X, given those of the objective and the factors.

        Parameters
        ----------
        powers : Powers

        Raises
        ------
        Unscalable
            If the unit of X cannot be changed, which is the case unless a term says otherwise.
        """
        raise Unscalable(f"the strength of the term {type(self).__name__} may have a unit")

    def in_unit(self, unit: Unit, dtype: Any) -> Term:
        """The term for data in another unit."""
        if not unit.exponent:
            return self
        changed = {
            name: unit.number(self._name_of(name), getattr(self, name), power, dtype)
            for name, power in self.units(unit.powers).items()
        }
        return replace(self, **changed) if changed else self  # type: ignore[type-var]

    def _name_of(self, field: str) -> str:
        """What users call a field."""
        if field != "strength":
            return field
        return self.strength_name or f"the strength of {type(self).__name__}"

    def attached(self, samples: StoredRows) -> Term | None:
        """The term with the samples that it was learned from, which a saved model does not contain; None if it does."""
        return None

    def scoring(self) -> Term | None:
        """The term by which `score` measures new samples; None if it does not compare them with W H."""
        return None


class BoundTerm(ABC):
    """A term bound to its data. Solvers see only these.

    In its methods `state` holds the present factors, X and their products, and `factor` is "codes" or "components".

    Attributes
    ----------
    name : str
        Its key in `history_`.
    couples_samples : bool
        Whether the code of a sample depends on the codes of others.
    offers_quadratic : bool
        Whether :meth:`quadratic` describes the term fully. If False, :meth:`split` must be written.
    majorised : bool
        The quadratic agrees with the term only at the state's own point, and must be recomputed at the next one.
    n_tangents : int
        Most quadratics by which a sweep improves each factor, if it is majorised: more than one where they lie so far
        above the term that a single step is short.
    multiplies : bool
        Every step needs the product of X and the other factor, which several fits can make in one.
    from_residuals : bool
        The value is summed over residuals, or over entries of a factor. Its rounding error is relative to itself, and
        not, as for a difference of products, to the squared norm of the data.
    offers_logarithms : bool
        Whether :meth:`logarithmic` describes the term fully.
    offers_entrywise : bool
        Whether :meth:`entrywise` describes the term fully: codes for fixed components are then found by its steps.
    fits_in_blocks : bool
        Whether fits, too, make these steps, in blocks of rows.
    offers_row_squares : bool
        Whether :meth:`row_squares` describes the term fully.
    adds_up : bool
        Whether models of the components with bounds for how far they hold, one of these forms, can be added up over
        samples (`solvers.row_models`).
    offers_entries : bool
        Whether every S of the quadratic has entries that can be swept; a product that is never multiplied out has none.
    anchored : bool
        The term ties the components to the samples: it settles the scale, and components may be placed at samples.
    scale_free : bool
        Stretching a column of the codes and shrinking that of the components by as much leaves the value unchanged.
    factor : {"codes", "components"} or None
        The only factor on which it depends, if there is one.
    steep : bool
        Its multiplicative majoriser has powers of the step beyond −1 or 1.
    orthogonality : float
        The term is orthogonality/2 · ‖WᵀW − I‖², the one quartic that solvers know; 0 for all others.
    """

    name: str
    couples_samples: ClassVar[bool] = False
    offers_quadratic: bool = True
    majorised: ClassVar[bool] = False
    n_tangents: int = 1
    multiplies: ClassVar[bool] = False
    from_residuals: bool = False
    offers_logarithms: ClassVar[bool] = False
    offers_entrywise: bool = False
    fits_in_blocks: bool = False
    offers_row_squares: ClassVar[bool] = False
    adds_up: bool = False
    offers_entries: bool = True
    anchored: ClassVar[bool] = False
    scale_free: bool = False
    factor: Factor | None = None
    steep: bool = False
    orthogonality: float = 0.0

    @abstractmethod
    def value(self, state: State) -> float:
        """The term's share of the objective."""

    @abstractmethod
    def quadratic(self, state: State, factor: Factor) -> Quadratic | None:
        """Its parts of the quadratic of one factor; None if it does not depend on that factor.

        At the state's own point it must have the term's value and gradient, up to a constant; elsewhere it may lie
        above the term (a majoriser), never below.
        """

    def logarithmic(self, state: State, factor: Factor) -> Logarithmic:
        """The term as a sum of logarithms, if it `offers_logarithms`."""
        raise NotImplementedError(f"The term {self.name!r} is not a sum of logarithms.")

    def entrywise(self) -> Entrywise:
        """The term as a sum over entries, if it `offers_entrywise`."""
        raise NotImplementedError(f"The term {self.name!r} is not a sum over entries that can be bounded.")

    def row_squares(self) -> RowSquares:
        """The term as a quadratic of every row, if it `offers_row_squares`."""
        raise NotImplementedError(f"The term {self.name!r} has no Gram matrices by rows.")

    def split(self, state: State, factor: Factor) -> Split | None:
        """Its gradient in non-negative halves; None if it does not depend on that factor."""
        quadratic = self.quadratic(state, factor)
        return None if quadratic is None else quadratic.split(state[factor], lambda: state.product(factor))

    def counts_entries(self, factor: Factor) -> bool:
        """Whether it is linear in the size of a factor's entries, and assumes that none is negative."""
        return False

    def with_strength(self, strength: float) -> BoundTerm | None:
        """The same term at another strength, sharing what it knows about the data; None if it must be bound again."""
        return None

    def joined(self, groups: IntArray, n_groups: int) -> Term | None:
        """The term for groups of samples with one code each, to be bound to their means; None if there is none.

        Parameters
        ----------
        groups : ndarray of int, shape (n_samples,)
            Group of every sample, 0 … n_groups − 1.
        n_groups : int
        """
        return None

    def consider(self, n_components: int) -> None:
        """Warn, before any work, if the term cannot do well with this many components."""
        return

    @abstractmethod
    def for_new(self, state: State) -> Term | None:
        """The term by which new samples are coded, given where the fit ended; None if it does not concern new codes.

        Its `bind` takes the new samples and gives a term of their codes, one by one, for fixed components. A fitted
        model keeps it, so it holds only what coding needs: of the data :attr:`Operand.kept`, which is protected from
        later changes; of the state, anything. A term that cannot code new samples returns :class:`Uncodable`, which
        says why when someone tries.
        """


@dataclass(frozen=True)
class Uncodable(Term):
    """Replaces a term that cannot code new samples: it can be kept, but not bound.

    Parameters
    ----------
    reason : str
        A sentence: why not, and what to do instead.
    """

    reason: str

    def bind(
        self, X: Operand, y: Array | None = None, rng: Any = None, sample_weight: Array | None = None
    ) -> BoundTerm:
        """Refuse, with the reason."""
        raise ValueError(self.reason)


class BoundPenalty(BoundTerm):
    """A term of only one factor, summed over its columns.

    Attributes
    ----------
    factor : {"codes", "components"}
        The factor it penalises.
    degree : {1, 2}
        How it grows when a column is stretched.
    """

    factor: Factor
    degree: int

    @abstractmethod
    def column_values(self, F: Array) -> Array:
        """Its value for every column, in float64."""

    @abstractmethod
    def form(self, F: Array) -> Quadratic:
        """Its quadratic."""

    def counts_entries(self, factor: Factor) -> bool:
        """A penalty of degree one does."""
        return self.degree == 1 and factor == self.factor

    def value(self, state: State) -> float:
        """The sum over the columns."""
        return float(self.column_values(state[self.factor]).sum())

    def quadratic(self, state: State, factor: Factor) -> Quadratic | None:
        """Its quadratic, if the factor is its own."""
        return self.form(state[factor]) if factor == self.factor else None

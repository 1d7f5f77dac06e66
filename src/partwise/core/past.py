"""What a stream of batches leaves behind: each term's share of earlier samples, as a function of the components alone.

Let W be the codes with which a batch was left, at components H̃. As a function of H, with these codes fixed, a term is

- a quadratic, with A = XᵀW and B = WᵀW for the squared error: ‖X − W H‖² = ‖X‖² − 2⟨A, Hᵀ⟩ + ⟨B, H Hᵀ⟩;
- or below the majoriser of the multiplicative rules, Σ_e up_e h^e − Σ_e down_e h^e in its derivative, entry by entry
  (`core.forms.Split`): for the Kullback–Leibler divergence P h − N h̃ log h.

Both are linear in what is kept of a batch, so batches add up, and the past may fade by multiplication. What is kept
takes the memory of a few components, whatever the number of samples.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from .forms import Coupling, Quadratic, Split
from .rows import Diagonal
from .state import State
from .term import BoundTerm, Term
from .types import COMPONENTS, Array, Factor, dot64

# Entries below this share of the mean of their component are small.
SMALL = 0.1


@dataclass(frozen=True, eq=False)
class Past(BoundTerm):
    """A term's share of earlier samples, for fixed codes.

    Attributes
    ----------
    name : str
        That of the term, with "before".
    constant : float
        What the components do not change.
    """

    name: str
    constant: float

    factor = COMPONENTS

    @property
    def keeps_zeros(self) -> bool:
        """Whether steps hardly leave zeros of the components: earlier samples are infinitely against it."""
        return False

    @abstractmethod
    def faded(self, share: float) -> Self:
        """The same samples, each counting this much."""

    def seen_from(self, state: State) -> Self:
        """The same samples, with values compared with those at the components of a state."""
        return self

    @abstractmethod
    def plus(self, other: Self) -> Self:
        """Together with other samples of the same term, seen from the same state."""

    @abstractmethod
    def rescaled(self, lengths: Array) -> Self:
        """The same samples, for components divided by these lengths, with codes multiplied by them."""

    def resting(self, Ht: Array) -> Self:
        """Samples as many that have nothing against these components: they are its minimum.

        Only for what multiplicative steps minimise.
        """
        return self

    def for_new(self, state: State) -> Term | None:
        """It concerns the components alone."""
        return None


@dataclass(frozen=True, eq=False)
class QuadraticPast(Past):
    """constant + ⟨B, H Hᵀ⟩ + Σ D_fj h_jf² − 2⟨A, Hᵀ⟩, in float64.

    Attributes
    ----------
    pull : ndarray of shape (n_features, k), optional
        A; None is zero, and so for the others.
    gram : ndarray of shape (k, k), optional
        B.
    own : ndarray of shape (n_features, k), optional
        D.
    """

    pull: Array | None = None
    gram: Array | None = None
    own: Array | None = None

    @classmethod
    def of(cls, term: BoundTerm, state: State) -> QuadraticPast:
        """What the quadratic of a term says about the samples of a state."""
        part, Ht = term.quadratic(state, COMPONENTS), state.Ht.astype(np.float64)
        past = cls(f"{term.name} before", 0.0)
        if part is not None:
            attract, repel = part.linear(lambda: state.product(COMPONENTS))
            pull = None if attract is None else np.array(np.broadcast_to(attract, Ht.shape), np.float64)
            if repel is not None:
                pull = (0.0 if pull is None else pull) - np.broadcast_to(repel, Ht.shape).astype(np.float64)
            past = replace(past, pull=pull)
            for coupling in part.couplings:
                past = past._with(coupling)
        return replace(past, constant=float(term.value(state)) - past._of(Ht))

    def _with(self, coupling: Coupling) -> QuadraticPast:
        """With one more summand."""
        if coupling.rows is None:
            return replace(self, gram=_sum(self.gram, coupling.full_gram.astype(np.float64)))
        if not isinstance(coupling.rows, Diagonal) or coupling.gram.ndim != 1:
            raise NotImplementedError("Features that are linked to each other cannot be kept of a stream.")
        own = np.multiply.outer(coupling.rows.weights.astype(np.float64), coupling.gram.astype(np.float64))
        return replace(self, own=_sum(self.own, own))

    def value(self, state: State) -> float:
        """The quadratic at the components of a state."""
        return self.constant + self._of(state.Ht.astype(np.float64))

    def _of(self, Ht: Array) -> float:
        value = 0.0 if self.gram is None else dot64(self.gram, Ht.T @ Ht)
        if self.own is not None:
            value += dot64(self.own, Ht * Ht)
        return value if self.pull is None else value - 2 * dot64(self.pull, Ht)

    def quadratic(self, state: State, factor: Factor) -> Quadratic | None:
        """Itself, for the components."""
        if factor != COMPONENTS:
            return None
        dtype = state.Ht.dtype
        couplings = [] if self.gram is None else [Coupling(self.gram.astype(dtype))]
        if self.own is not None:
            columns = np.eye(self.own.shape[1], dtype=dtype)
            couplings += [Coupling(one, Diagonal(D)) for one, D in zip(columns, self.own.T.astype(dtype), strict=True)]
        if self.pull is None:
            return Quadratic(couplings=tuple(couplings))
        pull = self.pull.astype(dtype)
        away = np.maximum(-pull, 0) if pull.min(initial=0.0) < 0 else None
        return Quadratic(attract=np.maximum(pull, 0), repel=away, couplings=tuple(couplings))

    def faded(self, share: float) -> QuadraticPast:  # noqa: D102
        pull, gram, own = (None if part is None else share * part for part in (self.pull, self.gram, self.own))
        return QuadraticPast(self.name, share * self.constant, pull, gram, own)

    def plus(self, other: QuadraticPast) -> QuadraticPast:  # noqa: D102
        pairs = (self.pull, other.pull), (self.gram, other.gram), (self.own, other.own)
        return QuadraticPast(self.name, self.constant + other.constant, *(_sum(*pair) for pair in pairs))

    def rescaled(self, lengths: Array) -> QuadraticPast:  # noqa: D102
        pull = None if self.pull is None else self.pull * lengths
        gram = None if self.gram is None else self.gram * np.outer(lengths, lengths)
        own = None if self.own is None else self.own * lengths**2
        return QuadraticPast(self.name, self.constant, pull, gram, own)


@dataclass(frozen=True, eq=False)
class PowerPast(Past):
    """A sum over the entries h of the components whose derivative is up · h^rise + flat − down · h^fall, in float64.

    Its constant is its value at the components `at`, so that values are sums of small differences.

    Attributes
    ----------
    rise, fall : float
    up : ndarray of shape (n_features, k) or (1, k)
    down, at : ndarray of shape (n_features, k)
    flat : ndarray of shape (n_features, k), optional
        The rise of entries that were small: the majoriser would be so steep there that they could never grow again.
    """

    rise: float
    fall: float
    up: Array
    down: Array
    at: Array
    flat: Array | None = None

    offers_quadratic = False

    @property
    def keeps_zeros(self) -> bool:
        """If what pulls an entry up is a share of what it already explains."""
        return self.fall < 0

    @classmethod
    def of(cls, term: BoundTerm, state: State) -> PowerPast:
        """What the majoriser of a term says about the samples of a state."""
        split, Ht = term.split(state, COMPONENTS), state.Ht.astype(np.float64)
        if split is None or len(split.up) != 1 or len(split.down) != 1:
            raise NotImplementedError(f"The term {term.name!r} has no majoriser that can be kept of a stream.")
        ((rise, up),), ((fall, down),) = split.up.items(), split.down.items()
        # Parts belong to powers of new / old; what is kept, to powers of the new entry.
        flat = None
        if rise > 0:
            small = Ht < SMALL * Ht.mean(axis=0)
            up, flat = np.where(small, 0.0, up), np.where(small, up, 0.0)
        up, down = times_power(up, Ht, -rise), times_power(down, Ht, -fall)
        return cls(f"{term.name} before", float(term.value(state)), rise, fall, up, down, Ht, flat)

    def value(self, state: State) -> float:
        """The majoriser at the components of a state."""
        Ht = state.Ht.astype(np.float64)
        rises = dot64(np.broadcast_to(self.up, Ht.shape), _integral(self.at, Ht, self.rise))
        if self.flat is not None:
            rises += dot64(self.flat, Ht - self.at)
        return self.constant + rises - dot64(self.down, _integral(self.at, Ht, self.fall))

    def quadratic(self, state: State, factor: Factor) -> Quadratic | None:
        """It has none."""
        raise NotImplementedError("The majoriser of a divergence is not quadratic.")

    def split(self, state: State, factor: Factor) -> Split | None:
        """Itself, for the components."""
        if factor != COMPONENTS:
            return None
        Ht = state.Ht.astype(np.float64)
        up, down = times_power(self.up, Ht, self.rise), times_power(self.down, Ht, self.fall)
        up, down = (part.astype(state.Ht.dtype) for part in (up, down))
        split = Split({self.rise: up}, {self.fall: down}, quadratic=(self.rise, self.fall) == (1, 0))
        if self.flat is not None:
            split.add("up", 0, self.flat.astype(state.Ht.dtype))
        return split

    def faded(self, share: float) -> PowerPast:  # noqa: D102
        flat = None if self.flat is None else share * self.flat
        return replace(self, constant=share * self.constant, up=share * self.up, down=share * self.down, flat=flat)

    def seen_from(self, state: State) -> PowerPast:  # noqa: D102
        return replace(self, constant=self.value(state), at=state.Ht.astype(np.float64))

    def plus(self, other: PowerPast) -> PowerPast:  # noqa: D102
        up, down = self.up + other.up, self.down + other.down
        flat = _sum(self.flat, other.flat)
        return replace(self, constant=self.constant + other.constant, up=up, down=down, flat=flat)

    def resting(self, Ht: Array) -> PowerPast:  # noqa: D102
        Ht = Ht.astype(np.float64)
        rises = times_power(self.up, Ht, self.rise) + (0.0 if self.flat is None else self.flat)
        return replace(self, down=times_power(np.broadcast_to(rises, Ht.shape), Ht, -self.fall), at=Ht)

    def rescaled(self, lengths: Array) -> PowerPast:  # noqa: D102
        up, down = times_power(self.up, lengths, self.rise + 1), times_power(self.down, lengths, self.fall + 1)
        flat = None if self.flat is None else self.flat * lengths
        return replace(self, up=up, down=down, at=self.at / lengths, flat=flat)


def remembered(term: BoundTerm, state: State) -> Past | None:
    """What to keep of a term for the samples of a state; None if it concerns the components alone."""
    if term.factor == COMPONENTS:
        return None
    return QuadraticPast.of(term, state) if term.offers_quadratic else PowerPast.of(term, state)


def _sum(a: Array | None, b: Array | None) -> Array | None:
    return b if a is None else a if b is None else a + b


def times_power(part: Array, F: Array, exponent: float) -> Array:
    """The part times F to a power, in float64; zero where F is, unless the power is zero.

    Whole and half powers scale exactly by powers of four.
    """
    part = np.asarray(part, np.float64)
    if exponent == 0:
        return part
    if exponent == -1:
        return np.divide(part, F, out=np.zeros(np.broadcast_shapes(part.shape, F.shape)), where=F > 0)
    if 2 * exponent % 1:
        return np.where(F > 0, part * np.where(F > 0, F, 1.0) ** exponent, 0.0)
    for _ in range(int(abs(exponent))):
        part = times_power(part, F, -1) if exponent < 0 else part * F
    if exponent % 1:
        part = times_power(part, np.sqrt(F), -1) if exponent < 0 else part * np.sqrt(F)
    return part


def _integral(low: Array, high: Array, exponent: float) -> Array:
    """∫ h^exponent dh between two arrays, zero where one of them is."""
    if exponent == 0:
        return high - low
    both = (low > 0) & (high > 0)
    if exponent == -1:
        return np.asarray(np.log(np.divide(high, low, out=np.ones_like(low), where=both)))
    one = np.ones(1)
    difference = times_power(one, high, exponent + 1) - times_power(one, low, exponent + 1)
    return np.where(both, difference / (exponent + 1), 0.0)

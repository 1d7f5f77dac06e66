"""The forms of terms that solvers see: a quadratic, one by rows, sums over logarithms or entries, halves of a gradient.

With the other factor fixed, nearly every objective of this family is a non-negative convex quadratic in a factor F::

    q(F) = Σ_t tr(Fᵀ S_t F B_t) − 2 tr(Fᵀ A),   F ≥ 0,   A = A⁺ − A⁻

Terms provide the parts, not their sums, so that each solver can use them as it needs: the coordinate solver adds them
up, the multiplicative one needs the non-negative halves of the gradient.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .counts import Counts
from .rounding import is_resolved
from .rows import Diagonal, RowMatrix
from .squares import Squares
from .tiles import Tile, Tiles
from .types import Array, Factor, dot64


@dataclass(frozen=True)
class Coupling:
    """One summand tr(Fᵀ S F B).

    Attributes
    ----------
    gram : ndarray of shape (k, k) or (k,)
        B, positive semidefinite; one-dimensional if it is diagonal.
    rows : RowMatrix, optional
        S; None is the identity.
    """

    gram: Array
    rows: RowMatrix | None = None

    @property
    def full_gram(self) -> Array:
        """B with all its entries."""
        return np.diag(self.gram) if self.gram.ndim == 1 else self.gram

    @property
    def curvatures(self) -> Array:
        """The diagonal of B: the curvature of each column."""
        return self.gram if self.gram.ndim == 1 else self.gram.diagonal()

    def dot(self, F: Array) -> Array:
        """S F B."""
        FB = F * self.gram if self.gram.ndim == 1 else F @ self.gram
        return FB if self.rows is None else self.rows.dot(FB)

    def column(self, F: Array, j: int) -> Array:
        """Column j of S F B."""
        fb = F[:, [j]] * self.gram[j] if self.gram.ndim == 1 else F @ self.gram[:, [j]]
        return np.asarray(fb if self.rows is None else self.rows.dot(fb))[:, 0]

    def halves(self, F: Array) -> tuple[Array, Array | None]:
        """The non-negative parts of S F B = (S⁺FB⁺ + S⁻FB⁻) − (S⁺FB⁻ + S⁻FB⁺)."""
        up = F if self.rows is None else self.rows.positive(F)
        down = None if self.rows is None else self.rows.negative(F)
        if self.gram.ndim == 1:
            return up * self.gram, None if down is None else down * self.gram
        if self.gram.min() >= 0:
            return up @ self.gram, None if down is None else down @ self.gram
        B_up, B_down = np.maximum(self.gram, 0), np.maximum(-self.gram, 0)
        if down is None:
            return up @ B_up, up @ B_down
        return up @ B_up + down @ B_down, up @ B_down + down @ B_up


@dataclass(frozen=True)
class Quadratic:
    """What one term adds to the quadratic of a factor.

    Attributes
    ----------
    data : float or ndarray of shape (rows,), optional
        The multiple of the data's own pull, `State.product`, in A⁺. It is left out of `attract` because a solver may
        compute it block by block.
    attract, repel : ndarray of shape (rows, k) or broadcastable to it, optional
        The rest of A⁺, and A⁻; both non-negative. (The data's own pull may have either sign, like the data.)
    couplings : tuple of Coupling
    """

    data: float | Array | None = None
    attract: Array | None = None
    repel: Array | None = None
    couplings: tuple[Coupling, ...] = ()

    def linear(self, product: Callable[[], Array]) -> tuple[Array | None, Array | None]:
        """A⁺ and A⁻ in full."""
        attract = self.attract
        if self.data is not None:
            pull = (self.data[:, None] if isinstance(self.data, np.ndarray) else self.data) * product()
            attract = pull if attract is None else attract + pull
        return attract, self.repel

    def value(self, F: Array, product: Callable[[], Array]) -> float:
        """q(F), summed in float64."""
        attract, repel = self.linear(product)
        value = 0.0
        for pull, sign in ((attract, -2.0), (repel, 2.0)):
            if pull is not None:
                value += sign * dot64(np.broadcast_to(pull, F.shape), F)
        for coupling in self.couplings:
            up, down = coupling.halves(F)
            value += dot64(up, F) - (0.0 if down is None else dot64(down, F))
        return value

    @property
    def couples_rows(self) -> bool:
        """Whether a row depends on others."""
        return any(not (each.rows is None or isinstance(each.rows, Diagonal)) for each in self.couplings)

    def uncoupled(self, F: Array) -> Quadratic:
        """A quadratic of every row by itself that lies above this one and touches it at F.

        A link of two rows costs at most what it costs if each goes from where it is towards where the other one was::

            2 s f_i f_t ≤ 2 s (f_i f⁰_t + f⁰_i f_t − f⁰_i f⁰_t) + |s| ((f_i − f⁰_i)² + (f_t − f⁰_t)²)
        """
        attract, repel, couplings = self.attract, self.repel, []
        for each in self.couplings:
            if each.rows is None or isinstance(each.rows, Diagonal):
                couplings.append(each)
                continue
            diagonal, reach = each.rows.diagonal(), each.rows.reach()
            down = each.rows.negative(F)
            towards = (reach[:, None] * F + (0.0 if down is None else down)) * each.curvatures
            away = (each.rows.positive(F) - diagonal[:, None] * F) * each.curvatures
            attract = towards if attract is None else attract + towards
            repel = away if repel is None else repel + away
            couplings.append(Coupling(each.gram, Diagonal(diagonal + reach)))
        return replace(self, attract=attract, repel=repel, couplings=tuple(couplings))

    def of_rows(self, rows: slice) -> Quadratic:
        """The part that belongs to some rows, where none is coupled to others."""

        def cut(part: Array | None) -> Array | None:
            return part if part is None or np.ndim(part) < 2 or len(part) == 1 else part[rows]

        def cut_rows(coupling: Coupling) -> Coupling:
            if coupling.rows is None:
                return coupling
            assert isinstance(coupling.rows, Diagonal)  # no rows are coupled
            return Coupling(coupling.gram, Diagonal(coupling.rows.weights[rows]))

        data = self.data[rows] if isinstance(self.data, np.ndarray) else self.data
        couplings = tuple(map(cut_rows, self.couplings))
        return replace(self, data=data, attract=cut(self.attract), repel=cut(self.repel), couplings=couplings)

    def split(self, F: Array, product: Callable[[], Array]) -> Split:
        """Its gradient in halves."""
        split = Split(quadratic=True)
        attract, _ = self.linear(product)
        if attract is not None and attract.min(initial=0.0) < 0:
            split.add("up", 0, 2 * np.maximum(-attract, 0))
            attract = np.maximum(attract, 0)
        if attract is not None:
            split.add("down", 0, 2 * attract)
        if self.repel is not None:
            split.add("up", 0, 2 * self.repel)
        for coupling in self.couplings:
            up, down = coupling.halves(F)
            split.add("up", 1, 2 * up)
            if down is not None:
                split.add("down", -1, 2 * down)
        return split


@dataclass(frozen=True)
class Logarithmic:
    """A Poisson likelihood in the rows of a factor F, with those of the other factor, G, fixed::

        Σ_i linear_i · f_i − Σ_ip c_ip log(f_i · g_p / x_ip) − Σ_ip c_ip

    With a dispersion it is the likelihood of a negative binomial distribution (`terms.overdispersed`): the linear part
    is then a tangent at the present factors, and the form lies above the term.

    Attributes
    ----------
    counts : Counts
        The entries x_ip and their counts c_ip.
    linear : ndarray of shape (rows, k) or (1, k)
    size : float
        Σ_ip c_ip.
    floor : float
        Far below every f_i · g_p that matters.
    key : hashable
        Under which a state remembers the value.
    dispersion : ndarray, of shape (1, rows of G) or (rows, 1), or empty
    """

    counts: Counts
    linear: Array
    size: float
    floor: float
    key: Hashable
    dispersion: Array = field(default_factory=lambda: np.empty((0, 0)))

    @property
    def is_tangent(self) -> bool:
        """Whether it lies above the term, and must be made anew at the next point."""
        return self.dispersion.size > 0

    def value(self, F: Array, logs: Array) -> float:
        """The value, given Σ_p c_ip log(f_i · g_p / x_ip) of every row."""
        linear = self.linear.astype(np.float64, copy=False)
        if len(linear) == 1:
            mass = float(linear[0] @ F.sum(axis=0, dtype=np.float64))
        else:
            mass = float(np.einsum("ij,ij->", linear, F, dtype=np.float64))
        return max(mass - float(logs.sum()) - self.size, 0.0)


class EntryRows(ABC):
    """Functions d of the entries y of some rows of F Gᵀ.

    Attributes
    ----------
    columns : ndarray of int, shape (rows, width), or None
        Which rows of G belong to the entries, if only some count; None if all do.
    """

    columns: Array | None

    @abstractmethod
    def derive(self, y: Array, slope: Array, bent: Array, firm: Array) -> None:
        """Write the slopes d'(y) and the two curvatures of an :class:`Entrywise`, for y above the floor."""

    @abstractmethod
    def bend(self, y: Array, out: Array) -> None:
        """Write the second derivatives with respect to log y, d''(y) y², which may be negative."""

    @abstractmethod
    def values(self, y: Array) -> Array:
        """Σ d(y) of every row in float64, up to a constant."""


@dataclass(frozen=True)
class Entrywise:
    """A sum of functions d of the entries y = f_i · g_p, each below a bound where it goes from y to y (1 + t), t ≥ −1::

        d(y (1 + t)) ≤ d(y) + d'(y) y t + bent · R(t) + firm · Q(t),   R(t) = ∫₀ᵗ (t − s) (1 + s)^growth ds

    Attributes
    ----------
    tiles : Tiles
        The entries of X.
    make : callable
        Their functions, given a tile.
    growth : float
    slow : float or None
        The growth of Q, from −1 to 0; None if `firm` is zero.
    constant : float
        What is to be added to the sum of all values.
    size : float
        The size of the sums of which the value is the difference.
    floor : float
        Far below every y that matters.
    key : hashable, optional
        Under which a state remembers the value.
    concave : bool
        Whether d is concave where x is zero, so that rows may come near saddle points.
    """

    tiles: Tiles
    make: Callable[[Tile], EntryRows]
    growth: float
    slow: float | None
    constant: float
    size: float
    floor: float
    key: Hashable = None
    concave: bool = False

    def rows(self, factor: Factor, rows: Any) -> EntryRows:
        """Some rows of a factor, chosen by a slice or an array."""
        return self.make(self.tiles.tile(factor, rows))

    def value(self, values: Array) -> float:
        """The value, given those of all rows."""
        total = float(values.sum()) + self.constant
        # Powers that overflow say nothing about the value; no step to there is a decrease.
        return max(total, 0.0) if total > -math.inf else math.inf


@dataclass(frozen=True)
class RowSquares:
    """A squared error in which every row f_i of a factor has its own Gram matrix Q_i::

        total + Σ_i (f_i Q_i f_iᵀ − 2 f_i · b_i)

    Attributes
    ----------
    squares : Squares
        Makes Q and b.
    key : hashable
        Under which the state remembers the value.
    """

    squares: Squares
    key: Hashable

    def value(self, explained: Array, dtype: Any) -> float | None:
        """The value, given 2 f_i · b_i − f_i Q_i f_iᵀ of every row; None if it is lost in rounding errors."""
        whole = self.squares.total
        value = whole - float(explained.sum())
        return value if value > 0 and is_resolved(value, whole, dtype) else None


@dataclass(frozen=True)
class Split:
    """The gradient of a term as P − N, both non-negative, each part with the power of the step it belongs to.

    A multiplicative step finds the ratio r = new / old, entry by entry, at which the slope of a majoriser of the
    objective vanishes. The majorisers of this family have derivatives that are sums of powers of r::

        Σ_e up[e] rᵉ − Σ_e down[e] rᵉ

    At r = 1 this is the gradient. A linear function has e = 0; the convex part of a quadratic e = 1; a link that pulls
    two entries together e = −1; the Kullback–Leibler divergence 0 and −1.

    Attributes
    ----------
    up, down : dict of float to ndarray
        The parts of P and of N by their power.
    quadratic : bool
        The term is a convex quadratic of the factor. If all terms are, N / P is itself a descent step.
    """

    up: dict[float, Array] = field(default_factory=dict)
    down: dict[float, Array] = field(default_factory=dict)
    quadratic: bool = False

    def add(self, side: str, power: float, part: Array) -> None:
        """Add a part to `up` or `down`."""
        parts: dict[float, Array] = getattr(self, side)
        parts[power] = parts[power] + part if power in parts else part

    def halves(self) -> tuple[Array | float, Array | float]:
        """N and P, whatever the powers."""
        return sum(self.down.values(), start=0.0), sum(self.up.values(), start=0.0)


def merge(splits: Iterable[Split]) -> Split:
    """The gradient of a sum of terms."""
    splits = list(splits)
    total = Split(quadratic=all(split.quadratic for split in splits))
    for split in splits:
        for power, part in split.up.items():
            total.add("up", power, part)
        for power, part in split.down.items():
            total.add("down", power, part)
    return total

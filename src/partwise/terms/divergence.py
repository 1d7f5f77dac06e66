"""β-divergences, element weights and missing entries: fits that are computed entry by entry.

For y = W H the divergences are, with Kullback–Leibler at β = 1 and Itakura–Saito at β = 0,

    d(x | y) = (x^β + (β − 1) y^β − β x y^(β−1)) / (β (β − 1))

and twice that at β = 2, so that it is the squared error. Their gradient is P − N with P = y^(β−1) Hᵀ and
N = x y^(β−2) Hᵀ; the powers of the multiplicative step are those of Févotte & Idier (2011).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..core.forms import Entrywise, Quadratic, Split
from ..core.operand import Operand
from ..core.state import State
from ..core.term import BoundTerm, Term
from ..core.tiles import DenseTiles, ListedTiles, Tiles
from ..core.types import CODES, Array, Factor
from ..core.units import Powers, no_function
from .entries import Observed, check_weights, observed_entries
from .powers import entrywise

# Powers up to this one are computed by multiplication.
LARGEST_PRODUCT = 4
# From this share of entries that are not zero on, lists of them do not pay.
MOSTLY_POSITIVE = 0.8
BETAS = {"frobenius": 2.0, "kullback-leibler": 1.0, "itakura-saito": 0.0}


def order(loss: str | float) -> float:
    """The β of a loss given by name or number."""
    if not isinstance(loss, str):
        return float(loss)
    if loss not in BETAS:
        raise ValueError(f"The loss {loss!r} is unknown; give a number or one of {sorted(BETAS)}.")
    return BETAS[loss]


@dataclass(frozen=True, eq=False)
class BetaDivergence(Term):
    """β-divergence Σ_ij v_ij d_β(x_ij | (WH)_ij), times the sample's weight.

    Parameters
    ----------
    beta : float or {"kullback-leibler", "itakura-saito"}
        Order of the divergence. At 0 and below, every entry of X that counts must be positive.
    weights : array or sparse matrix of shape (n_samples, n_features), optional
        Element weights v, non-negative; 0 hides an entry. Default: 1 for every entry that is not missing.
    """

    compares = True
    spreads = True

    beta: float | str = "kullback-leibler"
    weights: Any = None

    def bind(
        self, X: Operand, y: Array | None = None, rng: Any = None, sample_weight: Array | None = None
    ) -> BoundTerm:
        """Check that the divergence is finite on X."""
        from .frobenius import Frobenius
        from .poisson import BoundKullbackLeibler

        beta = order(self.beta)
        if beta == 1:
            return BoundKullbackLeibler(X, sample_weight, self.weights)
        if beta == 2:
            return Frobenius(self.weights).bind(X, sample_weight=sample_weight)
        return BoundDivergence(X, beta, sample_weight, self.weights)

    def needs_entries(self, X: Operand) -> bool:
        """Unless it is the squared error."""
        return self.order != 2 or X.missing is not None or self.weights is not None

    def scoring(self) -> Term:
        """Itself: element weights belong to the training samples."""
        return BetaDivergence(self.beta)

    @property
    def order(self) -> float:
        """β."""
        return order(self.beta)

    def units(self, powers: Powers) -> Mapping[str, float]:
        """It has no parameter with a unit."""
        no_function("weights", self.weights)
        return {}


class Block(NamedTuple):
    """One pass over some rows: the two halves of ∂d/∂y (dense or CSR) and the value."""

    rows: slice
    down: Any
    up: Any
    value: float


class BoundDivergence(BoundTerm):
    """A divergence between the known entries of X and W H, in row blocks; W H is never stored whole."""

    name = "fit"
    offers_quadratic = False
    scale_free = True

    def __init__(self, X: Operand, beta: float, sample_weight: Array | None = None, weights: Any = None):
        self.beta = beta
        self.steep = not 1 <= beta <= 2
        self._unit = 2.0 if beta == 2 else 1.0
        self._sample_weight = sample_weight
        self._weights = check_weights(weights, X)
        self._observed = observed_entries(X, self._weights)
        # Far below every relevant value: keeps x / y finite where W H underflows.
        limits = np.finfo(X.dtype)
        self._floor = X.dtype.type(float(limits.eps) ** 1.5 * X.mean() or float(limits.tiny) ** 0.5)
        self._X = X
        self.offers_entrywise = beta != 2
        # If 0 < β < 1, see below; if β > 2, a bound on how far y may rise would have to be known for every entry.
        self.adds_up = beta <= 0 or 1 <= beta <= 2
        # If β < 1, steps in blocks leave no zero of W H where X is zero, and lead to worse minima.
        self.fits_in_blocks = beta > 1 or self._is_mostly_positive(X)
        if beta <= 0:
            self._refuse_zeros(X)

    def _is_mostly_positive(self, X: Operand) -> bool:
        """Whether few of the entries that count are zero."""
        if self._observed is None:
            return is_mostly_positive(X)
        return bool((self._observed.x > 0).mean() >= MOSTLY_POSITIVE)

    def _refuse_zeros(self, X: Operand) -> None:
        if self._observed is not None:
            zeros = bool((self._observed.x <= 0).any())
        else:
            zeros = any(self._has_zeros(rows, x) for rows, x in X.row_blocks())
        if zeros:
            raise ValueError(
                f"The β-divergence with β = {self.beta:g} is infinite where X is zero. Use β > 0, for example "
                "loss='kullback-leibler', or add a small constant to X."
            )

    def _has_zeros(self, rows: slice, x: Any) -> bool:
        """Whether an entry of some rows that counts is zero."""
        if sp.issparse(x):
            if self._weights is None and x.nnz < x.shape[0] * x.shape[1]:
                return True
            x = x.toarray()
        return bool(((x <= 0) & (self._block_weights(rows, x) > 0)).any())

    @property
    def _key(self) -> tuple[str, BoundDivergence]:
        return "divergence", self

    def value(self, state: State) -> float:
        """The divergence; a solver may know it already. The pass that computes it also serves a step of the codes."""
        return state.recall(self._key, None, lambda: self._evaluate(state, CODES)[0])

    def entrywise(self) -> Entrywise:
        """A sum over entries."""
        # If what is kept named the term, only the garbage collector would free the data of a fit.
        return replace(self._entrywise, key=self._key)

    @cached_property
    def _entrywise(self) -> Entrywise:
        return entrywise(self._tiles, self.beta, float(self._floor))

    @cached_property
    def _tiles(self) -> Tiles:
        """The entries that count."""
        X, s, seen = self._X, self._sample_weight, self._observed
        if seen is None:
            return DenseTiles(X.array, self._weights, s, X.missing is None)
        weighed = seen.weight is not None or s is not None
        return ListedTiles(seen.with_data(seen.x), seen.combined(s) if weighed else None)

    def quadratic(self, state: State, factor: Factor) -> Quadratic | None:
        """It has no quadratic form."""
        raise NotImplementedError("A divergence computed entry by entry has no quadratic form.")

    def split(self, state: State, factor: Factor) -> Split:
        """N and P with the powers that make each step a descent step."""
        _, N, P = self._evaluate(state, factor)
        down, up = min(self.beta - 2, 0.0), max(self.beta - 1, 0.0)
        return Split(up={up: P}, down={down: N}, quadratic=self.beta == 2)

    def for_new(self, state: State) -> Term:
        """New samples count once each, with all entries that are not missing."""
        return BetaDivergence(self.beta)

    def _evaluate(self, state: State, factor: Factor) -> tuple[float, Array, Array]:
        return state.recall(("divergence", self, factor), None, lambda: self._sweep(state, factor))

    def _sweep(self, state: State, factor: Factor) -> tuple[float, Array, Array]:
        F, G = (state.W, state.Ht) if factor == CODES else (state.Ht, state.W)
        N, P = np.zeros_like(F), np.zeros_like(F)
        value = 0.0
        for rows, down, up, part in self._blocks(state, with_value=factor == CODES):
            value += part
            if factor == CODES:
                N[rows], P[rows] = down @ G, up @ G
            else:
                N += down.T @ G[rows]
                P += up.T @ G[rows]
        if self._unit != 1:
            N *= self._unit
            P *= self._unit
        return self._unit * value, N, P

    def _blocks(self, state: State, with_value: bool) -> Iterator[Block]:
        if self._observed is not None:
            yield self._observed_block(self._observed, state, with_value)
            return
        X, m = state.X, state.X.shape[1]
        for rows, x in X.row_blocks(4 * m * X.dtype.itemsize):
            yield self._dense_block(rows, x, state, with_value)

    def _observed_block(self, seen: Observed, state: State, with_value: bool) -> Block:
        """Only the entries of a sparse pattern count."""
        y = np.maximum(seen.products(state.W, state.Ht), self._floor)
        weight = seen.combined(self._sample_weight)
        value = float(np.sum(self._divergence(seen.x, y) * weight, dtype=np.float64)) if with_value else 0.0
        down = seen.with_data(weight * self._down(seen.x, y))
        up = seen.with_data(weight * self._up(seen.x, y))
        return Block(slice(None), down, up, value)

    def _dense_block(self, rows: slice, x: Any, state: State, with_value: bool) -> Block:
        """All entries of some rows count: y is formed for these rows only."""
        y = np.maximum(state.W[rows] @ state.Ht.T, self._floor)
        weight = self._block_weights(rows, x)
        if sp.issparse(x):
            i = np.repeat(np.arange(x.shape[0]), np.diff(x.indptr))
            if state.X.missing == "nan":
                x = sp.csr_array((np.nan_to_num(x.data), x.indices, x.indptr), shape=x.shape)
            at = weight if np.ndim(weight) == 0 else np.broadcast_to(weight, y.shape)[i, x.indices]
            y_at = y[i, x.indices]
            value = 0.0
            if with_value:
                empty = self._divergence(np.zeros_like(y), y) * weight
                extra = (self._divergence(x.data, y_at) - self._divergence(np.zeros_like(y_at), y_at)) * at
                value = float(empty.sum(dtype=np.float64) + extra.sum(dtype=np.float64))
            stored = at * self._down(x.data, y_at)
            down: Any = sp.csr_array((stored, x.indices, x.indptr), shape=x.shape)
            slope = self._up(np.zeros_like(y), y)
            slope[i, x.indices] = self._up(x.data, y_at)
        else:
            if state.X.missing == "nan":
                x = np.where(np.isnan(x), x.dtype.type(0), x)
            value = float(np.sum(self._divergence(x, y) * weight, dtype=np.float64)) if with_value else 0.0
            down = weight * self._down(x, y)
            slope = self._up(x, y)
        return Block(rows, down, weight * slope, value)

    def _block_weights(self, rows: slice, x: Any) -> Any:
        weight: Any = x.dtype.type(1)
        if self._weights is not None:
            weight = self._weights[rows].astype(x.dtype, copy=False)
        if sp.issparse(x):
            unknown = np.isnan(x.data)
            if unknown.any():
                i = np.repeat(np.arange(x.shape[0]), np.diff(x.indptr))
                weight = np.broadcast_to(weight, x.shape).copy()
                weight[i[unknown], x.indices[unknown]] = 0
        elif self._has_nan(x):
            weight = weight * ~np.isnan(x)
        if self._sample_weight is not None:
            weight = weight * self._sample_weight[rows][:, None]
        return weight

    def _down(self, x: Array, y: Array) -> Any:
        """The part of −∂d/∂y that lets y grow."""
        return x * power(y, self.beta - 2)

    def _up(self, x: Array, y: Array) -> Any:
        """The part of ∂d/∂y that lets y shrink."""
        return power(y, self.beta - 1)

    @staticmethod
    def _has_nan(x: Array) -> bool:
        return bool(np.isnan(x.sum()))

    def _divergence(self, x: Array, y: Array) -> Array:
        """d(x | y) per entry, without the factor of β = 2."""
        beta = self.beta
        if beta == 1:
            with np.errstate(divide="ignore", invalid="ignore"):
                logarithm = np.where(x > 0, x * np.log(x / y), 0)
            return np.asarray(logarithm - x + y)
        if beta == 0:
            ratio = np.where(x > 0, x / y, 1)
            return np.asarray(ratio - np.log(ratio) - 1)
        if beta == 2:
            return np.asarray(0.5 * (x - y) ** 2)
        with np.errstate(divide="ignore"):
            own = np.where(x > 0, power(np.where(x > 0, x, 1), beta), 0)
        slope = power(y, beta - 1)
        return np.asarray((own + (beta - 1) * y * slope - beta * x * slope) / (beta * (beta - 1)))


def power(y: Array, exponent: float) -> Any:
    """y > 0 to a power. Whole and half powers use products and roots, which scale exactly by powers of four."""
    whole, half = divmod(abs(exponent), 1)
    if half not in (0, 0.5) or whole > LARGEST_PRODUCT:
        return y ** y.dtype.type(exponent)
    factors = [y] * int(whole) + [np.sqrt(y)] * (half > 0)
    if not factors:
        return np.ones_like(y)
    power = reduce(np.multiply, factors)
    return power if exponent > 0 else 1 / power


def row_potentials(X: Operand, beta: float, unit: float = 1.0) -> Array:
    """The part of Σ_j d(x_ij | y_ij) that does not depend on y, for every sample, in float64.

    A divergence is this potential plus terms linear in x. So the divergences of several samples from one y add up to
    those of their mean plus a constant: the sum of their potentials less that of the mean. Logarithms are taken of
    x / unit, which adds such terms; a unit of the size of X keeps them from swamping the rest.
    """
    if beta == 2:
        return X.row_squared_norms()
    return np.concatenate(X.over_rows(partial(_potentials, beta=beta, unit=unit), 8 * X.shape[1]))


def _potentials(x: Any, beta: float, unit: float) -> Array:
    """The same of some rows."""
    values = (x.data if sp.issparse(x) else x).astype(np.float64)
    known = np.where(values > 0, values, 1.0)
    if beta == 1:
        potential = values * np.log(known / unit)
    elif beta == 0:
        potential = -np.log(known / unit)
    else:
        potential = np.where(values > 0, power(known, beta), 0.0) / (beta * (beta - 1))
    by_row = sp.csr_array((potential, x.indices, x.indptr), shape=x.shape) if sp.issparse(x) else potential
    return np.asarray(by_row.sum(axis=1)).ravel()


def is_mostly_positive(X: Operand) -> bool:
    """Whether few entries are zero. Those that are unknown count as positive."""
    positive = sum(int(np.count_nonzero(x.data if sp.issparse(x) else x)) for _, x in X.row_blocks())
    return positive >= MOSTLY_POSITIVE * X.shape[0] * X.shape[1]

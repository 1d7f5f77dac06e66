"""Newton-like steps on rows whose objective is a sum over the entries of y = F Gᵀ (`core.forms.Entrywise`).

A block of rows at a time, all that grows with the number of entries is a product of matrices or one pass over them. The
curvatures of the entries are nearly a product of a number for each row and a profile for all of them, ρ_i u_p. So the
rows of a block share one Gram matrix, Σ_p u_p g_p g_pᵀ, and coordinate descent for squared errors solves their
quadratic models. Where the curvatures are far from such a product, every row can have its own Gram matrix, which costs
more. The true curvatures then give every row a step length at which it cannot rise (`kernels.safeguards`).

Steps that are repeated until every row has its minimum are bold: their models have the second derivatives themselves,
also where these are below the bounds, and a full step is made where it is seen to gain.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core.forms import EntryRows
from ..core.objective import Objective
from ..core.scratch import Scratch
from ..core.state import State
from ..core.types import OTHER, Array, Factor
from .multilevel import NO_LINKS, Chain
from .systems import system_of

# Passes over the quadratic model, which need not be solved more exactly than it holds; and over that of a bold step.
MODEL_PASSES, BOLD_PASSES = (10, 1e-3), (100, 1e-6)
# Most steps on a row. One whose promise is below this power of the tolerance ends where it falls by less than a tenth.
MOST_STEPS, NEAR, SLOWEST = 100, 0.5, 0.9
# Near a saddle point steps promise little as well: where there may be one, near is nearer.
NEAR_SADDLES = 0.75
# Rows on which steps are repeated together: the last ones that move should share a block.
REPEATED_ROWS = 2048
# Second derivatives count at least as this share of their bounds. A bold step gains at least this share of what it
# promises; rounding errors of a sum are taken to be this many of its own.
LEAST_CURVATURE, LEAST_GAIN, ROUNDED = 0.03, 1e-3, 4
# Columns of which all products of pairs are formed together.
PAIRED_COLUMNS = 512


class EntrySteps:
    """Steps on all rows of one factor, the other one being fixed.

    Parameters
    ----------
    objective : Objective
    state : State
    factor : {"codes", "components"}
    scratch : Scratch
    own_grams : bool, default=False
        Whether every row has its own Gram matrix: better steps, which cost more, and do not depend on other rows.

    Attributes
    ----------
    F : ndarray
        The factor, which the steps improve.
    short : ndarray of bool
        Which rows made a shortened step.
    values : ndarray
        The value of every row, up to a constant, where it was asked for.
    """

    def __init__(
        self, objective: Objective, state: State, factor: Factor, scratch: Scratch, *, own_grams: bool = False
    ):
        self._form = objective.entrywise()
        self._factor = factor
        self._scratch = scratch
        self.F = np.array(state[factor], order="C")
        self._G = np.ascontiguousarray(state[OTHER[factor]])
        self._system = system_of(objective.beside_entrywise, state, factor, closed=True)
        # Another term with a Gram matrix weighs the rows differently, so that they cannot share the sum of both.
        self._has_common = bool(self._system.B.any())
        self._own_grams = own_grams or self._has_common
        self._n_held = objective.domains[factor].n_held(factor)
        self._map_rows = state.X.map_rows
        self.short = np.zeros(len(self.F), bool)
        self.values = np.zeros(len(self.F))

    def make(self, chain: Chain, *, with_values: bool) -> None:
        """One step on every row; rows that are coupled see those before them."""
        level = chain.level(self._system.coupled, self.F.dtype)

        def step(rows: Any) -> None:
            for block in self._blocks(rows, wide=False):
                linked = 0.0 if level is None else self._system.scale * level.pull(block, self.F)
                self._step(block, linked, with_values=with_values)

        if level is None:
            self._map_rows(step, len(self.F))
            return
        for colour in level.colours():
            step(colour)

    def repeat(self, max_steps: int, tolerance: float, gentle: int = 0) -> None:
        """Steps on every row until one promises no more than `tolerance` times the row's curvature.

        A row that is near that and hardly comes nearer, since its system is almost singular, ends there; not one whose
        promises grow, if its objective may be concave. All steps are bold, except that some gentle ones may come first:
        from an arbitrary start they lead to better minima.
        """
        near = tolerance ** (NEAR_SADDLES if self._form.concave else NEAR)

        def repeat(rows: slice) -> None:
            going, last = np.arange(rows.start, rows.stop), np.full(len(self.F), np.inf)
            for turn in range(min(max_steps, MOST_STEPS)):
                left = [going[:0]]
                for block in self._blocks(going, wide=True):
                    promised, size = self._step(block, 0.0, boldly=turn >= gentle)
                    slow = (promised <= near * size) & (promised > SLOWEST * last[block])
                    if self._form.concave:
                        slow &= promised <= last[block]
                    last[block] = promised
                    left.append(block[(promised > tolerance * size) & ~slow])
                going = np.concatenate(left)
                if not len(going):
                    break

        self._map_rows(repeat, len(self.F), REPEATED_ROWS)

    def _blocks(self, rows: Any, *, wide: bool) -> Iterator[Any]:
        return self._form.tiles.blocks(self._factor, rows, self.F.shape[1], wide=wide)

    def _step(self, rows: Any, linked: Any, *, with_values: bool = False, boldly: bool = False) -> tuple[Array, Array]:
        """One step on some rows: the decreases it promises to first order, and the curvatures along the rows.

        A bold one first tries the quadratic model of the second derivatives themselves, which may be far below those of
        the bounds, and evaluates what it gains.
        """
        from ..kernels.safeguards import advance, profile

        F, form = self.F[rows], self._form
        is_firm, slow = form.slow is not None, form.slow or 0.0
        pull = self._of(self._system.push, rows) + linked
        D = self._of(self._system.D, rows)
        entries = form.rows(self._factor, rows)
        # All rows of the other factor, or those that belong to the entries of each row.
        G = self._G if entries.columns is None else self._G[entries.columns]
        shape = len(F), G.shape[-2]
        y, slope, bent = (self._scratch.get(name, shape, F.dtype) for name in ("y", "slope", "bent"))
        firm = self._scratch.get("firm", shape if is_firm else (0, 0), F.dtype)
        respond(F, G, y)
        np.maximum(y, F.dtype.type(form.floor), out=y)
        entries.derive(y, slope, bent, firm)
        size = bent.sum(axis=1, dtype=np.float64) + (firm.sum(axis=1, dtype=np.float64) if is_firm else 0)
        gradient = summed(slope, G)
        sums, shares = np.empty(len(F)), slope
        if boldly:
            profile(self._second(entries, y, bent, firm), firm[:0], y, slow, sums, shares)
        else:
            profile(bent, firm, y, slow, sums, shares)
        # Infinite in float32 where y is at its floor.
        sums = np.minimum(sums, np.finfo(F.dtype).max)
        common = self._of(self._system.weight, rows)[:, None, None] * self._system.B
        passes = BOLD_PASSES if boldly else MODEL_PASSES
        new = self._solved(F, G, gradient, pull, D, 0.5 * sums.astype(F.dtype), shares, size, common, passes)
        # A row whose system is too large for its type stays where it is.
        lost = ~np.isfinite(new).all(axis=1)
        new[lost] = F[lost]
        d = new - F
        penalties = D * F - pull
        held = np.einsum("ij,ij,ij->i", np.broadcast_to(D, d.shape), d, d, dtype=np.float64)
        if self._has_common:
            penalties = penalties + (common @ F[:, :, None])[:, :, 0]
            held += np.einsum("ijl,ij,il->i", np.broadcast_to(common, (len(d), *common.shape[1:])), d, d)
        promised = -np.einsum("ij,ij->i", gradient + 2 * penalties, d, dtype=np.float64)
        z = respond(d, G, self._scratch.get("slope", shape, F.dtype))
        gains = np.zeros(len(F), bool)
        if boldly:
            linear = 2 * np.einsum("ij,ij->i", penalties, d, dtype=np.float64)
            gains = self._gains(entries, y, z, promised, linear + held)
        lengths = np.empty(len(F))
        advance(bent, firm, y, z, promised, held, form.growth, slow, F.dtype.type(form.floor), gains, lengths)
        self.F[rows] = np.where(lengths[:, None] < 1, np.maximum(F + lengths[:, None].astype(F.dtype) * d, 0), new)
        self.short[rows] = lengths < 1
        if with_values:
            self.values[rows] = entries.values(y)
        return promised, size

    def _second(self, entries: EntryRows, y: Array, bent: Array, firm: Array) -> Array:
        """The second derivatives with respect to log y, where they are not far below their bounds."""
        out = self._scratch.get("second", y.shape, y.dtype)
        entries.bend(y, out)
        least = self._scratch.get("least", y.shape, y.dtype)
        np.add(bent, firm, out=least) if len(firm) else np.copyto(least, bent)
        least *= y.dtype.type(LEAST_CURVATURE)
        return np.maximum(out, least, out=out)

    def _gains(self, entries: EntryRows, y: Array, z: Array, promised: Array, penalties: Array) -> Array:
        """Which rows gain a share of what the whole step promises, or lose no more than a rounding error."""
        before = entries.values(y)
        there = np.add(y, z, out=self._scratch.get("second", y.shape, y.dtype))
        change = entries.values(np.maximum(there, y.dtype.type(self._form.floor), out=there)) - before + penalties
        return np.asarray(change <= ROUNDED * np.finfo(y.dtype).eps * np.abs(before) - LEAST_GAIN * promised)

    @staticmethod
    def _of(array: Array, rows: Any) -> Array:
        return array if len(array) == 1 else array[rows]

    def _solved(
        self,
        F: Array,
        G: Array,
        gradient: Array,
        pull: Array,
        D: Array,
        weight: Array,
        shares: Array,
        size: Array,
        common: Array,
        passes: tuple[int, float],
    ) -> Array:
        """The minimum of gradient · d + weight_i dᵀ B d + penalties, for rows f + d ≥ 0."""
        from ..kernels.descent import descend_rows
        from ..kernels.own_grams import descend_own

        k, new = F.shape[1], np.array(F)
        D = np.ascontiguousarray(np.broadcast_to(D, F.shape))
        if not self._own_grams and G.ndim == 2:
            # Rows that are almost empty hardly tell what the others have in common.
            common_shares = (size / max(float(size.sum()), np.finfo(np.float64).tiny)).astype(F.dtype) @ shares
            B = G.T @ (common_shares[:, None] * G)
            A = weight[:, None] * (F @ B) - 0.5 * gradient + pull
            one, zero = np.ones((1, 1), F.dtype), np.zeros((1, k), F.dtype)
            descend_rows(F, A, one, zero, B, weight, D, 0, *passes, False, self._n_held, new)
            return new
        grams = grams_of(shares, G, self._scratch)
        with np.errstate(over="ignore"):
            grams *= weight[:, None, None]
        A = np.einsum("ijl,il->ij", grams, F) - 0.5 * gradient + pull
        grams += common
        links = (*NO_LINKS, np.zeros(0, F.dtype), np.zeros(0, np.intp), np.zeros((0, 0), F.dtype), 0.0)
        zero, explained = np.zeros((1, k), F.dtype), np.empty(len(F))
        descend_own(grams, A, zero, D, zero[0], *links, 0, *passes, self._n_held, new, explained)
        return new


def grams_of(shares: Array, G: Array, scratch: Scratch) -> Array:
    """Σ_p shares_ip g_p g_pᵀ of every row."""
    from ..kernels.own_grams import unpack

    if G.ndim == 3:
        return np.matmul(G.transpose(0, 2, 1) * shares[:, None, :], G)
    grams = np.empty((len(shares), G.shape[1], G.shape[1]), G.dtype)
    unpack(packed_grams(shares, G, scratch), grams)
    return grams


def packed_grams(shares: Array, G: Array, scratch: Scratch) -> Array:
    """The same without what is above the diagonal."""
    from ..kernels.own_grams import pair_products

    if G.ndim == 3:
        return np.asarray(grams_of(shares, G, scratch)[:, *np.tril_indices(G.shape[2])])
    k = G.shape[1]
    packed = np.zeros((len(shares), k * (k + 1) // 2), G.dtype)
    for start in range(0, len(G), PAIRED_COLUMNS):
        some = slice(start, min(start + PAIRED_COLUMNS, len(G)))
        near = scratch.get("pairs", (some.stop - start, packed.shape[1]), G.dtype)
        pair_products(G[some], near)
        packed += shares[:, some] @ near
    return packed


def respond(F: Array, G: Array, out: Array) -> Array:
    """f_i · g_p for all rows of G, or, where every row has its own, for these."""
    if G.ndim == 2:
        return np.matmul(F, G.T, out=out)
    np.matmul(G, F[:, :, None], out=out[:, :, None])
    return out


def summed(slope: Array, G: Array) -> Array:
    """Σ_p slope_ip g_p of every row."""
    return slope @ G if G.ndim == 2 else np.matmul(slope[:, None, :], G)[:, 0]

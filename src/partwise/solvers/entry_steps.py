"""Newton-like steps on rows whose objective is a sum over the entries of y = F Gᵀ (`core.forms.Entrywise`).

A block of rows at a time, all that grows with the number of entries is a product of matrices or one pass over them. The
curvatures of the entries are nearly a product of a number for each row and a profile for all of them, ρ_i u_p. So the
rows of a block share one Gram matrix, Σ_p u_p g_p g_pᵀ, and coordinate descent for squared errors solves their
quadratic models. Where the curvatures are far from such a product, every row can have its own Gram matrix, which costs
more. The true curvatures then give every row a step length at which it cannot rise (`kernels.safeguards`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.objective import Objective
from ..core.scratch import Scratch
from ..core.state import State
from ..core.types import OTHER, Array, Factor
from .multilevel import NO_LINKS, Chain
from .systems import system_of

BLOCK_ROWS = 64
# Passes over the quadratic model, which need not be solved more exactly than it holds.
MODEL_PASSES, MODEL_TOLERANCE = 10, 1e-3
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
        self._system = system_of(objective, state, factor, closed=True)
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
        if level is None:
            self._map_rows(lambda rows: self._step_blocks(rows, with_values), len(self.F))
            return
        for colour in level.colours():
            for start in range(0, len(colour), BLOCK_ROWS):
                rows = colour[start : start + BLOCK_ROWS]
                self._step(rows, self._system.scale * level.pull(rows, self.F), with_values)

    def _step_blocks(self, rows: slice, with_values: bool) -> None:
        for start in range(rows.start, rows.stop, BLOCK_ROWS):
            self._step(slice(start, min(start + BLOCK_ROWS, rows.stop)), 0.0, with_values)

    def repeat(self, max_steps: int, tolerance: float) -> None:
        """Steps on every row until one promises no more than `tolerance` times the row's curvature."""

        def repeat(rows: slice) -> None:
            for start in range(rows.start, rows.stop, BLOCK_ROWS):
                going = np.arange(start, min(start + BLOCK_ROWS, rows.stop))
                for _ in range(max_steps):
                    promised, size = self._step(going, 0.0, False)
                    going = going[promised > tolerance * size]
                    if not len(going):
                        break

        self._map_rows(repeat, len(self.F))

    def _step(self, rows: Any, linked: Any, with_values: bool) -> tuple[Array, Array]:
        """One step on some rows: the decreases it promises to first order, and the curvatures along the rows."""
        from ..kernels.safeguards import advance, profile

        F, G, form = self.F[rows], self._G, self._form
        pull = self._of(self._system.push, rows) + linked
        D = self._of(self._system.D, rows)
        entries, shape = form.rows(self._factor, rows), (len(F), len(G))
        y, slope, bent = (self._scratch.get(name, shape, F.dtype) for name in ("y", "slope", "bent"))
        firm = self._scratch.get("firm", shape if form.is_firm else (0, 0), F.dtype)
        np.matmul(F, G.T, out=y)
        np.maximum(y, F.dtype.type(form.floor), out=y)
        entries.derive(y, slope, bent, firm)
        gradient = slope @ G
        sums, shares = np.empty(len(F)), slope
        profile(bent, firm, y, sums, shares)
        # Infinite in float32 where y is at its floor.
        sums = np.minimum(sums, np.finfo(F.dtype).max)
        common = self._of(self._system.weight, rows)[:, None, None] * self._system.B
        new = self._solved(F, gradient, pull, D, 0.5 * sums.astype(F.dtype), shares, common)
        d = new - F
        penalties = D * F - pull
        held = np.einsum("ij,ij,ij->i", np.broadcast_to(D, d.shape), d, d, dtype=np.float64)
        if self._has_common:
            penalties = penalties + (common @ F[:, :, None])[:, :, 0]
            held += np.einsum("ijl,ij,il->i", np.broadcast_to(common, (len(d), *common.shape[1:])), d, d)
        promised = -np.einsum("ij,ij->i", gradient + 2 * penalties, d, dtype=np.float64)
        z = np.matmul(d, G.T, out=self._scratch.get("slope", shape, F.dtype))
        size = bent.sum(axis=1) + (firm.sum(axis=1) if form.is_firm else 0)
        lengths = np.empty(len(F))
        advance(bent, firm, y, z, promised, held, form.growth, F.dtype.type(form.floor), lengths)
        self.F[rows] = np.where(lengths[:, None] < 1, np.maximum(F + lengths[:, None].astype(F.dtype) * d, 0), new)
        self.short[rows] = lengths < 1
        if with_values:
            self.values[rows] = entries.values(y)
        return promised, size

    @staticmethod
    def _of(array: Array, rows: Any) -> Array:
        return array if len(array) == 1 else array[rows]

    def _solved(
        self, F: Array, gradient: Array, pull: Array, D: Array, weight: Array, shares: Array, common: Array
    ) -> Array:
        """The minimum of gradient · d + weight_i dᵀ B d + penalties, for rows f + d ≥ 0."""
        from ..kernels.descent import descend_rows
        from ..kernels.own_grams import descend_own

        G, k, new = self._G, F.shape[1], np.array(F)
        passes = (MODEL_PASSES, MODEL_TOLERANCE)
        D = np.ascontiguousarray(np.broadcast_to(D, F.shape))
        if not self._own_grams:
            B = G.T @ (shares.mean(axis=0)[:, None] * G)
            A = weight[:, None] * (F @ B) - 0.5 * gradient + pull
            one, zero = np.ones((1, 1), F.dtype), np.zeros((1, k), F.dtype)
            descend_rows(F, A, one, zero, B, weight, D, 0, *passes, False, self._n_held, new)
            return new
        grams = self._grams(shares)
        grams *= weight[:, None, None]
        A = np.einsum("ijl,il->ij", grams, F) - 0.5 * gradient + pull
        grams += common
        links = (*NO_LINKS, np.zeros(0, F.dtype), np.zeros(0, np.intp), np.zeros((0, 0), F.dtype), 0.0)
        zero, explained = np.zeros((1, k), F.dtype), np.empty(len(F))
        descend_own(grams, A, zero, D, zero[0], *links, 0, *passes, self._n_held, new, explained)
        return new

    def _grams(self, shares: Array) -> Array:
        """Σ_p shares_ip g_p g_pᵀ of every row."""
        from ..kernels.own_grams import pair_products, unpack

        G, k = self._G, self._G.shape[1]
        packed = np.zeros((len(shares), k * (k + 1) // 2), G.dtype)
        for start in range(0, len(G), PAIRED_COLUMNS):
            some = slice(start, min(start + PAIRED_COLUMNS, len(G)))
            near = self._scratch.get("pairs", (some.stop - start, packed.shape[1]), G.dtype)
            pair_products(G[some], near)
            packed += shares[:, some] @ near
        grams = np.empty((len(shares), k, k), G.dtype)
        unpack(packed, grams)
        return grams

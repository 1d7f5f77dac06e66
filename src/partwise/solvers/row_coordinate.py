"""Coordinate descent where every row has its own Gram matrix: entries that are missing or weighted.

One term is a squared error by rows (`core.forms.RowSquares`), the others are quadratic. A block of rows at a time gets
its Gram matrices, and every row is brought close to its minimum by several passes (`kernels.own_grams`). Both factors
are extrapolated as by coordinate descent with a common Gram matrix.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..core.objective import Objective
from ..core.squares import GramRows
from ..core.state import State
from ..core.types import CODES, COMPONENTS, Array, Factor
from .coordinate import MAX_PASSES, PASS_TOLERANCE
from .extrapolation import Extrapolating
from .multilevel import Chain
from .steps import Steps, wanted
from .systems import RowSystem, system_of

# The first sweeps decide in which minimum a run ends, see `solvers.coordinate`. Fewer and longer ones do as well here,
# where a Gram matrix costs more than a pass.
GENTLE_SWEEPS, GENTLE_PASSES = 2, 2
# Coupled rows are visited this often in a sweep, if their Gram matrices can be kept for that long.
VISITS = 4
# Gram matrices that are kept take at most this many bytes.
KEPT_BYTES = 64 * 2**20


class RowCoordinate(Extrapolating):
    """The default solver where one term is a squared error by rows and all others are quadratic.

    Parameters
    ----------
    objective : Objective
    """

    name = "coordinate"
    remembers = (*Extrapolating.remembers, "_is_coupled")

    def __init__(self, objective: Objective):
        super().__init__(objective)
        # Whether rows are coupled, which the first sweep shows.
        self._is_coupled = False
        self._chain = Chain()

    def _is_gentle(self, sweep: int) -> bool:
        return sweep <= GENTLE_SWEEPS and not self._is_coupled

    @property
    def _passes(self) -> int:
        return GENTLE_PASSES if self._is_gentle(self._sweeps) else MAX_PASSES

    def _code(self, state: State, beta: float) -> Steps[tuple[State, Array]]:
        yield wanted(self._objective, state, CODES)
        W, _ = self._swept(state, CODES, self._passes, PASS_TOLERANCE)
        if not beta:
            return state.replace(CODES, W), W
        return state.replace(CODES, self._extrapolated(W, self._last[CODES], beta, np.empty_like(W))), W

    def _improve_components(self, state: State) -> Steps[State]:
        yield wanted(self._objective, state, COMPONENTS)
        Ht, explained = self._swept(state, COMPONENTS, self._passes, PASS_TOLERANCE)
        form = self._objective.row_squares()
        new, value = state.replace(COMPONENTS, Ht), form.value(explained, Ht.dtype)
        if value is not None:
            new.remember(form.key, None, value)
        return new

    def _size(self, state: State) -> float:
        return self._objective.row_squares().squares.total

    def _swept(self, state: State, factor: Factor, max_passes: int, tolerance: float) -> tuple[Array, Array]:
        """A better factor given the other one, and how much of the data each of its rows explains."""
        F = np.array(state[factor], order="C")
        explained = np.empty(len(F))
        system = system_of(self._objective, state, factor, closed=True)
        blocks = self._objective.row_squares().squares.blocks(state, factor)
        links = self._chain.of(system.coupled, F)
        n_held = self._objective.domains[factor].n_held(factor)

        def descend(parts: Iterable[GramRows]) -> None:
            from ..kernels.own_grams import descend_own

            for part in parts:
                given = (_with_common(part, system), part.pulls, system.push, system.D, system.scale, *links)
                descend_own(*given, part.rows.start, max_passes, tolerance, n_held, F, explained[part.rows])

        if not system.coupled:
            state.X.map_rows(lambda rows: descend(blocks(rows)), len(F))
            return F, explained
        # Every row sees those before it.
        self._is_coupled = True
        parts = blocks(slice(0, len(F)))
        if F.nbytes * F.shape[1] > KEPT_BYTES:
            descend(parts)
        else:
            kept = [part.kept() for part in parts]
            for _ in range(VISITS):
                descend(kept)
        return F, explained

    def code(self, state: State, max_passes: int, tolerance: float) -> Array:
        """Codes for fixed components, each row until its own passes gain nothing more."""
        return self._swept(state, CODES, max_passes, tolerance)[0]


def _with_common(part: GramRows, system: RowSystem) -> Array:
    """The Gram matrices of some rows, including what other terms add to those of all rows."""
    if not system.B.any():
        return part.grams
    weight = system.weight if len(system.weight) == 1 else system.weight[part.rows]
    return part.grams + weight[:, None, None] * system.B

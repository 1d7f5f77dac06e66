"""Coordinate descent with extrapolation: exact zeros, and far fewer products than the multiplicative rules.

A sweep costs two products with X. Between them, several cheap passes of coordinate descent bring each factor close to
its minimum for the other (`kernels.descent`). Both factors are then extrapolated (`solvers.extrapolation`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..core.objective import Objective
from ..core.row_pass import RowPass
from ..core.rows import RowMatrix
from ..core.scratch import Scratch, short_lived
from ..core.state import State
from ..core.types import CODES, COMPONENTS, Array, Factor
from .extrapolation import Extrapolating
from .multilevel import Level
from .spread_aggregates import SpreadAggregates
from .steps import Coding, Steps, answered, wanted
from .systems import STIFF, RowSystem, assemble, close

MAX_PASSES = 8
# The first sweeps decide in which minimum a run ends. Gentle ones, a single pass each and no extrapolation, lead to
# better minima than solving for each factor against an arbitrary start. Not so where samples are coupled: one pass
# would carry information over only one link. A term that lies below its quadratic makes small steps anyway.
GENTLE_SWEEPS = 4
# Passes on a few rows end when one gains less than this share of the first.
PASS_TOLERANCE = 1e-2
# Parts of coupled rows on workers move twice in a sweep, by so many passes each time, and learn in between where the
# others have gone. Once is not enough to end where a fit in memory does after as many sweeps.
PASSES_IN_PARTS = 2, 4
# Steps on a factor with one quadratic after the other end when one is this much smaller than the first, in squares.
TANGENT_TOLERANCE = 0.1


class Coordinate(Extrapolating):
    """The default solver wherever every term has a quadratic form.

    Parameters
    ----------
    objective : Objective
    """

    name = "coordinate"
    remembers = (*Extrapolating.remembers, "_is_coupled")

    def __init__(self, objective: Objective):
        super().__init__(objective)
        # Whether rows are coupled, which the first sweep shows; the coupled rows and their aggregates, and the matrices
        # they were built from.
        self._is_coupled = False
        self._coupled: tuple[RowMatrix, ...] = ()
        self._level: Level | None = None
        self._spread_level: SpreadAggregates | None = None

    def begin_sweep(self) -> None:
        """Count a sweep, for solvers with their own step for one factor: the first sweeps are gentle."""
        self._sweeps += 1

    def improve(self, state: State, factor: Factor) -> State:
        """The state with one factor improved, for such solvers."""
        return answered(self._code(state, 0.0))[0] if factor == CODES else answered(self._improve_components(state))

    def _is_gentle(self, sweep: int) -> bool:
        return sweep <= GENTLE_SWEEPS and not (self._is_coupled or self._objective.majorised)

    @property
    def _passes(self) -> int:
        return 1 if self._is_gentle(self._sweeps) else MAX_PASSES

    def _code(self, state: State, beta: float) -> Steps[tuple[State, Array]]:
        """New codes, extrapolated by beta, as a state; and the codes before extrapolation."""

        def code(state: State) -> Steps[State]:
            return (yield from self._code_once(state, 0.0))[0]

        state = yield from self._by_tangents(state, CODES, code)
        return (yield from self._code_once(state, beta))

    def _by_tangents(self, state: State, factor: Factor, step: Callable[[State], Steps[State]]) -> Steps[State]:
        """All steps on a factor but the last, where a term lies far below its quadratic."""
        first = np.inf
        for _ in range(self._objective.n_tangents - 1):
            before = state[factor]
            state = yield from step(state)
            moved = float(np.sum((state[factor] - before) ** 2))
            first = min(first, moved)
            if moved <= TANGENT_TOLERANCE * first:
                break
        return state

    def _code_once(self, state: State, beta: float) -> Steps[tuple[State, Array]]:
        system = self._system(state, CODES)
        last, passes = self._last.get(CODES) if beta else None, self._passes
        links = tuple(S for S in system.coupled if S.spread)
        if (system.coupled or not system.data.any()) and not links:
            yield wanted(self._objective, state, CODES)
            W = self._descend(system, state, CODES, passes)
            return state.replace(CODES, W if last is None else self._extrapolated(W, last, beta, np.empty_like(W))), W
        self._is_coupled = self._is_coupled or bool(links)
        system, names, parts = system.apart()
        across = any(S.across for S in links)
        passes = PASSES_IN_PARTS[-1] if across else passes
        descent = _Descent(replace(system, coupled=()), passes, None if last is None else beta, self.least_share, names)
        run = RowPass(
            descent,
            (*((state.W,) if last is None else (state.W, last)), *parts),
            lambda: self._memory(state, last),
            links,
            (replace(descent, beta=None, passes=PASSES_IN_PARTS[0]),) if across else (),
            self._aggregates(links, system) if across and not names else None,
        )
        coding = Coding(state, run)
        yield [coding]
        return state.with_codes(run.results[-1], coding.pull, coding.gram), run.results[0]

    def _aggregates(self, links: tuple[Any, ...], system: RowSystem) -> SpreadAggregates | None:
        """What spans blocks on workers and is moved as a whole, where links outweigh the data."""
        if any(S.off is None for S in links):
            return None
        stiffness = sum(float(S.diagonal().mean()) for S in links) * float(system.scale.mean())
        if stiffness <= STIFF * float(system.weight.mean()) * float(np.diag(system.B).mean()):
            return None
        if self._spread_level is None:
            self._spread_level = SpreadAggregates(sum((S.off for S in links[1:]), start=links[0].off))
        return self._spread_level

    def _improve_components(self, state: State) -> Steps[State]:
        state = yield from self._by_tangents(state, COMPONENTS, self._improve_components_once)
        return (yield from self._improve_components_once(state))

    def _improve_components_once(self, state: State) -> Steps[State]:
        yield wanted(self._objective, state, COMPONENTS)
        return state.replace(COMPONENTS, self.descend(state, COMPONENTS, self._passes))

    def _size(self, state: State) -> float:
        return state.X.squared_norm

    def descend(self, state: State, factor: Factor, passes: int) -> Array:
        """A better factor given the other one, by some passes over its rows."""
        return self._descend(self._system(state, factor), state, factor, passes)

    def _system(self, state: State, factor: Factor) -> RowSystem:
        domain, F = self._objective.domains[factor], state[factor]
        system = assemble(self._objective.quadratics(state, factor), F, domain.n_held(factor))
        close(system, domain, F, factor)
        return system

    def _descend(self, system: RowSystem, state: State, factor: Factor, passes: int) -> Array:
        F, product = state[factor], _pull(system, state, factor)
        if system.coupled:
            if system.n_held:
                raise NotImplementedError("Coordinate descent on coupled rows moves all columns.")
            return self._descend_coupled(system, F, product, passes)
        better = np.empty_like(F)

        def descend(rows: slice) -> None:
            given = (rows, F[rows], product[rows], passes, PASS_TOLERANCE)
            system.descend_rows(*given, jointly=True, out=better[rows])

        state.X.map_rows(descend, len(F))
        return better

    def _descend_coupled(self, system: RowSystem, F: Array, product: Array, passes: int) -> Array:
        if self._level is None or self._coupled != system.coupled:
            self._coupled, self._level = system.coupled, Level.of(system.coupled, F.dtype)
            self._is_coupled = True
        F = np.array(F, order="C")
        system.descend_all(self._level, F, product, passes, PASS_TOLERANCE)
        return F

    def code(self, state: State, max_passes: int, tolerance: float) -> Array:
        """Codes for fixed components, each row until its own passes gain nothing more."""
        if not self._objective.majorised:
            return self._coded(state, max_passes, tolerance)
        for _ in range(-(-max_passes // MAX_PASSES)):
            W = self._coded(state, MAX_PASSES, tolerance)
            change = np.abs(W - state.W).max(axis=1)
            state = state.replace(CODES, W)
            # A step is as small as the root of what it gains.
            if (change <= tolerance**0.5 * W.max(axis=1)).all():
                break
        return state.W

    def _coded(self, state: State, max_passes: int, tolerance: float) -> Array:
        system = self._system(state, CODES)
        W, product = np.empty_like(state.W), _pull(system, state, CODES)

        def code_rows(rows: slice) -> None:
            given = (rows, state.W[rows], product[rows], max_passes, tolerance)
            system.descend_rows(*given, jointly=False, out=W[rows])

        state.X.map_rows(code_rows, len(W))
        return W


@dataclass(frozen=True)
class _Descent:
    """Passes over a block of rows, and a step further in the same direction.

    Attributes
    ----------
    system : RowSystem
    passes : int
    beta : float or None
        How far to extrapolate; None: not at all.
    least_share : float
        An extrapolated entry keeps at least this share of its value.
    with_rows : tuple of str
        The parts of the system that are given with the rows.
    """

    system: RowSystem
    passes: int
    beta: float | None
    least_share: float
    with_rows: tuple[str, ...] = ()

    @property
    def n_results(self) -> int:
        """The codes before and after extrapolation."""
        return 1 if self.beta is None else 2

    def __call__(self, rows: slice, product: Array, given: tuple[Array, ...], out: tuple[Array, ...]) -> Array:
        """The codes to start from, and those of the last sweep, are given."""
        from ..kernels.descent import step_further

        # Memory for the first result may be that of the last codes, which are still to be read.
        F = out[0] if self.beta is None else short_lived("codes", product.shape, out[0].dtype)
        system, rows = self._complete(rows, given)
        system.descend_rows(rows, given[0], product, self.passes, PASS_TOLERANCE, jointly=True, out=F)
        if self.beta is None:
            return F
        step_further(F, given[1], self.beta, self.least_share, out[1])
        out[0][:] = F
        return out[1]

    def whole(
        self, product: Array, given: tuple[Array, ...], links: list[tuple[Any, Any]], scratch: Scratch
    ) -> tuple[Array, ...]:
        """Links to other blocks are bounded at the codes to start from, so that these rows are coupled only inside."""
        from ..kernels.descent import step_further

        # All results are one piece of memory, which has larger pages.
        found = np.empty((self.n_results, *given[0].shape), given[0].dtype)
        F, (whole, _) = found[0], self._complete(slice(0, len(given[0])), given)
        F[:] = given[0]
        push, scale = whole.push, whole.scale
        across = any(others is not None for _, others in links)
        D, stiffness = (scratch.get(name, F.shape, F.dtype) for name in ("D", "stiffness"))
        D[:] = whole.D
        for part, others in links:
            D += np.multiply(part.stiffness[:, None], scale, out=stiffness)
            if across:
                push = push + scale * part.pull(F, others)
        system = replace(whole, D=D, push=push)
        level = links[0][0].kept("level", lambda: Level.of([part.inside for part, _ in links], F.dtype))
        # Blocks that move at the same time should not go far before they learn of each other.
        cycles = 1 if across else None
        system.descend_all(level, F, product, self.passes, PASS_TOLERANCE, cycles=cycles, scratch=scratch)
        if self.beta is not None:
            step_further(F, given[1], self.beta, self.least_share, found[1])
        return tuple(found)

    def _complete(self, rows: slice, given: tuple[Array, ...]) -> tuple[RowSystem, slice]:
        """The system of some rows with the parts given for them, and where these rows are in it."""
        if not self.with_rows:
            return self.system, rows
        own = dict(zip(self.with_rows, given[-len(self.with_rows) :], strict=True))
        return self.system.of(rows).having(own), slice(0, rows.stop - rows.start)

    def of(self, rows: slice) -> _Descent:
        """The same on some of the rows."""
        return replace(self, system=self.system.of(rows))


def _pull(system: RowSystem, state: State, factor: Factor) -> Array:
    """The data's pull on a factor; if no term needs it, zeros save a product with X."""
    return state.product(factor) if system.data.any() else np.zeros_like(state[factor])

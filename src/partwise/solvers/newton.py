"""Newton steps on the rows of a Poisson likelihood, with extrapolation: counts at the speed of squared errors.

One term is a sum of logarithms (`core.forms.Logarithmic`), the others are quadratic. Every row of a factor makes one
Newton step on its own small system, of a length at which it provably cannot rise (`kernels.logarithms`). Both factors
are extrapolated as by coordinate descent.

The first sweeps decide in which minimum a run ends; multiplicative ones, which are slow and treat all entries equally,
lead to better minima.
"""

from __future__ import annotations

import numpy as np

from ..core.objective import Objective
from ..core.state import State
from ..core.types import CODES, COMPONENTS, OTHER, Array, Factor
from .extrapolation import Extrapolating
from .multilevel import Chain
from .multiplicative import Multiplicative
from .point import Point
from .systems import assemble

GENTLE_SWEEPS = 10
# An extrapolated entry keeps this share of its value. At zero a logarithm would be infinite.
LEAST_SHARE = 0.1


class Newton(Extrapolating):
    """The default solver where one term is a sum of logarithms and all others are quadratic.

    Parameters
    ----------
    objective : Objective
    """

    name = "newton"
    least_share = LEAST_SHARE

    def __init__(self, objective: Objective):
        super().__init__(objective)
        self._rules = Multiplicative(objective)
        self._chain = Chain()

    def prepare(self, state: State) -> State:
        """Lift zeros of the start, at which logarithms may be infinite."""
        return self._rules.prepare(state)

    def sweep(self, point: Point) -> Point:
        """Multiplicative at first, then extrapolated Newton steps."""
        if self._sweeps < GENTLE_SWEEPS:
            self._sweeps += 1
            return self._rules.sweep(point)
        return super().sweep(point)

    def _code(self, state: State, beta: float) -> tuple[State, Array]:
        W, _ = self._stepped(state, CODES)
        if not beta:
            return state.replace(CODES, W), W
        return state.replace(CODES, self._extrapolated(W, self._last[CODES], beta, np.empty_like(W))), W

    def _improve_components(self, state: State) -> State:
        Ht, logs = self._stepped(state, COMPONENTS)
        form = self._objective.logarithmic(state, COMPONENTS)
        new = state.replace(COMPONENTS, Ht)
        new.remember(form.key, None, form.value(Ht, logs))
        return new

    def _size(self, state: State) -> float:
        return self._objective.logarithmic(state, CODES).total

    def _stepped(self, state: State, factor: Factor, max_steps: int = 1, tolerance: float = 0.0) -> tuple[Array, Array]:
        """A better factor given the other one, and the sum of the logarithms of every row at it."""
        from ..kernels.logarithms import newton_rows

        form = self._objective.logarithmic(state, factor)
        F, G = np.array(state[factor], order="C"), np.ascontiguousarray(state[OTHER[factor]])
        system = assemble(self._objective.quadratics(state, factor), F)
        pull = system.push if not system.data.any() else system.pull(state.product(factor))
        linear = np.ascontiguousarray(form.linear - 2 * pull)
        links, logs = self._chain.of(system.coupled, F), np.empty(len(F))
        n_held = self._objective.domains[factor].n_held(factor)

        def step(rows: slice) -> None:
            for block in form.counts.blocks(factor, rows):
                first = block.rows.start
                given = (G, linear, system.D, form.floor, system.scale, *links, first, max_steps, tolerance, n_held)
                newton_rows(*block.entries, *given, F, logs[block.rows])

        if system.coupled:
            step(slice(0, len(F)))  # every row sees those before it
        else:
            state.X.map_rows(step, len(F))
        return F, logs

    def code(self, state: State, max_passes: int, tolerance: float) -> Array:
        """Codes for fixed components, each row until its own steps gain nothing more."""
        return self._stepped(state, CODES, max_passes, tolerance)[0]

"""Newton steps on the rows of a divergence, with extrapolation: other losses at the speed of squared errors.

One term is a sum of logarithms (`core.forms.Logarithmic`) or of functions of single entries (`core.forms.Entrywise`),
the others are quadratic. Every row of a factor makes one Newton step, of a length at which it provably cannot rise: on
its own small system (`kernels.logarithms`), or in blocks of rows (`solvers.entry_steps`), which share one Gram matrix
for as long as their steps need not be shortened. Both factors are extrapolated as by coordinate descent. Rows that sum
to one stay on their simplex; components that sum to one are found as if they were free, with codes stretched by their
sums.

The first sweeps decide in which minimum a run ends; multiplicative ones, which are slow and treat all entries equally,
lead to better minima (`solvers.gentle`). Codes that a graph ties to each other move together (`solvers.tied_rows`).
"""

from __future__ import annotations

import numpy as np

from ..core.domains import NON_NEGATIVE, Simplex
from ..core.fixed import Fixed, rest_of
from ..core.forms import Coupling, Entrywise, Logarithmic, Quadratic
from ..core.objective import Objective
from ..core.rows import Cliques, Diagonal
from ..core.scratch import Scratch
from ..core.state import State
from ..core.types import CODES, COMPONENTS, OTHER, Array, Factor
from .entry_steps import EntrySteps
from .extrapolation import Extrapolating
from .gentle import HASTE, Gentle
from .multilevel import Chain
from .multiplicative import Multiplicative
from .point import Point
from .steps import Steps, wanted
from .systems import RowSystem, assemble, system_of
from .tied_rows import moved_together, tightness

# Multiplicative sweeps at first; those that go further count as several.
GENTLE_SWEEPS = 10
# If a larger share of the steps with shared Gram matrices must be shortened, every row gets its own from then on.
MOST_SHORT = 0.1
# An extrapolated entry keeps this share of its value: at zero a logarithm would be infinite. Rows with systems of their
# own gain by more.
LEAST_SHARE, LEAST_SHARE_IN_ROWS = 0.1, 0.5
# From this tightness on codes are tied to each other, and move together from the first sweep on: gentle sweeps hardly
# move them, and minima are no better for it.
STIFF = 0.5


def is_swept(objective: Objective) -> bool:
    """Whether factors are non-negative, perhaps with zeros in known places or the first components fixed.

    The fastest solvers sweep these.
    """
    codes, components = objective.domains[CODES], objective.domains[COMPONENTS]
    if isinstance(components, Fixed) and (components.where is None or components.is_mask):
        components = components.rest
    if isinstance(codes, Fixed) and codes.is_mask:
        codes = codes.rest
    return codes == components == NON_NEGATIVE


def is_free(objective: Objective) -> bool:
    """Whether both factors are non-negative and nothing else is asked of them."""
    return all(domain == NON_NEGATIVE for domain in objective.domains.values())


def steps_in_blocks(objective: Objective) -> bool:
    """Whether blocks of rows make the steps."""
    fits = any(term.fits_in_blocks for term in objective.terms if term.offers_entrywise)
    return fits and objective.has_entrywise and is_swept(objective)


def keeps_domains(objective: Objective) -> bool:
    """Whether steps on a sum of logarithms keep the factors in their domains, given that multiplicative ones do.

    Components that sum to one leave their scale to the codes, so these must be free to take it, and nothing else may
    depend on the components.
    """
    if not objective.has_logarithms:
        return False
    if not isinstance(rest_of(objective.domains[COMPONENTS]), Simplex):
        return True
    return objective.domains[CODES] == NON_NEGATIVE and all(
        term.offers_logarithms or term.factor == CODES for term in objective.terms
    )


class Newton(Extrapolating):
    """The default solver where one term is a sum of logarithms or over entries, and all others are quadratic.

    Parameters
    ----------
    objective : Objective
    """

    name = "newton"
    sums_entries = True
    remembers = (*Extrapolating.remembers, "_own_grams")

    def __init__(self, objective: Objective):
        super().__init__(objective)
        self._rules = Multiplicative(objective)
        self._gentle = Gentle(objective) if objective.has_logarithms and is_free(objective) else None
        self._chain = Chain()
        self._on_simplex = isinstance(rest_of(objective.domains[COMPONENTS]), Simplex)
        # S of the squared sums of the components.
        self._together: Cliques | None = None
        self._in_blocks = steps_in_blocks(objective)
        self.least_share = LEAST_SHARE if self._in_blocks else LEAST_SHARE_IN_ROWS
        self._own_grams = False
        self._scratch = Scratch()

    def prepare(self, state: State) -> State:
        """Lift zeros of the start, at which logarithms may be infinite."""
        return self._rules.prepare(state)

    def steps(self, point: Point) -> Steps[Point]:
        """Multiplicative at first, unless codes are tied closely; then extrapolated Newton steps."""
        if self._sweeps < GENTLE_SWEEPS and (self._in_blocks or tightness(self._objective, point.state) <= STIFF):
            return (yield from self._first(point))
        self._sweeps = max(self._sweeps, GENTLE_SWEEPS)
        return (yield from super().steps(point))

    def _first(self, point: Point) -> Steps[Point]:
        """An ordinary multiplicative sweep finds the scale; others go further, if they fall."""
        if self._gentle is not None and self._sweeps > 0:
            new = yield from self._gentle.steps(point)
            if new is not point:
                self._sweeps += HASTE
                return new
        self._sweeps += 1
        return (yield from self._rules.steps(point))

    def _code(self, state: State, beta: float) -> Steps[tuple[State, Array]]:
        yield wanted(self._objective, state, CODES)
        W = None if self._in_blocks else moved_together(self._objective, state, self._chain, self._scratch)
        if W is None:
            W, _ = self._stepped(state, CODES)
        if not beta:
            return state.replace(CODES, W), W
        ahead = self._extrapolated(W, self._last[CODES], beta, np.empty_like(W))
        return state.replace(CODES, self._objective.domains[CODES].entered(ahead, CODES)[0]), W

    def _improve_components(self, state: State) -> Steps[State]:
        yield wanted(self._objective, state, COMPONENTS)
        Ht, value = self._stepped(state, COMPONENTS)
        form = self._form(state)
        if self._on_simplex:
            Ht, lengths = self._objective.domains[COMPONENTS].entered(Ht, COMPONENTS)
            state = state.replace(CODES, state.W * lengths)
        new = state.replace(COMPONENTS, Ht)
        if not (isinstance(form, Logarithmic) and form.is_tangent):
            new.remember(form.key, None, value)
        return new

    def _size(self, state: State) -> float:
        return self._form(state).size

    def _form(self, state: State) -> Entrywise | Logarithmic:
        return self._objective.entrywise() if self._in_blocks else self._objective.logarithmic(state, COMPONENTS)

    def _stepped(self, state: State, factor: Factor) -> tuple[Array, float]:
        """A better factor given the other one, and the value of the divergence there, if it is the components."""
        if not self._in_blocks:
            F, logs = self._stepped_rows(state, factor)
            return F, self._objective.logarithmic(state, factor).value(F, logs)
        steps = EntrySteps(self._objective, state, factor, self._scratch, own_grams=self._own_grams)
        steps.make(self._chain, with_values=factor == COMPONENTS)
        self._own_grams = self._own_grams or bool(steps.short.mean() > MOST_SHORT)
        return steps.F, self._objective.entrywise().value(steps.values)

    def _stepped_rows(
        self, state: State, factor: Factor, max_steps: int = 1, tolerance: float = 0.0
    ) -> tuple[Array, Array]:
        """A better factor given the other one, and the sum of the logarithms of every row at it."""
        from ..kernels.logarithms import newton_rows

        form = self._objective.logarithmic(state, factor)
        F, G = np.array(state[factor], order="C"), np.ascontiguousarray(state[OTHER[factor]])
        stretching = factor == COMPONENTS and self._on_simplex
        system = self._stretched(state) if stretching else system_of(self._objective, state, factor)
        linear = np.ascontiguousarray(form.linear - 2 * system.push, F.dtype)
        # Only the logarithms of the components are of use: those of a sweep's end.
        links, logs = self._chain.of(system.coupled, F), np.empty(len(F) if factor == COMPONENTS else 0)
        domain = self._objective.domains[factor]
        held, keeps_sum = domain.held(F, factor), isinstance(domain, Simplex) and not stretching
        how = (held, keeps_sum, form.dispersion, system.B if system.B.any() else system.B[:0], system.weight)

        def step(rows: slice) -> None:
            for block in form.counts.blocks(factor, rows):
                first = block.rows.start
                given = (G, linear, system.D, form.floor, system.scale, *links, first, max_steps, tolerance)
                newton_rows(*block.entries, *given, *how, F, logs[block.rows])

        if system.coupled:
            step(slice(0, len(F)))  # every row sees those before it
        else:
            state.X.map_rows(step, len(F))
        return F, logs

    def _stretched(self, state: State) -> RowSystem:
        """Components that sum to one as if they were free: codes are stretched by their sums c_j.

        The product W H does not change. Terms of the codes become Σ_j c_j² energy_j − 2 c_j pull_j, and c_j², with S
        all ones, couples all rows.
        """
        W, k = state.W, state.W.shape[1]
        energy, pull = np.zeros(k), np.zeros(k)
        for part in self._objective.quadratics(state, CODES):
            for half, sign in ((part.attract, 1), (part.repel, -1)):
                if half is not None:
                    pull += sign * np.einsum("ij,ij->j", np.broadcast_to(half, W.shape), W, dtype=np.float64)
            for coupling in part.couplings:
                rows = Diagonal(np.ones(len(W), W.dtype)) if coupling.rows is None else coupling.rows
                energy += coupling.gram * rows.energy(W)
        if self._together is None:
            self._together = Cliques(np.zeros(len(state.Ht), np.intp), -1.0, W.dtype)
        energy, pull = energy.astype(W.dtype), pull.astype(W.dtype)
        # All ones are n I less what a clique of n rows is.
        ones = (Coupling(energy, self._together), Coupling(energy * len(state.Ht))) if energy.any() else ()
        return assemble([Quadratic(attract=pull[None, :], couplings=ones)], state.Ht)

    def code(self, state: State, max_passes: int, tolerance: float) -> Array:
        """Codes for fixed components, each row until its own steps gain nothing more."""
        if self._objective.logarithmic(state, CODES).is_tangent:
            return self._code_by_tangents(state, max_passes, tolerance)
        return self._stepped_rows(state, CODES, max_passes, tolerance)[0]

    def _code_by_tangents(self, state: State, max_passes: int, tolerance: float) -> Array:
        """The same with a new tangent for every step."""
        active = np.ones(len(state.W), bool)
        for _ in range(max_passes):
            old = state.W
            new = np.where(active[:, None], self._stepped_rows(state, CODES)[0], old)
            change = np.abs(new - old).max(axis=1)
            active &= change > tolerance**0.5 * new.max(axis=1)
            state = state.replace(CODES, new)
            if not active.any():
                break
        return state.W

"""Codes that a graph ties to each other, beside a sum of logarithms: they move together.

Newton steps on one row after another carry information over one link per pass, and a pass reads the data. The quadratic
models of all rows (`kernels.log_models`) and the graph are one quadratic, which many passes bring close to its minimum
without the data. Its step is taken if a bound shows that the objective falls.
"""

from __future__ import annotations

import numpy as np

from ..core.domains import NON_NEGATIVE
from ..core.objective import Objective
from ..core.scratch import Scratch
from ..core.state import State
from ..core.types import CODES, Array, dot64
from .multilevel import Chain
from .systems import assemble, system_of

# Passes over all rows. Each but the last goes further by this share of its step: information travels over more links.
PASSES, FURTHER = 4, 0.75
# From this tightness on a pass over models is worth its cost; the models may take this many bytes.
TIED, MODEL_BYTES = 0.1, 2**27


def tightness(objective: Objective, state: State) -> float:
    """How much coupled codes are held by each other, compared with how much the data hold them; 0 if they are not.

    At a minimum the data's curvature of an entry is about its linear part over the entry.
    """
    system = assemble(objective.quadratics(state, CODES), state.W)
    if not system.coupled:
        return 0.0
    held = float(objective.logarithmic(state, CODES).linear.mean(dtype=np.float64))
    return float(system.D.mean(dtype=np.float64)) * float(state.W.mean(dtype=np.float64)) / held if held else 0.0


def moved_together(objective: Objective, state: State, chain: Chain, scratch: Scratch) -> Array | None:
    """Better codes: close to the minimum of the quadratic models of all rows together.

    None if they are hardly tied, if another term has a Gram matrix, if the models take too much memory, or if it cannot
    be shown that the objective falls.
    """
    F, n, k = np.ascontiguousarray(state.W), *state.W.shape
    if objective.domains[CODES] != NON_NEGATIVE or F.nbytes * k > MODEL_BYTES or tightness(objective, state) <= TIED:
        return None
    from ..kernels.log_models import bound_rows, descend_models, model_rows

    system, form = system_of(objective, state, CODES), objective.logarithmic(state, CODES)
    if system.B.any():
        return None
    G = np.ascontiguousarray(state.Ht)
    linear = np.broadcast_to(form.linear - 2 * system.push, F.shape)
    couplings = [coupling for part in objective.quadratics(state, CODES) for coupling in part.couplings]
    slopes = linear + 2 * sum(coupling.dot(F) for coupling in couplings)
    pulls, responses = np.empty_like(F), np.zeros_like(F)
    # Grams have room for all entries; what is not needed is not touched.
    grams, places = scratch.get("grams", (n * k * k,), F.dtype), np.empty(n, np.int64)
    chosen, widths = np.empty((n, k), np.int32), np.empty(n, np.int32)

    def model(rows: slice) -> None:
        for block in form.counts.blocks(CODES, rows):
            own = block.rows
            held = grams, places[own], chosen[own], widths[own]
            given = (slopes[own], F[own], pulls[own], own.start * k * k)
            model_rows(*block.entries[:3], G, form.floor, *given, *held, responses[own])

    state.X.map_rows(model, n)
    targets = responses + (pulls - linear) / 2
    new = F.copy()
    links = chain.of(system.coupled, new)
    for turn in range(PASSES):
        before = new.copy()
        descend_models(grams, places, chosen, widths, targets, system.D, system.scale, *links, new)
        if turn + 1 < PASSES:
            np.maximum(new + F.dtype.type(FURTHER) * (new - before), 0, out=new)
            links = chain.of(system.coupled, new)
    steps = new - F
    change = 0.0
    for block in form.counts.blocks(CODES, slice(0, n)):
        own = block.rows
        held = grams, places[own], chosen[own], widths[own]
        change += bound_rows(*block.entries[:3], G, form.floor, F[own], *held, steps[own])
    # Some steps are shorter now.
    change += dot64(slopes - pulls, steps)
    change += sum(dot64(coupling.dot(steps), steps) for coupling in couplings)
    return np.maximum(F + steps, 0) if change <= 0 else None

"""Components of rank one: every component is an outer product of one vector per axis of a sample.

The components enter the objective only through XᵀW and WᵀW. With the codes and all axes but one fixed, the vectors of
that axis see a non-negative least-squares problem whose right-hand side is XᵀW contracted with the other vectors (the
"MTTKRP" of tensor decompositions) and whose Gram matrix is the entrywise product of WᵀW with the others' Gram matrices.
X itself enters only the products X Hᵀ and XᵀW, so sparse data stay sparse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..core.objective import Objective
from ..core.outer_products import outer_products, split_modes
from ..core.state import State
from ..core.types import COMPONENTS, Array
from .coordinate import MAX_PASSES, PASS_TOLERANCE
from .systems import assemble

# Rounds over the axes per product with X.
ROUNDS = 2


def step_modes(objective: Objective, state: State, shape: Sequence[int]) -> State:
    """Rounds of coordinate descent over the vectors of all axes.

    Parameters
    ----------
    objective : Objective
        All its terms must have a quadratic that treats all features equally.
    state : State
    shape : sequence of int
        Of a sample.
    """
    system = assemble(objective.quadratics(state, COMPONENTS), state.Ht)
    if system.coupled or len(system.D) > 1 or len(system.weight) > 1:
        raise NotImplementedError("Components of rank one need terms that treat all features equally.")
    modes = split_modes(state.Ht, shape)
    images = system.pull(state.product(COMPONENTS)).reshape(*shape, -1)
    # The pull on the images is the whole pull.
    alike = replace(system, data=np.ones_like(system.data[:1]), push=np.zeros_like(system.push[:1]))
    for _ in range(ROUNDS):
        for axis, mode in enumerate(modes):
            others = np.ones_like(system.B)
            for other, factor in enumerate(modes):
                if other != axis:
                    others *= factor.T @ factor
            F = np.ascontiguousarray(mode)
            part = replace(alike, B=system.B * others, D=system.D * others.diagonal())
            pull = _contract(images, modes, axis)
            part.descend_rows(slice(0, len(F)), F, pull, MAX_PASSES, PASS_TOLERANCE, jointly=True, out=F)
            modes[axis] = F
    return state.replace(COMPONENTS, outer_products(modes))


def _contract(images: Array, modes: Sequence[Array], axis: int) -> Array:
    """Σ over all axes but one of the images times the vectors of these axes, component by component."""
    # Move the wanted axis to the front; the others then go one by one, from the last to the second.
    result = np.moveaxis(images, axis, 0)
    for mode in reversed([mode for other, mode in enumerate(modes) if other != axis]):
        result = np.einsum("...ij,ij->...j", result, mode)
    return np.ascontiguousarray(result)

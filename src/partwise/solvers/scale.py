"""Which factor carries the scale: resolve the `scale` parameter, and scale the factors accordingly at the end."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from ..core.domains import NON_NEGATIVE, Domain, UnitNorm
from ..core.dual import DualState
from ..core.state import State
from ..core.term import BoundPenalty, BoundTerm, Term
from ..core.types import CODES, COMPONENTS, FACTORS, OTHER, Array, Factor, column_norms
from ..core.warn import warn
from ..terms.gauge import Gauged

Domains = dict[Factor, Domain]
Scaled = tuple[list[BoundTerm], Factor | None, Domains]


def unit_factor(penalised: Collection[Factor], scale: str | None) -> Factor | None:
    """The factor whose columns have unit norm in the end, given the penalised ones; None: neither."""
    if scale is None or (scale == "auto" and len(penalised) == 2):
        return None
    if scale != "auto":
        return CODES if scale == CODES else COMPONENTS
    return OTHER[next(iter(penalised))] if penalised else COMPONENTS


def codes_power(terms: Sequence[Term], scale: str | None) -> float:
    """The power of the unit of X with which codes grow, if W H grows as X does.

    On a free scale both factors keep the scale of their start, which grows as the square root of X.
    """
    if any(term.settles_scale for term in terms):
        return 0.0
    unit = unit_factor({term.penalises for term in terms if term.penalises is not None}, scale)
    return 0.5 if unit is None else 1.0 if unit == COMPONENTS else 0.0


def apply_scale(terms: Sequence[BoundTerm], scale: str | None, domains: Domains) -> Scaled:
    """The terms under the gauge, the factor whose columns have unit norm in the end (None: neither), and the domains.

    With scale="auto", a penalty on only one factor is measured where the other has unit norm; penalties on both factors
    settle the scale themselves; without any, the components are simply given unit norm at the end. A term that ties the
    components to the samples settles the scale by itself, as does one that asks for orthogonal codes. With
    scale="codes" the codes are held to columns of unit norm, so that penalties on them are measured directly.

    A factor that cannot be stretched settles the scale by its domain. Components of unit norm that no term penalises
    are the final result of the gauge, and need not be held to it before.
    """
    anchored = [term.name for term in terms if term.anchored]
    if anchored and scale in FACTORS:
        raise ValueError(
            f"scale={scale!r} fixes the norm of the {scale}, but the term {anchored[0]!r} ties the components to the "
            "samples and leaves no scale to choose. Use scale='auto' or scale=None."
        )
    if scale is None or anchored or any(term.orthogonality for term in terms):
        return list(terms), None, domains
    penalised: set[Factor] = {term.factor for term in terms if isinstance(term, BoundPenalty)}
    if scale == COMPONENTS and COMPONENTS in penalised:
        raise ValueError(
            "scale='components' fixes the norm of the components, but these are penalised themselves. "
            "Use scale='auto' or scale=None."
        )
    if scale == CODES and COMPONENTS in penalised:
        raise ValueError(
            "scale='codes' fixes the norm of the codes for penalties on them, but the components are penalised too. "
            "Use scale='auto' or scale=None."
        )
    if scale == CODES:
        return list(terms), CODES, domains
    if isinstance(domains[COMPONENTS], UnitNorm) and COMPONENTS not in penalised and domains[CODES].stretches:
        domains = {**domains, COMPONENTS: NON_NEGATIVE}
    settled = [factor for factor in FACTORS if not domains[factor].stretches]
    if settled:
        if scale == COMPONENTS:
            raise ValueError(
                f"scale='components' fixes the norm of the components, but the scale is settled by the {settled[0]}, "
                f"which are {domains[settled[0]].words}. Use scale='auto' or scale=None."
            )
        return list(terms), None, domains
    unit = unit_factor(penalised, scale)
    if unit is None:
        return list(terms), None, domains
    return [Gauged(term) if isinstance(term, BoundPenalty) else term for term in terms], unit, domains


def normalise(state: State, unit: Factor | None, domains: Mapping[Factor, Domain]) -> State:
    """Give the columns of one factor unit norm, the other the scale; components that died get a valid direction.

    Fixed columns stay as they are.
    """
    warn_if_dead(state)
    if unit is None:
        return state
    held = held_columns(state, unit, domains)
    dead = np.flatnonzero((state.norms(unit) == 0) & ~held)
    if len(dead):
        F, alive = state[unit].copy(), np.ones(state[unit].shape[1], state[unit].dtype)
        F[:, dead], alive[dead] = 0, 0
        F[_strongest(state, unit), dead] = 1
        state = state.replace(unit, F).replace(OTHER[unit], state[OTHER[unit]] * alive)
    norms = state.norms(unit)
    return rescaled(state, unit, np.where((norms > 0) & ~held, norms, 1))


def held_columns(state: State, unit: Factor, domains: Mapping[Factor, Domain]) -> Array:
    """The columns that cannot be stretched to unit norm, since one of the factors holds them."""
    held = ~np.logical_and(*(domains[factor].stretchable(state[factor], factor) for factor in FACTORS))
    # Unit norm is a domain that does not stretch; only rounding is left to correct there.
    return np.asarray(held & (not isinstance(domains[unit], UnitNorm)))


def rescaled(state: State, factor: Factor, lengths: Array) -> State:
    """The columns of one factor divided by these lengths, those of the other multiplied by them."""
    lengths = lengths.astype(state.W.dtype)
    other = OTHER[factor]
    room, W = state.X.room, state.W
    codes = room.empty(W.shape, W.dtype) if room.on_disk else None
    divided = np.divide(state[factor], lengths, out=codes if factor == CODES else None)
    multiplied = np.multiply(state[other], lengths, out=codes if other == CODES else None)
    return state.replace(factor, divided).replace(other, multiplied)


def warn_if_dead(state: State) -> None:
    """Warn if components are not used."""
    dead = (column_norms(state.W) == 0) | (column_norms(state.Ht) == 0)
    if dead.any():
        warn(
            f"{int(dead.sum())} of {len(dead)} components are not used by any sample. "
            "Use fewer components, a smaller strength or another start.",
        )


def _strongest(state: State, factor: Factor) -> int:
    """The row of the factor with most of the data: any direction is valid for a component that is not used."""
    if factor == COMPONENTS and isinstance(state, DualState):
        return int(np.argmax(state.kernel.diagonal()))
    norms = state.X.row_squared_norms() if factor == CODES else state.X.column_squared_norms()
    return int(np.argmax(np.nan_to_num(norms)))

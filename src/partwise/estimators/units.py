"""Conversions between the unit of the data and that of the fit: inputs go in, results come out."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..core import Array, Powers, Term, Unit, Unscalable, scaled
from ..selection.grids import Grid
from ..selection.record import Selection
from .validation import check_X, fits, largest, out_of_range


def chosen_unit(unit_for: Callable[[int, Any], Unit], exponent: int, X: Any) -> Unit:
    """The unit for data that are too large or too small by a power of two; their own, if no other is needed.

    Parameters
    ----------
    unit_for : callable
        Gives the unit, or raises Unscalable.
    exponent : int
        0 for data of ordinary size.
    X : array or sparse matrix
        Checked.
    """
    if not exponent:
        return Unit()
    try:
        return unit_for(exponent, X.dtype)
    except Unscalable as why:
        if fits(X):
            return Unit()
        raise ValueError(f"{out_of_range(X)} Another unit is not chosen for you because {why}.") from None


def check_new_X(estimator: Any, X: Any, missing: Any = None) -> Any:
    """New samples in the unit of the fit, which must be about theirs."""
    X, exponent = check_X(estimator, X, missing, reset=False)
    unit: Unit = estimator._unit
    new = unit.inside(X)
    if (exponent or unit.exponent) and not fits(new):
        size = f"about {math.ldexp(1.0, unit.exponent):.0e}" if unit.exponent else "ordinary size"
        raise ValueError(
            f"The largest value of X is {largest(X):.3g}, but the model was fitted to data of {size}: squares of both "
            f"do not fit into {X.dtype}. Scale X as those data were scaled."
        )
    return new


def codes_outside(unit: Unit, codes: Array) -> Array:
    """Codes of new samples in the unit of the data."""
    codes = unit.codes(codes)
    if not np.isfinite(codes).all():
        raise ValueError(f"The codes of X do not fit into {codes.dtype}: its values are larger than those of the fit.")
    return codes


def grids_inside(grids: Mapping[str, Grid], terms: Sequence[Term], unit: Unit, dtype: Any) -> dict[str, Grid]:
    """Values to choose from, in the unit of the fit; those that "auto" tries follow the data anyway."""
    if not unit.exponent:
        return dict(grids)
    powers = _strength_powers(terms, unit.powers)

    def inside(name: str, grid: Grid) -> Grid:
        if grid.refined or not powers.get(name):
            return grid
        return grid.given(name, [unit.number(name, value, powers[name], dtype) for value in grid.values])

    return {name: inside(name, grid) for name, grid in grids.items()}


def selection_outside(selection: Selection, terms: Sequence[Term], unit: Unit) -> Selection:
    """The record of a choice in the unit of the data, as far as its values fit into float64 there."""
    return _rescaled(selection, terms, unit, unit.exponent)


def selection_inside(selection: Selection | None, terms: Sequence[Term], unit: Unit) -> Selection | None:
    """What the last fit chose, in the unit of this one."""
    return None if selection is None else _rescaled(selection, terms, unit, -unit.exponent)


def _strength_powers(terms: Sequence[Term], powers: Powers) -> dict[str, float]:
    """The strengths of terms as powers of the unit of X, by their names."""
    return {term.strength_name: term.units(powers)["strength"] for term in terms if term.strength_name}


def _rescaled(selection: Selection, terms: Sequence[Term], unit: Unit, exponent: int) -> Selection:
    if not exponent:
        return selection
    powers = _strength_powers(terms, unit.powers)

    def rescaled(name: str, values: Any) -> Any:
        power = powers.get(name, 0.0)
        if not power:
            return values
        there = np.asarray(scaled(np.asarray(values, float), power * exponent))
        return there if (np.isfinite(there) & ((there > 0) | (np.asarray(values) == 0))).all() else values

    paths = []
    for path in selection.paths:
        values = rescaled(path.parameter, path.values)
        place = int(np.flatnonzero(path.values == path.chosen)[0])
        paths.append(replace(path, values=values, chosen=values[place].item()))
    choice = {name: np.asarray(rescaled(name, value)).item() for name, value in selection.choice.items()}
    choice |= {path.parameter: path.chosen for path in paths}
    return replace(selection, choice=choice, paths=tuple(paths))

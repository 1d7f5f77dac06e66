"""Data of any size: X far beyond what squares can hold is fitted in another unit, a power of two, and nobody notices.

A model of X / 2^e is fitted by a copy of the estimator whose parameters are in that unit too, and what it found is
brought back. Powers of two change no digit, so the answer is that for data of ordinary size, to the bit. An estimator
says in `_units` which powers of the unit of X its parameters and results have.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.types import CODES, Array
from ..core.warn import warn
from ..selection.record import Selection
from .validation import check_X, fits, largest, out_of_range

HANDED_OVER = ("_skl_callbacks", "_parent_callback_ctx")


class Unscalable(ValueError):
    """Why an estimator cannot take its data in another unit."""


@dataclass(frozen=True)
class Units:
    """Parameters and results as powers of the unit of X.

    Attributes
    ----------
    codes, components : float
        Of `embedding_` and `components_`.
    objective : float
        Of `objective_` and all values of `history_`.
    parameters : mapping of str to float
        Parameters with a unit; those that are neither numbers nor lists of numbers are taken as they are.
    results : mapping of str to float
        Further fitted attributes with a unit.
    start : tuple of float, optional
        Of the arrays of a given start, by default (W, H).
    """

    codes: float = 1.0
    components: float = 0.0
    objective: float = 2.0
    parameters: Mapping[str, float] = field(default_factory=dict)
    results: Mapping[str, float] = field(default_factory=dict)
    start: tuple[float, ...] | None = None

    @property
    def factors(self) -> dict[str, float]:
        """All fitted arrays and numbers with a unit, by name."""
        return {"embedding_": self.codes, "components_": self.components, **self.results}


def codes_unit(scale: str | None) -> float:
    """The unit of the codes: that of X, unless they have unit norm or nothing fixes the scale.

    In the latter case both factors keep what their start gave them, which grows as the square root of X.
    """
    if scale is None:
        return 0.5
    return 0.0 if scale == CODES else 1.0


class Rescaled:
    """A fit in another unit.

    Parameters
    ----------
    model : estimator
        Fitted to X / 2^exponent.
    exponent : int
    codes_exponent : float
        Codes are those of the model, times two to this power.
    """

    def __init__(self, model: Any, exponent: int, codes_exponent: float):
        self.model = model
        self.exponent = exponent
        self.codes_exponent = codes_exponent

    def new(self, X: Any) -> Any:
        """New samples, checked, in the unit of the model."""
        return scaled(X, -self.exponent)

    def codes(self, codes: Array) -> Array:
        """Codes of the model in the unit of the data."""
        codes = scaled(codes, self.codes_exponent)
        if not np.isfinite(codes).all():
            raise ValueError(
                f"The codes of X do not fit into {codes.dtype}: its values are larger than those of the fit."
            )
        return codes


def no_functions(estimator: Any, *names: str) -> None:
    """Refuse parameters that are functions of X: they would see other numbers than those that were given."""
    for name in names:
        if callable(getattr(estimator, name)):
            raise Unscalable(f"{name} is a function, which would see X in another unit")


def scaled(values: Any, exponent: float) -> Any:
    """The values times two to a power, exactly where the power is whole."""
    whole = math.floor(exponent)
    if sp.issparse(values):
        return type(values)((scaled(values.data, exponent), values.indices, values.indptr), shape=values.shape)
    if exponent != whole:
        values = values * 2.0 ** (exponent - whole)
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(values, whole)


def check_new_X(estimator: Any, X: Any, missing: Any = None) -> Any:
    """New samples in the unit of the fit, which must be about theirs."""
    X, exponent = check_X(estimator, X, missing, reset=False)
    rescaled = estimator._rescaled
    new = X if rescaled is None else rescaled.new(X)
    if (exponent or rescaled is not None) and not fits(new):
        size = "ordinary size" if rescaled is None else f"about {math.ldexp(1.0, rescaled.exponent):.0e}"
        raise ValueError(
            f"The largest value of X is {largest(X):.3g}, and the model was fitted to data of {size}: squares of both "
            f"do not fit into {X.dtype}. Scale X as those data were."
        )
    return new


def fit_rescaled(estimator: Any, X: Any, exponent: int, fit: Callable[[Any, Any], Any]) -> bool:
    """Fit a copy of the estimator to X / 2^exponent, and take its results over in the unit of X.

    False if that cannot be done, and X may still be fitted as it is.

    Parameters
    ----------
    estimator : estimator
    X : array or sparse matrix
        Checked.
    exponent : int
    fit : callable
        Fits the copy to the data in the new unit.
    """
    try:
        units: Units = estimator._units()
        given = _parameters_in_unit(estimator, units, exponent, X.dtype)
    except Unscalable as why:
        if fits(X):
            return False
        raise ValueError(f"{out_of_range(X)} Another unit is not chosen for you because {why}.") from None
    parameters = estimator.get_params(deep=False)
    model = type(estimator)(**{**parameters, **given})
    for name in HANDED_OVER:
        if hasattr(estimator, name):
            setattr(model, name, getattr(estimator, name))
    if parameters.get("warm_start"):
        _begin_where_it_ended(model, estimator, settled(estimator)._units(), exponent)
    fit(model, scaled(X, -exponent))
    units = settled(model)._units()
    if "callbacks" in parameters:
        model.callbacks = None
    _take_over(estimator, model, units, exponent, {*parameters, *HANDED_OVER, "n_features_in_"})
    return True


def settled(estimator: Any) -> Any:
    """The estimator with the values that it chose: units of the results may depend on them."""
    selection = getattr(estimator, "selection_", None)
    return estimator if selection is None else copy(estimator).set_params(**selection.choice)


def _parameters_in_unit(estimator: Any, units: Units, exponent: int, dtype: Any) -> dict[str, Any]:
    limits = np.finfo(dtype)
    new: dict[str, Any] = {}

    def in_unit(name: str, value: Real, power: float) -> Real | float:
        if value == 0 or not math.isfinite(value):
            return value
        there = float(scaled(float(value), -power * exponent))
        # The solver multiplies it by squares.
        if not limits.tiny**0.25 < there < limits.max**0.25:
            raise Unscalable(f"{name}={value!r} has a unit, too, and is {there:.3g} where X is of order one")
        return there

    for name, power in units.parameters.items():
        value = getattr(estimator, name)
        if power == 0 or value is None or isinstance(value, str):
            continue
        if isinstance(value, Real):
            new[name] = in_unit(name, value, power)
        elif isinstance(value, Iterable):  # values to choose from
            new[name] = [in_unit(name, each, power) for each in value]
    init = getattr(estimator, "init", None)
    powers = units.start or (units.codes, units.components)
    if isinstance(init, tuple | list) and len(init) == len(powers):
        new["init"] = tuple(
            scaled(np.asarray(part, dtype), -power * exponent) for part, power in zip(init, powers, strict=True)
        )
    return new


def _begin_where_it_ended(model: Any, fitted: Any, units: Units, exponent: int) -> None:
    """Give a copy the factors of the last fit, to start from."""
    last = fitted._rescaled
    same_unit = last is not None and last.exponent == exponent
    for name, power in units.factors.items():
        if hasattr(fitted, name):
            value = getattr(last.model, name) if same_unit else scaled(getattr(fitted, name), -power * exponent)
            setattr(model, name, value)
    if hasattr(fitted, "selection_"):
        model.selection_ = _selection(fitted.selection_, units, -exponent)


def _take_over(estimator: Any, model: Any, units: Units, exponent: int, own: set[str]) -> None:
    """Results of the copy in the unit of X; what has none as it is."""
    found = {name: value for name, value in vars(model).items() if name not in own}
    exponents = {name: power * exponent for name, power in units.factors.items() if name in found}
    shift = _shift(found["embedding_"], exponents["embedding_"]) if units.codes else 0
    if shift:
        warn(
            f"The codes of data of this size do not fit into {found['embedding_'].dtype}: they are divided by "
            f"2^{shift}, and the components multiplied by it.",
        )
        exponents["embedding_"] -= shift
        for name in ("components_", "dual_components_"):
            if name in exponents:
                exponents[name] += shift
    found |= {name: scaled(found[name], power) for name, power in exponents.items()}
    if "selection_" in found:
        found["selection_"] = _selection(found["selection_"], units, exponent)
    if "objective_" in found:
        found |= _objective(found["objective_"], found["history_"], units.objective * exponent, exponent)
    for name in units.factors.keys() - found.keys():
        estimator.__dict__.pop(name, None)
    estimator.__dict__.update(found)
    estimator._rescaled = Rescaled(model, exponent, exponents["embedding_"])


def _selection(selection: Selection, units: Units, exponent: int) -> Selection:
    """The same with its values in another unit, as far as they have one and fit into float64 there."""

    def rescaled(name: str, values: Any) -> Any:
        power = units.parameters.get(name, 0.0)
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


def _shift(codes: Array, exponent: float) -> int:
    """By which power of two codes must be smaller, or larger, to keep all their digits and to be finite."""
    length = largest(codes)
    if length == 0:
        return 0
    limits, reached = np.finfo(codes.dtype), math.log2(length) + exponent
    # Codes of new samples need some room, and small entries their digits.
    highest, lowest = limits.maxexp - 4, limits.minexp + limits.nmant
    return math.ceil(max(reached - highest, 0)) or math.floor(min(reached - lowest, 0))


def _objective(value: float, history: Mapping[str, list[float]], power: float, exponent: int) -> dict[str, Any]:
    """The objective and its history in the unit of X, if every value has a number there."""
    back = {
        name: values if name == "time" else np.asarray(scaled(np.asarray(values, float), power)).tolist()
        for name, values in history.items()
    }
    pairs = [pair for name in history.keys() - {"time"} for pair in zip(history[name], back[name], strict=True)]
    tiny = float(np.finfo(float).tiny)
    if all(math.isfinite(there) and (abs(there) >= tiny or here == 0) for here, there in pairs):
        return {"objective_": float(scaled(value, power)), "history_": back}
    warn(
        f"The objective of data of this size does not fit into float64: objective_ and history_ are those of "
        f"X / 2^{exponent}.",
    )
    return {"objective_": value, "history_": dict(history)}

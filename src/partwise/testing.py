"""Check that a term is consistent: for the terms of this package and for users' own.

>>> from partwise.terms import L2
>>> from partwise.testing import check_term
>>> check_term(L2(0.5))

And the list of all estimators, for tests that each must pass.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from . import estimators
from .core.door import read_data
from .core.dual import DualState, FeatureKernel
from .core.forms import Split
from .core.operand import Missing, Operand
from .core.state import State
from .core.storage import as_operand
from .core.term import BoundPenalty, BoundTerm, Term, Uncodable
from .core.types import CODES, FACTORS, Array, Factor
from .solvers.multiplicative import ratio
from .terms.gauge import Gauged

STEP = 1e-5
TOLERANCE = 1e-5


def all_estimators() -> dict[str, type[Any]]:
    """Every estimator that the package exports, by name."""
    exported = {name: getattr(estimators, name) for name in estimators.__all__}
    return {
        name: thing for name, thing in exported.items() if isinstance(thing, type) and issubclass(thing, BaseEstimator)
    }


def check_term(
    term: Term,
    X: Any = None,
    y: Any = None,
    *,
    n_components: int = 3,
    sample_weight: Any = None,
    missing: Missing = None,
    dual: bool = False,
    random_state: int = 0,
) -> None:
    """Raise an AssertionError that says what is wrong with a term; return None if nothing is.

    The term is bound to the data and examined at random factors, by itself and, if it is a penalty, under the gauge:

    - its gradient P − N agrees with finite differences of its value, for each factor;
    - every part of N and P is finite and non-negative;
    - its quadratic, where it offers one, has the gradient of the value and never lies below it;
    - a multiplicative step on this term alone does not raise its value;
    - a penalty scales with its columns as its degree says;
    - the term by which it codes new samples, bound to the same data, passes the same tests for the codes.

    Parameters
    ----------
    term : Term
    X : array or sparse matrix of shape (n_samples, n_features), optional
        Non-negative data; by default a small random array.
    y : array of int, optional
        Classes, −1 for unknown.
    n_components : int, default=3
    sample_weight : array of shape (n_samples,), optional
    missing : {None, "nan", "unstored"}, default=None
    dual : bool, default=False
        Examine the term with components made of samples, H = PᵀX, at random codes and coefficients P.
    random_state : int, default=0
    """
    rng = np.random.RandomState(random_state)
    data = rng.uniform(0.1, 1.0, size=(12, 7)) if X is None else X
    weight = None if sample_weight is None else np.asarray(sample_weight, np.float64)
    data = read_data(data, allow_nan=missing == "nan")
    operand = as_operand(data, missing, weight)
    bound = term.bind(operand, None if y is None else np.asarray(y), rng, weight)
    W, Ht = (rng.uniform(0.2, 1.0, size=(rows, n_components)).astype(np.float64) for rows in operand.shape)
    state = State(operand, W, Ht)
    if dual:
        P = rng.uniform(0.2, 1.0, size=W.shape) / len(W)
        state = DualState(FeatureKernel(operand, signed=bool(_lowest(data) < 0)), W, P)
    _check_bound(bound, state, rng)
    if isinstance(bound, BoundPenalty):
        _check_degree(bound, state)
        _check_bound(Gauged(bound), state, rng)
    _check_new(bound, state, as_operand(data, missing), rng)


def _lowest(data: Any) -> float:
    return float(data.min())


def _check_bound(
    bound: BoundTerm, state: State, rng: np.random.RandomState, factors: tuple[Factor, ...] = FACTORS
) -> None:
    name = type(bound).__name__
    value = bound.value(state)
    assert np.isfinite(value), f"{name}: the value is {value}."
    for factor in factors:
        split = bound.split(state, factor)
        slope = _slope(bound, state, factor, rng)
        if split is None:
            assert all(abs(number) <= TOLERANCE for _, number in slope), (
                f"{name}: the value depends on the {factor}, but split() is None for them."
            )
            continue
        _check_signs(name, split, factor)
        N, P = split.halves()
        gradient = np.broadcast_to(np.asarray(P) - np.asarray(N), state[factor].shape)
        _check_slope(name, f"P − N for the {factor}", gradient, slope)
        if bound.offers_quadratic:
            _check_quadratic(bound, state, factor, slope, rng)
        stepped = state.replace(factor, state[factor] * ratio(split, state[factor]))
        assert bound.value(stepped) <= value + 1e-9 * abs(value), (
            f"{name}: a multiplicative step of the {factor} raises the value from {value} to {bound.value(stepped)}; "
            "a part of `up` or `down` has a power that does not majorise it."
        )


def _slope(bound: BoundTerm, state: State, factor: Factor, rng: np.random.RandomState) -> list[tuple[Array, float]]:
    """Directions and the derivative of the value along each, by central differences."""
    F = state[factor]
    directions = [rng.standard_normal(F.shape) for _ in range(3)]
    for _ in range(3):
        single = np.zeros(F.shape)
        single[rng.randint(F.shape[0]), rng.randint(F.shape[1])] = 1.0
        directions.append(single)
    ahead = [bound.value(state.replace(factor, F + STEP * d)) for d in directions]
    behind = [bound.value(state.replace(factor, F - STEP * d)) for d in directions]
    return [(d, (a - b) / (2 * STEP)) for d, a, b in zip(directions, ahead, behind, strict=True)]


def _check_slope(name: str, what: str, gradient: Array, slope: list[tuple[Array, float]]) -> None:
    size = float(np.abs(gradient).max()) + 1e-8
    for direction, expected in slope:
        found = float((gradient * direction).sum())
        assert abs(found - expected) <= TOLERANCE * size * np.abs(direction).sum(), (
            f"{name}: {what} gives the slope {found:.8g}, finite differences of value() give {expected:.8g}."
        )


def _check_signs(name: str, split: Split, factor: Factor) -> None:
    for side in ("up", "down"):
        for power, part in getattr(split, side).items():
            assert np.isfinite(part).all(), f"{name}: split(…, {factor!r}).{side}[{power}] is not finite."
            assert np.min(part) >= 0, f"{name}: split(…, {factor!r}).{side}[{power}] has negative entries."


def _check_quadratic(
    bound: BoundTerm,
    state: State,
    factor: Factor,
    slope: list[tuple[Array, float]],
    rng: np.random.RandomState,
) -> None:
    name = type(bound).__name__
    quadratic = bound.quadratic(state, factor)
    assert quadratic is not None, f"{name}: split() covers the {factor}, but quadratic() is None for them."
    F = state[factor]
    N, P = quadratic.split(F, lambda: state.product(factor)).halves()
    gradient = np.broadcast_to(np.asarray(P) - np.asarray(N), F.shape)
    _check_slope(name, f"the quadratic of the {factor}", gradient, slope)
    for size in (0.1, 0.5):
        other = F * rng.uniform(1 - size, 1 + size, size=F.shape)
        change = bound.value(state.replace(factor, other)) - bound.value(state)
        values = [quadratic.value(at, lambda: state.product(factor)) for at in (other, F)]
        bound_on_change = values[0] - values[1]
        slack = 1e-9 * (abs(bound.value(state)) + abs(bound_on_change))
        assert change <= bound_on_change + slack, (
            f"{name}: the quadratic of the {factor} lies below the term by {change - bound_on_change:.3g}."
        )


def _check_degree(bound: BoundPenalty, state: State) -> None:
    F = state[bound.factor]
    once, twice = bound.column_values(F), bound.column_values(2 * F)
    assert np.allclose(twice, once * 2**bound.degree, rtol=1e-8), (
        f"{type(bound).__name__}: doubling a column multiplies its value by {twice / once}, not by 2^degree."
    )


def _check_new(bound: BoundTerm, state: State, new: Operand, rng: np.random.RandomState) -> None:
    """New samples are coded one by one, by a term that passes the same tests; or a sentence says why they cannot be."""
    name = type(bound).__name__
    term = bound.for_new(state)
    assert term is None or isinstance(term, Term), (
        f"{name}.for_new must return a Term or None, not {type(term).__name__}."
    )
    if term is None or isinstance(term, Uncodable):
        return
    coding = term.bind(new)
    assert not coding.couples_samples, (
        f"{name}.for_new must return a term that codes samples one by one; {type(coding).__name__} couples them."
    )
    _check_bound(coding, State(new, state.W, np.ascontiguousarray(state.components.T)), rng, (CODES,))

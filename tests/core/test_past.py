"""What a stream keeps of a batch, against the definitions of the losses."""

import numpy as np
import pytest

from partwise.core.past import PowerPast, QuadraticPast, remembered, times_power
from partwise.core.state import State
from partwise.core.storage import as_operand
from partwise.core.types import COMPONENTS
from partwise.terms import L1, BetaDivergence, Frobenius
from partwise.terms.local_coordinates import LocalCoordinates

BETAS = (-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0)


def batch(seed, n=9, m=7, k=3, holes=False, **weights):
    rng = np.random.default_rng(seed)
    X, W, Ht = rng.gamma(1.0, size=(n, m)), rng.gamma(1.0, size=(n, k)), 0.5 + rng.gamma(1.0, size=(m, k))
    if holes:
        X[rng.random(X.shape) < 0.3] = np.nan
    return State(as_operand(X, "nan" if holes else None, **weights), W, Ht)


def bound(term, state):
    return term.bind(state.X, sample_weight=state.X.sample_weight)


def divergence(X, Y, beta):
    """Σ d(x | y) over the known entries."""
    x, y = X[~np.isnan(X)], Y[~np.isnan(X)]
    if beta == 2:
        return ((x - y) ** 2).sum()
    if beta == 1:
        return (x * np.log(x / y) - x + y).sum()
    if beta == 0:
        return (x / y - np.log(x / y) - 1).sum()
    return ((x**beta + (beta - 1) * y**beta - beta * x * y ** (beta - 1)) / (beta * (beta - 1))).sum()


def at(state, Ht):
    return state.replace(COMPONENTS, Ht)


def test_a_squared_error_is_kept_exactly():
    state, other = batch(0), batch(1)
    past = remembered(bound(Frobenius(), state), state)
    assert isinstance(past, QuadraticPast)
    np.testing.assert_allclose(past.pull, state.X.array.T @ state.W)
    np.testing.assert_allclose(past.gram, state.W.T @ state.W)
    assert past.value(other) == pytest.approx(((state.X.array - state.W @ other.Ht.T) ** 2).sum())


def test_batches_add_up_and_fade():
    one, two = batch(0), batch(1)
    weight = np.linspace(0.5, 2, 9)
    weighted = batch(1, sample_weight=weight)
    pasts = [remembered(bound(Frobenius(), state), state) for state in (one, weighted)]
    joint = pasts[0].faded(0.25).plus(pasts[1])
    residuals = [((state.X.array - state.W @ one.Ht.T) ** 2).sum(axis=1) for state in (one, two)]
    assert joint.value(one) == pytest.approx(0.25 * residuals[0].sum() + weight @ residuals[1])


def test_local_coordinates_are_kept_exactly():
    for holes in (False, True):
        state, other = batch(0, holes=holes), batch(1)
        past = remembered(bound(LocalCoordinates(0.3), state), state)
        distances = np.nansum((state.X.array[:, None, :] - other.Ht.T[None]) ** 2, axis=2)
        assert past.value(other) == pytest.approx(0.3 * (state.W * distances).sum())


@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("holes", [False, True])
def test_a_divergence_is_kept_as_a_majoriser(beta, holes):
    state = batch(0, holes=holes or beta == 2)
    past = remembered(bound(BetaDivergence(beta), state), state)
    assert isinstance(past, PowerPast)
    X = state.X.array
    assert past.value(state) == pytest.approx(divergence(X, state.W @ state.Ht.T, beta))
    rng = np.random.default_rng(2)
    for spread in (0.01, 0.3, 2.0):
        Ht = state.Ht * np.exp(spread * rng.normal(size=state.Ht.shape))
        below = divergence(X, state.W @ Ht.T, beta)
        assert past.value(at(state, Ht)) >= below * (1 - 1e-10)


@pytest.mark.parametrize("beta", BETAS)
def test_the_majoriser_has_the_slope_of_its_halves(beta):
    state = batch(0, holes=True)
    past = remembered(bound(BetaDivergence(beta), state), state)
    down, up = past.split(batch(1), COMPONENTS).halves()
    other, step = batch(1).Ht, 1e-6
    for f, j in ((0, 0), (3, 2), (6, 1)):
        above, below = other.copy(), other.copy()
        above[f, j] += step
        below[f, j] -= step
        slope = (past.value(at(state, above)) - past.value(at(state, below))) / (2 * step)
        assert slope == pytest.approx((up - down)[f, j] if np.ndim(up - down) else up - down, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("beta", BETAS)
def test_scale_moves_between_codes_and_components(beta):
    state, lengths = batch(0, holes=True), np.array([0.5, 3.0, 1.7])
    past = remembered(bound(BetaDivergence(beta), state), state)
    other = batch(1)
    assert past.rescaled(lengths).value(at(state, other.Ht / lengths)) == pytest.approx(past.value(other))
    squares = remembered(bound(Frobenius(), batch(0)), batch(0))
    assert squares.rescaled(lengths).value(at(state, other.Ht / lengths)) == pytest.approx(squares.value(other))


@pytest.mark.parametrize("beta", BETAS)
def test_a_past_at_rest_has_its_minimum_where_it_is(beta):
    state, other = batch(0, holes=True), batch(1)
    past = remembered(bound(BetaDivergence(beta), state), state).resting(other.Ht)
    lowest = past.value(other)
    down, up = past.split(other, COMPONENTS).halves()
    np.testing.assert_allclose(down, up, rtol=1e-9)
    for seed in range(20):
        Ht = other.Ht * np.exp(0.3 * np.random.default_rng(seed).normal(size=other.Ht.shape))
        assert past.value(at(other, Ht)) > lowest


def test_small_entries_may_grow_again():
    state = batch(0, holes=True)
    Ht = state.Ht.copy()
    Ht[2, 1] = 1e-9
    past = remembered(bound(BetaDivergence(3.0), state), at(state, Ht))
    grown = past.split(state, COMPONENTS)
    assert np.all(grown.halves()[1] < 1e6)


def test_penalties_on_the_components_are_not_repeated():
    state = batch(0)
    assert remembered(bound(L1(0.1, COMPONENTS), state), state) is None
    assert remembered(bound(L1(0.1), state), state).value(batch(1)) == pytest.approx(0.1 * state.W.sum())


@pytest.mark.parametrize("exponent", [-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0])
def test_powers_scale_exactly(exponent):
    F = np.random.default_rng(0).gamma(1.0, size=(5, 3))
    F[0] = 0
    part = np.ones_like(F)
    expected = np.where(F > 0, np.where(F > 0, F, 1) ** exponent, float(exponent == 0))
    np.testing.assert_allclose(times_power(part, F, exponent), expected)
    np.testing.assert_array_equal(times_power(part, 16 * F, exponent), 16**exponent * times_power(part, F, exponent))

"""The loss of overdispersed counts and steps on it, against scipy's distribution and a general optimiser."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import nbinom
from test_logarithms import problem, step

from partwise.kernels.dispersion import measure_rows, slope_rows
from partwise.kernels.logarithms import CHUNK

RNG = np.random.RandomState(0)


def loss(x, y, alpha):
    """Half the deviance, from the probabilities of whole counts."""
    p = [1 / (1 + alpha * mean) for mean in (y, np.maximum(x, 1e-200))]
    return nbinom.logpmf(x, 1 / alpha, p[1]) - nbinom.logpmf(x, 1 / alpha, p[0])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("alpha", [1e-6, 0.01, 1.0, 50.0])
def test_values_are_those_of_the_distribution(alpha, dtype):
    x = RNG.poisson(RNG.gamma(0.5, 10.0, size=(6, 30))).astype(dtype)
    y = (RNG.gamma(0.5, 10.0, size=x.shape) + 1e-3).astype(dtype)
    v, values = RNG.uniform(size=x.shape).astype(dtype), np.empty(6)
    measure_rows(x, v, np.full(30, alpha, dtype), y, values)
    poisson = np.where(x > 0, x * np.log(np.where(x > 0, x, 1) / np.float64(y)), 0)
    expected = (v * loss(np.float64(x), np.float64(y), alpha)).sum(axis=1)
    np.testing.assert_allclose((v * poisson).sum(axis=1) + values, expected, rtol=1e-5 if alpha < 1e-4 else 1e-6)


def test_without_dispersion_it_is_the_excess_of_the_mean():
    x, y = RNG.gamma(1.0, size=(2, 3, 20))
    one, values, slopes = np.ones((1, 20)), np.empty(3), y.copy()
    measure_rows(x, one, np.zeros(20), y, values)
    np.testing.assert_allclose(values, (y - x).sum(axis=1), rtol=1e-12)
    slope_rows(x, one, np.zeros(20), slopes)
    np.testing.assert_array_equal(slopes, 1)


def test_slopes_are_derivatives():
    x, y, alpha = RNG.gamma(1.0, size=(3, 20)), RNG.gamma(1.0, size=(3, 20)), RNG.uniform(0.1, 3, size=20)
    slopes, one = y.copy(), np.ones((1, 20))
    slope_rows(x, one, alpha, slopes)
    for column in range(20):
        sides = np.empty((2, 3))
        for side, value in zip((1e-6, -1e-6), sides, strict=True):
            moved = y.copy()
            moved[:, column] += side
            measure_rows(x, one, alpha, moved, value)
        np.testing.assert_allclose((sides[0] - sides[1]) / 2e-6, slopes[:, column], rtol=1e-6)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("by_rows", [False, True], ids=["by columns", "by rows"])
def test_no_step_rises_and_many_reach_a_minimum(seed, by_rows):
    """Each step is made on the tangent at the row, and judged by the loss itself."""
    counts, F, G = problem(seed, m=CHUNK + 3 if seed % 2 else 40, share=0.3 + 0.05 * seed)
    rng, x = np.random.RandomState(seed), counts.toarray()
    alpha = rng.choice([0.01, 1.0, 20.0]) * rng.uniform(0.5, 2, size=(len(F), 1) if by_rows else (1, len(G)))
    ridge, F[1] = rng.uniform(size=(1, 4)) * (seed % 3), F[1] * 1e-6
    no_count = np.where(x > 0, x, 1)

    def values(F, rows=slice(None)):
        a, y = np.broadcast_to(alpha, x.shape)[rows], F @ G.T
        logs = np.where(x[rows] > 0, x[rows] * np.log(np.where(x[rows] > 0, y, 1) / no_count[rows]), 0)
        concave = (1 + a * x[rows]) / a * np.log((1 + a * y) / (1 + a * x[rows]))
        return (concave - logs).sum(axis=1) + (ridge * F**2).sum(axis=1)

    new, before = F, values(F)
    for _ in range(400):
        slopes = (1 + alpha * x) / (1 + alpha * (new @ G.T))
        new, _ = step(counts, new, G, slopes @ G, ridge, alpha=alpha)
        after = values(new)
        assert (after <= before + 1e-12 * (1 + np.abs(before))).all()
        before = after
    for i in range(len(F)):

        def phi(f, i=i):
            return values(f[None], slice(i, i + 1))[0]

        nearby = minimize(phi, new[i] + 1e-9, bounds=[(0, None)] * 4, method="L-BFGS-B", tol=1e-12).fun
        assert before[i] <= nearby + 1e-5 * (1 + abs(nearby))

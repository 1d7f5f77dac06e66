"""The projection to a given sparseness against Hoyer's own algorithm, brute force, and the definition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partwise.core.projections import onto_sparseness
from partwise.metrics import sparseness as measured


def hoyer(z, s):
    """Hoyer 2004, the projection of section 3.2, to L2 = 1: alternating steps until nothing is negative."""
    n = len(z)
    l1 = np.sqrt(n) - s * (np.sqrt(n) - 1)
    v = z + (l1 - z.sum()) / n
    zeros = np.zeros(n, bool)
    while True:
        middle = np.where(zeros, 0.0, l1 / (n - zeros.sum()))
        w = v - middle
        a, b, c = w @ w, 2 * (w @ middle), middle @ middle - 1
        v = middle + (-b + np.sqrt(max(b * b - 4 * a * c, 0))) / (2 * a) * w
        if (v >= 0).all():
            return v
        zeros |= v < 0
        v[zeros] = 0
        v[~zeros] -= (v.sum() - l1) / (~zeros).sum()


@pytest.mark.parametrize("n", [2, 3, 10, 200])
@pytest.mark.parametrize("s", [0.05, 0.3, 0.6, 0.95])
@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_hoyers_algorithm(n, s, seed):
    z = np.random.RandomState(seed).standard_normal(n) + 0.5
    u = hoyer(z, s)
    if u @ z <= 1e-12:
        assert not onto_sparseness(z, s).any()
    else:
        np.testing.assert_allclose(onto_sparseness(z, s), (u @ z) * u, atol=1e-9)


def test_no_sampled_vector_is_nearer():
    rng = np.random.RandomState(0)
    for _ in range(20):
        z, s = rng.standard_normal(3) + 0.7, rng.uniform(0.1, 0.9)
        w = onto_sparseness(z, s)
        # All directions of three non-negative entries with that sparseness: a circle on the sphere, cut by the octant.
        c = np.sqrt(3) - s * (np.sqrt(3) - 1)
        angle = np.linspace(0, 2 * np.pi, 20_000)
        a, b = np.array([1, -1, 0]) / np.sqrt(2), np.array([1, 1, -2]) / np.sqrt(6)
        u = c / 3 + np.sqrt(1 - c**2 / 3) * (np.outer(np.cos(angle), a) + np.outer(np.sin(angle), b))
        u = u[(u >= 0).all(axis=1)]
        lengths = np.maximum(u @ z, 0)
        best = np.linalg.norm(z - lengths[:, None] * u, axis=1).min()
        assert np.linalg.norm(z - w) <= best + 1e-12


numbers = st.floats(-10, 10, allow_subnormal=False).map(lambda value: round(value, 2))


@settings(max_examples=200, derandomize=True, deadline=None, database=None)
@given(st.lists(numbers, min_size=2, max_size=12), st.floats(0, 1), st.sampled_from([np.float64, np.float32]))
def test_definition(z, s, dtype):
    """Ties, zeros and negative numbers included."""
    z = np.array(z, dtype)
    before = z.copy()
    w = onto_sparseness(z, s)
    np.testing.assert_array_equal(z, before)
    assert w.dtype == dtype
    assert (w >= 0).all()
    if w.any():
        assert abs(measured(w) - s) < (1e-6 if dtype == np.float64 else 1e-3)
        # The point of a cone nearest to z: z − w is orthogonal to w.
        assert abs(w @ (z - w)) <= 1e-4 * (z @ z)
        np.testing.assert_allclose(onto_sparseness(w, s), w, atol=1e-4 * w.max())


def test_edges():
    np.testing.assert_array_equal(onto_sparseness(np.array([1.0, 3.0, 2.0]), 1.0), [0, 3, 0])
    np.testing.assert_allclose(onto_sparseness(np.array([1.0, 3.0, 2.0]), 0.0), [2, 2, 2])
    np.testing.assert_array_equal(onto_sparseness(np.array([-1.0, -3.0]), 0.5), [0, 0])
    np.testing.assert_array_equal(onto_sparseness(np.array([-1.0]), 0.5), [0])
    assert abs(measured(onto_sparseness(np.ones(7), 0.8)) - 0.8) < 1e-12

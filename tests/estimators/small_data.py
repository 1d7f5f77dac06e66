"""Small data of either sign, and sparse counts; and what orthogonal codes look like."""

import numpy as np


def signed(n=40, m=9, seed=0):
    rng = np.random.RandomState(seed)
    return rng.uniform(size=(n, 3)) @ rng.standard_normal((3, m)) + 0.3 * rng.standard_normal((n, m))


def counts(n=40, m=15, seed=0):
    rng = np.random.RandomState(seed)
    return rng.gamma(0.6, size=(n, m)) * (rng.uniform(size=(n, m)) < 0.6)


def assert_one_entry(F):
    assert (F >= 0).all()
    assert (np.count_nonzero(F, axis=1) <= 1).all()
    used = F.any(axis=0)
    np.testing.assert_allclose((F.T @ F)[np.ix_(used, used)], np.eye(used.sum()), atol=1e-6)

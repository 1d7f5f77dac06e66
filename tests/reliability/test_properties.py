"""What must hold for random data, for every estimator to which it can apply."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from case import SUBJECTS, check_usable
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from powers import units
from sklearn.base import clone

from partwise import NMF, GraphNMF, LocalCoordinateNMF, LocalLearningNMF, WeightedNMF
from partwise.core.units import scaled

few = settings(max_examples=3, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
seeds = st.integers(0, 10**6)
STARTED = {name: model for name, model in SUBJECTS.items() if "init" in model.get_params()}
# Its objective weighs counts, which have no other unit.
UNITLESS = {name: model for name, model in STARTED.items() if name != "LocalNMF"}


def named(models):
    return pytest.mark.parametrize("name", models)


def table(seed, zeros=0.3):
    """Samples of three groups, with zeros, of a size that the seed decides."""
    rng = np.random.RandomState(seed)
    n, m = rng.randint(12, 20), rng.randint(6, 12)
    parts = rng.gamma(0.5, size=(3, m)) + np.kron(np.eye(3), np.ones(m // 3 + 1))[:, :m]
    X = rng.dirichlet(np.full(3, 0.3), size=n) @ parts
    return np.where(rng.uniform(size=X.shape) < zeros, 0, X) + 0.01 * (np.arange(m) == np.arange(n)[:, None] % m)


def start(model, X, seed=0):
    """A start of the arrays that the method takes."""
    rng = np.random.RandomState(seed)
    (n, m), k = X.shape, model.n_components
    if "n_column_clusters" in model.get_params():
        return rng.uniform(size=(n, k)), rng.uniform(size=(k, k)), rng.uniform(size=(m, k))
    other = (n, k) if "kernel" in model.get_params() and "n_landmarks" in model.get_params() else (k, m)
    return rng.uniform(0.1, 1, size=(n, k)), rng.uniform(0.1, 1, size=other)


def fit(model, X, **params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return clone(model).set_params(**params).fit(X)


@named(SUBJECTS)
@few
@given(seed=seeds, zeros=st.sampled_from([0.0, 0.5, 0.95]))
def test_factors_are_finite_and_not_negative(name, seed, zeros):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        check_usable(SUBJECTS[name].fit(table(seed, zeros)))


@named(SUBJECTS)
@few
@given(seed=seeds)
def test_sparse_data_give_what_dense_data_give(name, seed):
    X = table(seed)
    dense, sparse = (fit(SUBJECTS[name], data) for data in (X, sp.csr_array(X)))
    size = np.abs(dense.embedding_).max()
    np.testing.assert_allclose(sparse.embedding_, dense.embedding_, rtol=1e-7, atol=1e-9 * size)


@named(STARTED)
@few
@given(seed=seeds)
def test_the_order_of_the_samples_does_not_matter(name, seed):
    # Of neighbours at the same distance the first is taken: leave none.
    X, model = table(seed, zeros=0.0), STARTED[name]
    X += 0.2 * np.random.RandomState(seed).uniform(size=X.shape)
    order = np.random.RandomState(seed).permutation(len(X))
    parts = start(model, X)
    permuted = tuple(part[order] if len(part) == len(X) else part for part in parts)
    params = {"max_iter": 3, "tol": 0.0}
    if "solver" in model.get_params():
        # Coordinate descent takes linked samples one after the other: there the way depends on their order.
        params["solver"] = "multiplicative"
    if "n_landmarks" in model.get_params():
        # The landmarks are chosen at random: with all samples there is nothing to choose.
        params["n_landmarks"] = len(X)
    here, there = fit(model, X, init=parts, **params), fit(model, X[order], init=permuted, **params)
    size = np.abs(here.embedding_).max()
    np.testing.assert_allclose(there.embedding_, here.embedding_[order], rtol=1e-5, atol=1e-7 * size)


@named(UNITLESS)
@few
@given(seed=seeds, power=st.integers(-20, 20))
def test_data_in_another_unit(name, seed, power):
    """Powers of two change only the unit, bit for bit."""
    X, model = table(seed), UNITLESS[name]
    expected, parts = units(model), start(model, X)
    moved = tuple(scaled(part, power * unit) for part, unit in zip(parts, expected.start, strict=True))
    here = fit(model, X, init=parts, max_iter=3, tol=0.0)
    there = fit(model, scaled(X, power), init=moved, max_iter=3, tol=0.0)
    np.testing.assert_array_equal(there.embedding_, scaled(here.embedding_, power * expected.codes))
    np.testing.assert_allclose(there.objective_, here.objective_ * 2.0 ** (power * expected.objective), rtol=1e-12)


@pytest.mark.parametrize(
    "model",
    [
        GraphNMF(3, graph_strength=0),
        LocalLearningNMF(3, local_strength=0),
        LocalCoordinateNMF(3, coordinate_strength=0, graph_strength=0),
        WeightedNMF(3),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("solver", ["coordinate", "multiplicative"])
@few
@given(seed=seeds)
def test_without_its_penalty_a_method_is_plain(model, solver, seed):
    X = table(seed)
    params = {"max_iter": 5, "tol": 0.0, "solver": solver, "random_state": 0}
    plain = fit(NMF(3), X, **params)
    np.testing.assert_array_equal(fit(model, X, **params).embedding_, plain.embedding_)


@named(STARTED)
@few
@given(seed=seeds)
def test_single_precision_is_near_double_precision(name, seed):
    X, model = table(seed, zeros=0.0), STARTED[name]
    params = {"init": start(model, X), "max_iter": 3, "tol": 0.0}
    double, single = fit(model, X, **params), fit(model, X.astype(np.float32), **params)
    assert single.embedding_.dtype == np.float32
    size = np.abs(double.embedding_).max()
    np.testing.assert_allclose(single.embedding_, double.embedding_, rtol=0.02, atol=5e-3 * size)


@named([name for name, model in SUBJECTS.items() if hasattr(model, "transform")])
@few
@given(seed=seeds)
def test_new_samples_are_coded_one_by_one(name, seed):
    X = table(seed)
    model = fit(SUBJECTS[name], X)
    together = model.transform(X[:4])
    alone = np.vstack([model.transform(X[i : i + 1]) for i in range(4)])
    np.testing.assert_allclose(alone, together, rtol=1e-6, atol=1e-8 * max(together.max(), 1))

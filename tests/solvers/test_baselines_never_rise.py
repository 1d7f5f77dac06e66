"""The baselines on random problems: no objective rises, and what is reported is what is returned."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from partwise import NMF, CauchyNMF, LocalNMF, SparsenessNMF, TensorNMF, WeightedNMF

# Few samples, many components and dead ones are all meant here.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

modestly = settings(
    max_examples=30, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)
shares = st.sampled_from([None, 0.0, 0.3, 0.8, 1.0])


@st.composite
def problems(draw):
    """Data in any container and precision, with zero rows and columns, and weights for samples or none."""
    rng = np.random.RandomState(draw(st.integers(0, 2**16)))
    n = draw(st.integers(1, 12))
    X = rng.gamma(0.7, size=(n, 6)) * (rng.uniform(size=(n, 6)) < 0.7) * draw(st.sampled_from([1.0, 1e-3, 1e3]))
    if draw(st.booleans()):
        X[rng.randint(n)] = 0
        X[:, rng.randint(6)] = 0
    X[0, 0] += not X.any()
    X = X.astype(draw(st.sampled_from([np.float64, np.float64, np.float32])))
    weight = rng.uniform(0.1, 3.0, size=n) if draw(st.booleans()) else None
    return X, draw(st.sampled_from([np.ascontiguousarray, np.asfortranarray, sp.csr_array, sp.csc_matrix])), weight, rng


def check_fit(model, problem, explicit=None, weighted=True):
    X, make, weight, _ = problem
    weight = weight if weighted else None
    model.set_params(init="random", random_state=0, max_iter=10, tol=0).fit(make(X), sample_weight=weight)
    W, H = model.embedding_, model.components_
    for factor in (W, H):
        assert factor.dtype == X.dtype
        assert np.isfinite(factor).all()
        assert (factor >= 0).all()
    objective = np.array(model.history_["objective"])
    assert len(objective) == 11
    size = max(float((np.float64(X) ** 2).sum()) * (1 if weight is None else weight.max()), abs(objective[0]))
    rise = 1e-10 if X.dtype == np.float64 else 1e-5
    assert np.diff(objective).max() <= rise * size, objective
    if explicit is not None and X.dtype == np.float64:
        s = np.ones(len(X)) if weight is None else weight
        assert abs(objective[-1] - (s[:, None] * explicit(X, W @ H)).sum()) <= 1e-8 * size


def squares(X, Y):
    return (X - Y) ** 2


@modestly
@given(problems(), st.integers(1, 4), shares, shares)
def test_sparseness(problem, k, components, codes):
    model = SparsenessNMF(k, components_sparseness=components, codes_sparseness=codes)
    check_fit(model, problem, squares, weighted=codes is None)


@modestly
@given(problems(), st.integers(1, 4), st.sampled_from([None, (6,), (2, 3), (3, 1, 2)]))
def test_tensor(problem, k, shape):
    check_fit(TensorNMF(k, sample_shape=shape), problem, squares)


@modestly
@given(problems(), st.integers(1, 4))
def test_local(problem, k):
    check_fit(LocalNMF(k), problem)


@modestly
@given(problems(), st.integers(1, 4), st.sampled_from([0.5, 3.0, np.inf]))
def test_cauchy(problem, k, truncation):
    model = CauchyNMF(k, truncation=truncation)

    def explicit(X, Y):
        scale = model.cauchy_scale_
        return scale**2 * np.log1p(np.minimum(((X - Y) / scale) ** 2, truncation**2))

    check_fit(model, problem, explicit)


@modestly
@given(problems(), st.integers(1, 4), st.sampled_from(["frobenius", "kullback-leibler"]))
def test_ncut(problem, k, loss):
    check_fit(NMF(k, weighting="ncut", loss=loss), problem)


@modestly
@given(problems(), st.integers(1, 4), st.booleans(), st.floats(0, 0.95))
def test_weighted(problem, k, sparse, hidden):
    X, _, _, rng = problem
    weights = rng.uniform(0.1, 2, size=X.shape) * (rng.uniform(size=X.shape) >= hidden)
    weights[0, 0] = 1
    given = sp.csr_array(weights) if sparse else weights
    check_fit(WeightedNMF(k, weights=given), problem, lambda X, Y: weights * squares(X, Y))

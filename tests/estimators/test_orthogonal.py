"""OrthogonalNMF and OrthogonalTriNMF: what they share, exact constraints, no rise, hard data."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from small_data import assert_one_entry, counts

from partwise import OrthogonalNMF, OrthogonalTriNMF

METHODS = [OrthogonalNMF(), OrthogonalTriNMF()]
by_name = {"ids": lambda estimator: type(estimator).__name__}


@settings(max_examples=60, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(st.data())
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_never_rises(data):
    n, m, k = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 10)), data.draw(st.integers(1, 5))
    rng = np.random.RandomState(data.draw(st.integers(0, 2**16)))
    X = rng.gamma(0.7, size=(n, m)) * (rng.uniform(size=(n, m)) < 0.6)
    if data.draw(st.booleans()):
        X[rng.randint(n)] = 0
        X[:, rng.randint(m)] = 0
    X[rng.randint(n)] = X[0]
    X = X.astype(data.draw(st.sampled_from([np.float64, np.float32])))
    method = clone(data.draw(st.sampled_from(METHODS))).set_params(n_components=k, random_state=0, max_iter=15, tol=0)
    method.set_params(init=data.draw(st.sampled_from(["auto", "random"])))
    model = method.fit(data.draw(st.sampled_from([np.asarray, sp.csr_array, sp.csc_matrix]))(X))
    assert_one_entry(model.embedding_)
    objective = np.array(model.history_["objective"])
    size = max(float((X.astype(float) ** 2).sum()), 1e-60)
    assert np.diff(objective).max() <= 1e-10 * size
    fitted = model.embedding_ @ model.components_
    assert abs(objective[-1] - ((X.astype(float) - fitted) ** 2).sum()) <= (1e-10 if X.dtype == float else 1e-5) * size
    assert model.embedding_.dtype == model.components_.dtype == X.dtype


@pytest.mark.parametrize("method", METHODS, **by_name)
@pytest.mark.parametrize("solver", ["assignment", "multiplicative"])
@pytest.mark.parametrize(
    "X", [np.zeros((6, 4)), np.ones((6, 4)), np.eye(6), np.eye(3), np.vstack([np.zeros((3, 4)), np.ones((3, 4))])]
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_hard_data(method, solver, X):
    model = clone(method).set_params(n_components=4, solver=solver, random_state=0, max_iter=10, tol=0).fit(X)
    assert np.isfinite(model.history_["objective"]).all()
    assert np.isfinite(model.transform(X)).all()
    assert model.labels_.shape == (len(X),)


@pytest.mark.parametrize("method", METHODS, **by_name)
def test_warm_start_and_given_start(method):
    X = counts()
    model = clone(method).set_params(n_components=4, max_iter=3, tol=0, random_state=0, warm_start=True).fit(X)
    first = model.objective_
    assert model.fit(X).history_["objective"][0] == pytest.approx(first)
    assert model.objective_ <= first


@pytest.mark.parametrize("method", METHODS, **by_name)
def test_negative_data_are_refused(method):
    with pytest.raises(ValueError, match="Negative values"):
        clone(method).fit(-counts())

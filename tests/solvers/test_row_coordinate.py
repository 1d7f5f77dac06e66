"""Coordinate descent with a Gram matrix for every row: it ends where the multiplicative rules would, much earlier."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from explicit import fit_value
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls
from sklearn.datasets import load_digits

from partwise import NMF, Factorization, WeightedNMF
from partwise.core.objective import Objective
from partwise.core.state import State
from partwise.core.storage import as_operand
from partwise.graphs import neighbor_graph
from partwise.solvers import row_coordinate as module
from partwise.solvers.row_coordinate import RowCoordinate
from partwise.solvers.steps import answered
from partwise.terms import L1, L2, Frobenius, Gauged, NeighborGraph

RNG = np.random.RandomState(0)
X = np.maximum(RNG.gamma(0.6, size=(60, 4)) @ RNG.gamma(0.6, size=(4, 25)) + RNG.normal(0, 0.1, size=(60, 25)), 0)
FEW, HALF = (np.where(RNG.uniform(size=X.shape) < share, np.nan, X) for share in (0.1, 0.5))
MOST = np.where(RNG.uniform(size=X.shape) < 0.6, np.nan, X)
STORED = sp.csr_array(np.where(RNG.uniform(size=X.shape) < 0.4, X + 0.01, 0))
WEIGHTS = RNG.uniform(size=X.shape)
START = (RNG.uniform(0.1, 1, size=(60, 4)), RNG.uniform(0.1, 1, size=(4, 25)))
COMMON = {"n_components": 4, "init": START}
GRAPH = neighbor_graph(X, 4)


def with_graph(strength, **others):
    return Factorization(terms=[Frobenius(), NeighborGraph(strength, graph=GRAPH)], missing="nan", **COMMON, **others)


CASES = {
    "few holes": (NMF(**COMMON, missing="nan"), FEW),
    "many holes": (NMF(**COMMON, missing="nan"), HALF),
    "sparse holes": (NMF(**COMMON, missing="nan"), sp.csr_array(FEW)),
    "only what is stored": (NMF(**COMMON, missing="unstored"), STORED),
    "float32": (NMF(**COMMON, missing="nan"), FEW.astype(np.float32)),
    "float32, many holes": (NMF(**COMMON, missing="nan"), HALF.astype(np.float32)),
    "penalties": (NMF(**COMMON, missing="nan", l1_codes=0.3, l2_codes=0.1, l1_components=0.1, l2_components=0.2), HALF),
    "penalties under the gauge": (NMF(**COMMON, missing="nan", l1_codes=0.5, l2_codes=0.1), HALF),
    "weights": (WeightedNMF(**COMMON, weights=WEIGHTS), X),
    "weights, sparse data": (WeightedNMF(**COMMON, weights=WEIGHTS), sp.csr_array(X)),
    "sparse weights": (WeightedNMF(**COMMON, weights=sp.csr_array(WEIGHTS * (WEIGHTS > 0.6))), X),
    "weights and holes": (WeightedNMF(**COMMON, weights=WEIGHTS, missing="nan"), FEW),
    "a graph": (with_graph(1.0), HALF),
    "a strong graph": (with_graph(50.0), HALF),
    "a graph, free scale": (with_graph(0.1, scale=None), FEW),
}


@pytest.mark.filterwarnings("ignore:The fit has not converged")
@pytest.mark.parametrize("case", CASES)
def test_ends_at_least_as_low_as_the_rules(case):
    estimator, data = CASES[case]
    fast = estimator.set_params(solver="auto", max_iter=300, tol=1e-6).fit(data)
    assert fast.solver_ == "coordinate"
    objective = np.array(fast.history_["objective"])
    assert (np.diff(objective) <= (2e-6 if data.dtype == np.float32 else 1e-11) * objective[0]).all()
    rules = estimator.set_params(solver="multiplicative", max_iter=len(objective) - 1, tol=0).fit(data)
    assert fast.objective_ <= rules.objective_ * (1 + 1e-4)


@pytest.mark.filterwarnings("ignore:The fit has not converged")
@pytest.mark.parametrize("case", CASES)
def test_the_rules_find_nothing_to_improve_at_its_end(case):
    """A stationary point of one solver is one of the other: started there, the rules stay and gain next to nothing."""
    estimator, data = CASES[case]
    single = data.dtype == np.float32
    estimator.set_params(solver="auto", init=START, max_iter=3000, tol=1e-6 if single else 1e-10, scale=None)
    if isinstance(estimator, Factorization):
        estimator.set_params(scale="auto")
    fast = estimator.fit(data)
    ends = (fast.embedding_, fast.components_)
    rules = estimator.set_params(solver="multiplicative", init=ends, max_iter=20, tol=0).fit(data)
    estimator.set_params(init=START)
    objective = np.array(rules.history_["objective"])
    # The start's zeros are lifted, which costs a little at first.
    assert objective[-1] >= fast.objective_ * (1 - (1e-3 if single else 1e-5))


@pytest.mark.parametrize("case", [name for name in CASES if "float32" not in name])
def test_objective_is_that_of_the_definition(case):
    estimator, data = CASES[case]
    model = estimator.set_params(solver="auto", max_iter=15, tol=0).fit(data)
    if getattr(data, "nnz", 0) and estimator.get_params().get("missing") == "unstored":
        known, values = data.toarray() > 0, data.toarray()
    else:
        values = data.toarray() if sp.issparse(data) else data
        known = ~np.isnan(values)
    weights = estimator.get_params().get("weights")
    weights = 1.0 if weights is None else weights.toarray() if sp.issparse(weights) else weights
    expected = fit_value(np.nan_to_num(values), model.embedding_, model.components_, 2, known * weights)
    np.testing.assert_allclose(model.history_["fit"][-1], expected, rtol=1e-9)


@pytest.mark.parametrize("case", ["few holes", "many holes", "sparse holes", "weights", "penalties", "a graph"])
def test_default_fits_converge(case):
    estimator, data = CASES[case]
    estimator.set_params(solver="auto", max_iter=500, tol=1e-6).fit(data)
    assert estimator.stop_reason_ == "converged"


@pytest.mark.parametrize("share", [0.05, 0.3])
def test_default_fits_of_ordinary_data_do_not_warn(share):
    digits = load_digits().data
    holes = np.where(np.random.RandomState(0).uniform(size=digits.shape) < share, np.nan, digits)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = NMF(8, missing="nan", random_state=0).fit(holes)
    assert model.stop_reason_ == "converged"
    assert model.n_iter_ < 200


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("data", [FEW, HALF, MOST], ids=["few", "half", "most"])
def test_new_samples_have_the_codes_of_least_squares(data, make):
    model = NMF(**COMMON, missing="nan", max_iter=20, tol=0).fit(make(data))
    new = np.where(RNG.uniform(size=X.shape) < np.isnan(data).mean(), np.nan, X)
    codes, H = model.transform(make(new)), model.components_
    for i, x in enumerate(new):
        seen = ~np.isnan(x)
        best, residual = nnls(H[:, seen].T, x[seen])
        np.testing.assert_allclose(np.linalg.norm(x[seen] - codes[i] @ H[:, seen]), residual, atol=1e-7)
        if np.linalg.cond(H[:, seen]) < 1e3 and seen.sum() >= 4:
            np.testing.assert_allclose(codes[i], best, atol=1e-5)
    one_by_one = np.vstack([model.transform(make(new[i : i + 1])) for i in range(10)])
    np.testing.assert_allclose(codes[:10], one_by_one, rtol=1e-6, atol=1e-6)


def test_a_fitted_model_keeps_no_data(tmp_path):
    data = np.random.RandomState(0).uniform(size=(400, 300))
    data[np.random.RandomState(1).uniform(size=data.shape) < 0.1] = np.nan
    NMF(2, missing="nan", max_iter=5, tol=0, random_state=0).fit(data).save(tmp_path / "model.npz")
    assert (tmp_path / "model.npz").stat().st_size < 0.1 * data.nbytes


def test_links_of_rows_whose_gram_matrices_are_not_kept(monkeypatch):
    """Then rows are visited once in a sweep: slower, to the same end."""
    monkeypatch.setattr(module, "KEPT_BYTES", 0)
    once = with_graph(1.0, max_iter=1000, tol=1e-9).fit(FEW)
    monkeypatch.undo()
    often = with_graph(1.0, max_iter=1000, tol=1e-9).fit(FEW)
    assert once.stop_reason_ == often.stop_reason_ == "converged"
    np.testing.assert_allclose(once.objective_, often.objective_, rtol=1e-3)


strengths = st.sampled_from([0.0, 0.0, 1e-3, 0.5, 30.0, 1e4])


@settings(max_examples=150, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**16), st.data())
def test_no_plain_sweep_rises(seed, data):
    """Codes and components one after the other, never extrapolated, over penalties, masks, weights and types."""
    rng = np.random.RandomState(seed)
    n, m, k = rng.randint(1, 30), rng.randint(1, 20), rng.randint(1, 6)
    dtype = data.draw(st.sampled_from([np.float64, np.float32]))
    x = (rng.gamma(0.7, size=(n, m)) * data.draw(st.sampled_from([1e-4, 1.0, 1e4]))).astype(dtype)
    known = rng.uniform(size=x.shape) >= data.draw(st.sampled_from([0.02, 0.3, 0.9]))
    known[0, 0] = True
    weights = data.draw(st.sampled_from([None, "dense", "sparse"]))
    V = None if weights is None else (rng.uniform(size=x.shape) ** 4).astype(dtype)
    s = (rng.uniform(0, 2, n) * rng.binomial(1, 0.8, n) + (np.arange(n) == 0)).astype(dtype)
    s = data.draw(st.sampled_from([None, s]))
    form = data.draw(st.sampled_from(["nan", "sparse nan", "unstored"]))
    holes = np.where(known, x, dtype(np.nan))
    array = holes if form == "nan" else sp.csr_array(holes if form == "sparse nan" else np.where(known, x, 0))
    operand = as_operand(array, form.split()[-1], s)
    E = rng.uniform(size=(n, n)) * rng.binomial(1, 0.3, (n, n))
    a, b, c, d = (data.draw(strengths) for _ in range(4))
    penalties = [L1(a), L2(b), NeighborGraph(c, graph=sp.csr_array(np.triu(E, 1) + np.triu(E, 1).T))]
    bound = [penalty.bind(operand, sample_weight=s) for penalty in penalties]
    gauge = data.draw(st.booleans())
    terms = [
        Frobenius(V if weights != "sparse" else sp.csr_array(V)).bind(operand, sample_weight=s),
        *(Gauged(penalty) if gauge else penalty for penalty in bound),
        *([] if gauge else [L2(d, "components").bind(operand)]),
    ]
    objective = Objective(terms)
    solver = RowCoordinate(objective)
    state = State(operand, rng.uniform(size=(n, k)).astype(dtype), rng.uniform(size=(m, k)).astype(dtype))
    values = [sum(objective.values(state).values())]
    for _ in range(5):
        state = answered(solver._improve_components(answered(solver._code(state, 0.0))[0]))
        assert np.isfinite(state.W).all()
        assert np.isfinite(state.Ht).all()
        values.append(sum(objective.values(state).values()))
    size = max(values[0], terms[0].row_squares().squares.total)
    assert np.diff(values).max() <= (1e-11 if dtype == np.float64 else 2e-6) * size, values

"""CauchyNMF: the loss by definition, the weights of its steps, its scale and its outliers."""

import numpy as np
import pytest
import scipy.sparse as sp

from partwise import NMF, CauchyNMF
from partwise.core.objective import Objective
from partwise.core.state import State
from partwise.core.storage import as_operand
from partwise.kernels import cauchy as kernels
from partwise.solvers.codes import code_rows
from partwise.terms import TruncatedCauchy
from partwise.terms.cauchy import residual_deviation, truncated_entries
from partwise.testing import check_term

RNG = np.random.RandomState(0)
N, M, K = 40, 15, 3
TRUE = RNG.gamma(1.0, size=(N, K)) @ RNG.gamma(0.7, size=(K, M))
X = np.maximum(TRUE + 0.05 * RNG.standard_normal((N, M)), 0)
BROKEN = RNG.uniform(size=X.shape) < 0.1
SPOILT = np.where(BROKEN, X + 20, X)
START = RNG.uniform(0.1, 1, size=(N, K)), RNG.uniform(0.1, 1, size=(K, M))


def loss(X, W, H, scale, truncation):
    return scale**2 * np.log1p(np.minimum(((X - W @ H) / scale) ** 2, truncation**2)).sum()


@pytest.mark.parametrize("sample_weight", [None, np.arange(N) % 4], ids=["plain", "weighted"])
@pytest.mark.parametrize("term", [TruncatedCauchy(0.7), TruncatedCauchy(2.0, 1.5)], ids=repr)
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_term(term, make, sample_weight):
    check_term(term, make(X * (X > 0.3)), sample_weight=sample_weight)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csc_matrix], ids=["dense", "csr", "csc"])
def test_half_quadratic_rules(make):
    """The steps of the paper: weights from the residuals, then multiplicative steps on the weighted error."""
    data = SPOILT * (SPOILT > 0.2)
    W, H = (factor.copy() for factor in START)
    values = [loss(data, W, H, 1.5, 4.0)]
    for _ in range(20):
        for codes in (True, False):
            R = np.abs(data - W @ H)
            Q = np.where(R <= 6.0, 1 / (1 + (R / 1.5) ** 2), 0)
            if codes:
                W *= ((Q * data) @ H.T) / ((Q * (W @ H)) @ H.T)
            else:
                H *= (W.T @ (Q * data)) / (W.T @ (Q * (W @ H)))
        values.append(loss(data, W, H, 1.5, 4.0))
    rules = CauchyNMF(K, cauchy_scale=1.5, truncation=4.0, init=START, scale=None, max_iter=20, tol=0)
    model = rules.set_params(solver="multiplicative").fit(make(data))
    np.testing.assert_allclose(model.embedding_, W, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(model.components_, H, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(model.history_["objective"], values, rtol=1e-9)
    assert np.diff(values).max() <= 1e-9 * values[0]
    outliers = np.abs(data - W @ H) > 6.0
    np.testing.assert_array_equal(model.outliers_.toarray(), outliers)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("truncation", [3.0, np.inf])
@pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, sp.csr_array], ids=["C", "F", "sparse"])
def test_coordinate_descent_needs_few_sweeps(make, truncation, dtype):
    """A tenth of the sweeps of the paper's rules for a loss that is as low, and it never rises."""
    data = make((SPOILT * (SPOILT > 0.2)).astype(dtype))
    given = {"cauchy_scale": 1.5, "truncation": truncation, "tol": 0}
    begin = CauchyNMF(K, solver="multiplicative", random_state=1, max_iter=1, **given).fit(data)
    given["init"] = begin.embedding_, begin.components_
    rules = CauchyNMF(K, solver="multiplicative", max_iter=300, **given).fit(data)
    model = CauchyNMF(K, max_iter=30, **given).fit(data)
    assert model.solver_ == "coordinate"
    assert model.objective_ <= 1.001 * rules.objective_
    assert np.diff(model.history_["objective"]).max() <= 0
    W, H = (np.float64(factor) for factor in (model.embedding_, model.components_))
    dense = data.toarray() if sp.issparse(data) else data
    np.testing.assert_allclose(model.objective_, loss(np.float64(dense), W, H, 1.5, truncation), rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", [1, 7, 8, 9, 16, 100])
def test_kernels_by_definition(width, dtype):
    """The loss from few logarithms, for residuals of all sizes, and the imputed data."""
    rng = np.random.RandomState(width)
    x = (rng.uniform(size=(9, width)) * 10.0 ** np.linspace(-9, 12, 9)[:, None]).astype(dtype)
    y = rng.uniform(size=x.shape).astype(dtype)
    scale, limit = dtype(0.5), dtype(1e30)
    excess = np.square((np.float64(x) - y) / 0.5)
    values = np.empty(9)
    kernels.sum_rows(x, y, scale, limit, values)
    tolerance = 1e-12 if dtype == np.float64 else 1e-5
    np.testing.assert_allclose(values, np.log1p(excess).sum(axis=1), rtol=tolerance)
    imputed = y.copy()
    kernels.impute_rows(x, imputed, scale, limit)
    np.testing.assert_allclose(imputed, y + (np.float64(x) - y) / (1 + excess), rtol=tolerance, atol=tolerance)
    far = y.copy()
    kernels.impute_rows(x, far, scale, dtype(1e-30))
    np.testing.assert_array_equal(far, y)


def test_new_samples_are_coded_as_well_as_by_the_rules():
    model = CauchyNMF(K, random_state=0, max_iter=100, tol=0).fit(SPOILT)
    scale = model.cauchy_scale_
    losses = {}
    for offers in (True, False):
        objective = Objective([TruncatedCauchy(scale, 3.0).bind(as_operand(SPOILT))])
        objective.terms[0].offers_quadratic = offers
        codes = code_rows(objective, as_operand(SPOILT), model.components_.T.copy(), start=model.embedding_ + 1e-3)
        losses[offers] = loss(SPOILT, codes, model.components_, scale, 3.0)
    assert losses[True] <= 1.001 * losses[False]


def test_a_sample_of_outliers_alone_stays_and_the_others_move():
    rng = np.random.RandomState(0)
    W, Ht = rng.uniform(1, 2, size=(6, 2)), rng.uniform(1, 2, size=(5, 2))
    data = W @ Ht.T * rng.uniform(0.9, 1.1, size=(6, 5))
    data[2] = 1e3

    def halves(data, W):
        split = TruncatedCauchy(1.0, 10.0).bind(as_operand(data)).split(State(as_operand(data), W, Ht), "codes")
        return *split.down.values(), *split.up.values()

    down, up = halves(data, W)
    np.testing.assert_array_equal(down[2], up[2])
    assert (down[2] > 0).all()
    rest = np.arange(6) != 2
    np.testing.assert_allclose((down[rest], up[rest]), halves(data[rest], W[rest]))


@pytest.mark.parametrize("solver", ["coordinate", "multiplicative"])
def test_a_wide_scale_is_the_squared_error(solver):
    wide = CauchyNMF(K, cauchy_scale=1e6, truncation=np.inf, init=START, max_iter=30, tol=0, solver=solver).fit(X)
    plain = NMF(K, solver=solver, init=START, max_iter=30, tol=0).fit(X)
    np.testing.assert_allclose(wide.components_, plain.components_, rtol=1e-6)
    np.testing.assert_allclose(wide.objective_, plain.objective_, rtol=1e-6)
    assert wide.outliers_.nnz == 0


def test_outliers_are_found_and_do_not_harm():
    model = CauchyNMF(K, random_state=0, max_iter=300, tol=0).fit(SPOILT)
    assert model.outliers_.toarray()[BROKEN].mean() > 0.9
    assert model.outliers_.toarray()[~BROKEN].mean() < 0.1
    objective = np.array(model.history_["objective"])
    assert np.diff(objective).max() <= 1e-10 * (SPOILT**2).sum()

    def error(model):
        return ((model.embedding_ @ model.components_ - TRUE) ** 2).sum()

    assert error(model) < 0.1 * error(NMF(K, random_state=0).fit(SPOILT))
    # A new sample with an outlier gets about the code it would have without.
    codes, clean = model.transform(SPOILT), model.transform(X)
    assert np.median(np.abs(codes - clean)) < 0.1 * np.median(clean)


def test_deviation_of_the_residuals():
    rng = np.random.RandomState(0)
    W, Ht = rng.uniform(1, 2, size=(300, 2)), rng.uniform(1, 2, size=(200, 2))
    noisy = W @ Ht.T + 0.1 * rng.standard_normal((300, 200))
    noisy[rng.uniform(size=noisy.shape) < 0.1] = 50
    assert 0.09 < residual_deviation(as_operand(noisy), W, Ht) < 0.13
    assert residual_deviation(as_operand(sp.csr_array(noisy)), W, Ht) == residual_deviation(as_operand(noisy), W, Ht)
    exact = residual_deviation(as_operand(W @ Ht.T), W, Ht)
    assert 0 < exact < 0.01
    # Samples of weight zero are ignored.
    counts = np.arange(300) < 100
    wild = np.where(counts[:, None], noisy, 1e3)
    alone = residual_deviation(as_operand(noisy[:100]), W[:100], Ht)
    assert residual_deviation(as_operand(wild, sample_weight=counts.astype(float)), W, Ht) == alone
    found = truncated_entries(as_operand(noisy), W, Ht, 10.0)
    np.testing.assert_array_equal(found.toarray(), noisy == 50)


def test_spoilt_samples_have_no_say_in_the_clusters():
    rng = np.random.RandomState(0)
    blocks = np.kron(np.eye(3), np.ones((20, 5))) + rng.uniform(0, 0.1, size=(60, 15))
    blocks[::10] = rng.uniform(0, 50, size=(6, 15))
    model = CauchyNMF(3, n_init=5, random_state=0, max_iter=200, tol=0).fit(blocks)
    clean = np.arange(60) % 10 != 0
    assert (model.outliers_.mean(axis=1)[~clean] > 0.25).all()
    for block in range(3):
        members = clean & (np.arange(60) // 20 == block)
        assert len(set(model.labels_[members])) == 1
    assert set(model.labels_) == {0, 1, 2}


def test_bad_scale():
    with pytest.raises(ValueError, match="cauchy_scale"):
        CauchyNMF(2, cauchy_scale=0.0).fit(X)
    with pytest.raises(ValueError, match="must be positive"):
        TruncatedCauchy(1.0, -1.0).bind(as_operand(X))

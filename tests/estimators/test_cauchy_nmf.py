"""CauchyNMF: the paper's rules, its scale and its outliers."""

import numpy as np
import pytest
import scipy.sparse as sp

from partwise import NMF, CauchyNMF
from partwise.core.objective import Objective
from partwise.core.storage import as_operand
from partwise.solvers.codes import code_rows
from partwise.terms import TruncatedCauchy

RNG = np.random.RandomState(0)
N, M, K = 40, 15, 3
TRUE = RNG.gamma(1.0, size=(N, K)) @ RNG.gamma(0.7, size=(K, M))
X = np.maximum(TRUE + 0.05 * RNG.standard_normal((N, M)), 0)
BROKEN = RNG.uniform(size=X.shape) < 0.1
SPOILT = np.where(BROKEN, X + 20, X)
START = RNG.uniform(0.1, 1, size=(N, K)), RNG.uniform(0.1, 1, size=(K, M))


def loss(X, W, H, scale, truncation):
    return scale**2 * np.log1p(np.minimum(((X - W @ H) / scale) ** 2, truncation**2)).sum()


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

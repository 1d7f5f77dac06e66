"""Robust losses by definition: values, trust, imputed data, unknown entries; and the residuals they are meant for."""

import numpy as np
import pytest
import scipy.sparse as sp

from partwise import NMF, Factorization
from partwise.core.state import State
from partwise.core.storage import as_operand
from partwise.kernels import robust as kernels
from partwise.terms import Frobenius, Huber, TruncatedCauchy
from partwise.terms.residuals import residual_deviation, truncated_entries
from partwise.testing import check_term

RNG = np.random.RandomState(0)
N, M, K = 40, 15, 3
X = RNG.gamma(1.0, size=(N, K)) @ RNG.gamma(0.7, size=(K, M))
START = RNG.uniform(0.1, 1, size=(N, K)), RNG.uniform(0.1, 1, size=(K, M))
LOSSES = [TruncatedCauchy(0.7), TruncatedCauchy(2.0, 1.5), Huber(0.4)]


def loss(term, R):
    """The definition of the loss, summed over residuals."""
    e = np.square(R / term.scale)
    if isinstance(term, Huber):
        return term.scale**2 * np.where(e <= 1, e, 2 * np.sqrt(e) - 1).sum()
    return term.scale**2 * np.log1p(np.minimum(e, term.truncation**2)).sum()


@pytest.mark.parametrize("sample_weight", [None, np.arange(N) % 4], ids=["plain", "weighted"])
@pytest.mark.parametrize("term", LOSSES, ids=repr)
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_term(term, make, sample_weight):
    check_term(term, make(X * (X > 0.3)), sample_weight=sample_weight)


@pytest.mark.parametrize("term", LOSSES, ids=repr)
@pytest.mark.parametrize("form", ["few holes", "many holes", "unstored"])
def test_unknown_entries_do_not_count(term, form):
    """Blocks of rows, or the list of known entries, or those of a sparse pattern."""
    known = RNG.uniform(size=X.shape) < (0.1 if form == "many holes" else 0.8)
    known[:, 0] = known[0] = True
    given, missing = np.where(known, X, np.nan), "nan"
    if form == "unstored":
        given, missing = sp.csr_array(np.where(known, X, 0)), "unstored"
    check_term(term, given, missing=missing)
    bound = term.bind(as_operand(given, missing))
    assert bound.offers_quadratic == (form == "few holes")
    W, H = START
    value = bound.value(State(as_operand(given, missing), W, H.T.copy()))
    np.testing.assert_allclose(value, loss(term, (X - W @ H)[known]), rtol=1e-12)
    model = Factorization(K, terms=[term], missing=missing, init=START, max_iter=20, tol=0).fit(given)
    assert model.solver_ == ("coordinate" if form == "few holes" else "newton")
    np.testing.assert_allclose(model.objective_, loss(term, (X - model.embedding_ @ model.components_)[known]))
    assert np.diff(model.history_["objective"]).max() <= 1e-10 * model.history_["objective"][0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", [1, 7, 8, 9, 16, 100])
def test_kernels_by_definition(width, dtype):
    """The loss, from few logarithms, for residuals of all sizes; the imputed data and the halves of the gradient."""
    rng = np.random.RandomState(width)
    x = (rng.uniform(size=(9, width)) * 10.0 ** np.linspace(-9, 12, 9)[:, None]).astype(dtype)
    y = rng.uniform(0.1, 1, size=x.shape).astype(dtype)
    x[3, width // 2] = np.nan
    scale, limit = dtype(0.5), dtype(1e30)
    excess = np.square((np.float64(x) - y) / 0.5)
    tolerance = 1e-12 if dtype == np.float64 else 1e-5
    for term in (TruncatedCauchy(0.5), Huber(0.5)):
        values, imputed, up, down = np.empty(9), y.copy(), y.copy(), np.empty_like(x)
        kernels.sum_rows(x, y, scale, limit, term.huber, values)
        np.testing.assert_allclose(values, np.nansum(term.costs(excess), axis=1), rtol=tolerance)
        trust = np.nan_to_num(term.trust(excess))
        kernels.impute_rows(x, imputed, scale, limit, term.huber)
        expected = y + trust * (np.nan_to_num(np.float64(x)) - y)
        np.testing.assert_allclose(imputed, expected, rtol=tolerance, atol=tolerance)
        kernels.weigh_rows(x, up, scale, limit, term.huber, dtype(1e-9), down)
        np.testing.assert_allclose(up, trust * y, rtol=10 * tolerance)
        np.testing.assert_allclose(down, trust * np.nan_to_num(x), rtol=10 * tolerance)
    far = y.copy()
    kernels.impute_rows(x, far, scale, dtype(1e-30), False)
    np.testing.assert_array_equal(far, y)


@pytest.mark.parametrize("term", LOSSES, ids=repr)
def test_bounds_of_entries_lie_above_the_loss(term):
    """Derivatives agree with finite differences, and the squared error is a bound for every step."""
    form = term.bind(as_operand(X)).entrywise()
    rows, y = form.rows("codes", slice(0, N)), START[0] @ START[1]
    slope, bent, firm, second = (np.empty_like(y) for _ in range(4))
    rows.derive(y, slope, bent, firm)
    rows.bend(y, second)

    def costs(y):
        return np.vectorize(lambda r: loss(term, np.array([r])))(X - y)

    h, kink = 1e-5, term.scale * (1.0 if isinstance(term, Huber) else min(term.truncation, 1e9))
    smooth = np.abs(np.abs(X - y) - kink) > 2 * h
    ahead, here, behind = costs(y + h), costs(y), costs(y - h)
    np.testing.assert_allclose(slope[smooth], ((ahead - behind) / (2 * h))[smooth], atol=1e-6)
    np.testing.assert_allclose((second / y**2)[smooth], ((ahead - 2 * here + behind) / h**2)[smooth], atol=1e-4)
    np.testing.assert_allclose(rows.values(y), here.sum(axis=1))
    assert not bent.any()
    for t in (-1.0, -0.3, 0.1, 4.0):
        assert (costs(y * (1 + t)) <= here + slope * y * t + 0.5 * firm * t**2 + 1e-12).all()


@pytest.mark.parametrize("term", [TruncatedCauchy(1e6), Huber(1e3)], ids=repr)
def test_a_wide_scale_is_the_squared_error(term):
    W, H = START
    state = State(as_operand(X), W, H.T.copy())
    for factor in ("codes", "components"):
        wide, plain = (each.bind(state.X).quadratic(state, factor) for each in (term, Frobenius()))
        np.testing.assert_allclose(wide.attract, state.product(factor), rtol=1e-9)
        np.testing.assert_allclose(wide.couplings[0].gram, plain.couplings[0].gram)
    given = {"solver": "multiplicative", "init": START, "max_iter": 30, "tol": 0, "scale": None}
    wide, plain = Factorization(K, terms=[term], **given).fit(X), NMF(K, **given).fit(X)
    np.testing.assert_allclose(wide.components_, plain.components_, rtol=1e-6)
    np.testing.assert_allclose(wide.objective_, plain.objective_, rtol=1e-6)


def test_a_narrow_scale_is_the_absolute_error():
    W, H = START
    value = Huber(1e-9).bind(as_operand(X)).value(State(as_operand(X), W, H.T.copy()))
    np.testing.assert_allclose(value / 2e-9, np.abs(X - W @ H).sum(), rtol=1e-6)


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


def test_bad_parameters():
    for term in (TruncatedCauchy(1.0, -1.0), TruncatedCauchy(0.0), Huber(-1.0)):
        with pytest.raises(ValueError, match="must be positive"):
            term.bind(as_operand(X))

"""WeightedNMF: weights, masks, missing entries and what is never observed."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from partwise import NMF, WeightedNMF

RNG = np.random.RandomState(0)
N, M, K = 20, 13, 3
X = RNG.gamma(1.0, size=(N, K)) @ RNG.gamma(0.5, size=(K, M)) + RNG.uniform(0.05, 0.3, size=(N, M))
MASK = RNG.uniform(size=X.shape) < 0.7
WEIGHTS = RNG.uniform(0.1, 2.0, size=X.shape) * MASK
START = RNG.uniform(0.1, 1.0, size=(N, K)), RNG.uniform(0.1, 1.0, size=(K, M))
RUN = {"n_components": K, "init": START, "max_iter": 40, "tol": 0}
LOSSES = ["frobenius", "kullback-leibler"]


def assert_same_model(a, b, rtol=1e-6):
    """Equal up to what extrapolation makes of rounding errors."""
    for name in ("embedding_", "components_"):
        found, expected = getattr(a, name), getattr(b, name)
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-9 * expected.max(), err_msg=name)
    np.testing.assert_allclose(a.history_["objective"], b.history_["objective"], rtol=rtol)


def test_paper_rules():
    """Kim & Choi 2009, the multiplicative rules, written out with dense arrays."""
    W, H = (factor.copy() for factor in START)
    for _ in range(40):
        W *= ((WEIGHTS * X) @ H.T) / ((WEIGHTS * (W @ H)) @ H.T)
        H *= (W.T @ (WEIGHTS * X)) / (W.T @ (WEIGHTS * (W @ H)))
    model = WeightedNMF(weights=WEIGHTS, scale=None, solver="multiplicative", **RUN).fit(X)
    np.testing.assert_allclose(model.embedding_, W, rtol=1e-9)
    np.testing.assert_allclose(model.components_, H, rtol=1e-9)
    np.testing.assert_allclose(model.objective_, (WEIGHTS * (X - W @ H) ** 2).sum(), rtol=1e-10)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csc_matrix], ids=["dense", "csr", "csc"])
def test_zeros_and_ones_are_a_mask(make, loss):
    weights = make(MASK.astype(float))
    masked = NMF(loss=loss, missing="nan", **RUN).fit(np.where(MASK, X, np.nan))
    assert_same_model(WeightedNMF(weights=weights, loss=loss, **RUN).fit(X), masked)
    assert_same_model(WeightedNMF(weights=weights, loss=loss, **RUN).fit(sp.csr_array(X)), masked)


@pytest.mark.parametrize("loss", LOSSES)
def test_equal_weights_are_none(loss):
    plain = NMF(loss=loss, solver="multiplicative", **RUN).fit(X)
    weighted = WeightedNMF(weights=np.ones(X.shape), loss=loss, solver="multiplicative", **RUN).fit(X)
    assert_same_model(weighted, plain)
    unweighted = WeightedNMF(2, random_state=0).fit(X)
    np.testing.assert_array_equal(unweighted.components_, NMF(2, random_state=0).fit(X).components_)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("as_elements", [True, False], ids=["element weights", "sample weights"])
def test_integer_weights_on_samples_are_repetitions(loss, as_elements):
    counts = np.random.RandomState(1).randint(1, 4, size=N)
    rows = np.repeat(np.arange(N), counts)
    model = WeightedNMF(loss=loss, solver="multiplicative", **RUN)
    if as_elements:
        model.set_params(weights=np.repeat(counts[:, None], M, axis=1)).fit(X)
    else:
        model.set_params(weights=np.ones(X.shape)).fit(X, sample_weight=counts)
    repeated = NMF(loss=loss, solver="multiplicative", **RUN).set_params(init=(START[0][rows], START[1])).fit(X[rows])
    np.testing.assert_allclose(model.components_, repeated.components_, rtol=1e-8)
    np.testing.assert_allclose(model.objective_, repeated.objective_, rtol=1e-10)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("share", [0.3, 0.9], ids=["a third hidden", "most hidden"])
def test_what_is_hidden_does_not_matter_not_even_for_the_start(container, share):
    seen = np.random.RandomState(0).uniform(size=X.shape) >= share
    seen[:, 0] = seen[0] = True
    models = [
        WeightedNMF(2, weights=seen, random_state=0, max_iter=20, tol=0).fit(container(np.where(seen, X, other)))
        for other in (0.0, 77.0)
    ]
    assert_same_model(*models)


def test_weights_from_a_function():
    called = WeightedNMF(weights=lambda X: X > 0.3, **RUN).fit(X)
    assert_same_model(called, WeightedNMF(weights=X > 0.3, **RUN).fit(X))


@pytest.mark.parametrize("way", ["nan", "weights", "sparse weights", "unstored"])
def test_never_observed(way):
    seen = MASK.copy()
    seen[4] = False
    seen[:, [2, 7]] = False
    params = {"n_components": 2, "random_state": 0, "max_iter": 30, "tol": 0}
    data, model = X, WeightedNMF(**params)
    if way == "nan":
        data = np.where(seen, X, np.nan)
        model.set_params(missing="nan")
    elif way == "unstored":
        data = sp.csr_array(np.where(seen, X, 0))
        model.set_params(missing="unstored")
    else:
        model.set_params(weights=sp.csr_array(seen * 1.0) if way == "sparse weights" else seen)
    with pytest.warns(UserWarning, match="Nothing is observed") as caught:
        model.fit(data)
    messages = [str(warning.message) for warning in caught]
    assert messages == [
        "Nothing is observed of 1 samples (4); they get zero codes.",
        "Nothing is observed of 2 features (2, 7); they get zero entries in every component.",
    ]
    assert not model.embedding_[4].any()
    assert not model.components_[:, [2, 7]].any()
    assert model.embedding_[5].any()


def test_new_samples_with_missing_entries():
    model = WeightedNMF(weights=WEIGHTS, missing="nan", random_state=0, n_components=K, max_iter=50, tol=0).fit(X)
    exact = RNG.uniform(size=(6, K)) @ model.components_
    hidden = RNG.uniform(size=exact.shape) < 0.2
    holes = np.where(hidden, np.nan, exact)
    holes[5] = np.nan
    with pytest.warns(UserWarning, match=r"1 samples \(5\)"):
        codes = model.transform(holes)
    assert not codes[5].any()
    np.testing.assert_allclose((codes @ model.components_)[:5], exact[:5], atol=0.03 * exact.max())


def test_memory_follows_what_is_observed():
    n, m = 4000, 3000
    rng = np.random.RandomState(0)
    weights = sp.random_array((n, m), density=1e-3, format="csr", random_state=0)
    data = sp.csr_array((rng.uniform(size=weights.nnz), weights.indices, weights.indptr), shape=(n, m))
    model = WeightedNMF(4, weights=weights, random_state=0, max_iter=3, tol=0)
    tracemalloc.start()
    try:
        with pytest.warns(UserWarning, match="Nothing is observed"):
            model.fit(data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 0.1 * n * m * 8


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones((3, 3)), "They must agree"),
        (-np.ones((N, M)), "non-negative"),
        (np.zeros((N, M)), "Nothing of X"),
        (np.full((N, M), 1e20), "The largest of weights is 1e.20; in float32 it must lie between 1e-19 and 2e.19"),
        (np.full((N, M), 1e-20), "The largest of weights is 1e-20"),
        (sp.csr_array(np.full((N, M), 1e20)), "The largest of weights is 1e.20"),
    ],
    ids=["shape", "negative", "zero", "large", "small", "large and sparse"],
)
def test_bad_weights(weights, message):
    with pytest.raises(ValueError, match=message):
        WeightedNMF(2, weights=weights).fit(X.astype(np.float32))


def test_starts_that_need_complete_data_are_refused():
    with pytest.raises(ValueError, match="needs complete data"):
        WeightedNMF(2, weights=MASK, init="nndsvda").fit(X)

"""NMF(weighting="ncut") against the factorisation of scaled samples."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans

from partwise import NMF

RNG = np.random.RandomState(0)
X = RNG.gamma(0.6, size=(25, 8)) * (RNG.uniform(size=(25, 8)) < 0.7) + 0.01
SCALE = (X @ X.sum(axis=0)) ** -0.5
W0, H0 = RNG.uniform(0.1, 1, size=(25, 3)), RNG.uniform(0.1, 1, size=(3, 8))


def scaled_start():
    """In the objective of X the code of a sample is that of the scaled sample, divided by the scale."""
    return W0 / SCALE[:, None], H0


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler", 1.5])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_it_is_the_factorisation_of_scaled_samples(loss, make):
    run = {"n_components": 3, "loss": loss, "solver": "multiplicative", "max_iter": 40, "tol": 0}
    weighted = NMF(weighting="ncut", init=scaled_start(), **run).fit(make(X))
    scaled = NMF(init=(W0, H0), **run).fit(SCALE[:, None] * X)
    np.testing.assert_allclose(weighted.history_["objective"], scaled.history_["objective"], rtol=1e-9)
    np.testing.assert_allclose(weighted.components_, scaled.components_, rtol=1e-8)
    np.testing.assert_allclose(weighted.embedding_ * SCALE[:, None], scaled.embedding_, rtol=1e-8)


def test_paper_rules():
    """Xu, Liu & Gong 2003, Eq. 7-8 for the weighted objective of their section 3.4, samples in columns."""
    Y = X.T
    gamma = np.diag(1 / (Y.T @ Y @ np.ones(25)))
    U, V = H0.T.copy(), scaled_start()[0].copy()
    for _ in range(30):
        V *= (gamma @ Y.T @ U) / (gamma @ V @ U.T @ U)
        U *= (Y @ gamma @ V) / (U @ V.T @ gamma @ V)
    run = {"solver": "multiplicative", "scale": None, "max_iter": 30, "tol": 0}
    model = NMF(3, weighting="ncut", init=scaled_start(), **run).fit(X)
    np.testing.assert_allclose(model.embedding_, V, rtol=1e-8)
    np.testing.assert_allclose(model.components_, U.T, rtol=1e-8)


def test_codes_speak_of_the_data_and_clusters_of_scaled_codes():
    model = NMF(3, weighting="ncut", random_state=0).fit(X)
    again = model.inverse_transform(model.transform(X))
    assert ((again - X) ** 2).sum() < 0.5 * (X**2).sum()
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=0.02 * model.embedding_.max())
    clusters = KMeans(3, n_init=20, random_state=model._assignment._seed).fit(model.embedding_ * SCALE[:, None])
    np.testing.assert_array_equal(np.unique(clusters.labels_, return_inverse=True)[1], model.labels_)
    np.testing.assert_array_equal(model.predict(X)[:5], model.predict(X[:5]))


def test_repeated_samples_and_scale_of_the_data():
    counts = RNG.randint(1, 4, size=25)
    rows = np.repeat(np.arange(25), counts)
    run = {"n_components": 3, "weighting": "ncut", "max_iter": 8, "tol": 0}
    weighted = NMF(init=(W0, H0), **run).fit(X, sample_weight=counts)
    repeated = NMF(init=(W0[rows], H0), **run).fit(X[rows])
    np.testing.assert_allclose(weighted.components_, repeated.components_, rtol=1e-8)
    scaled = NMF(init=(7 * W0, H0), **run).fit(7 * X)
    np.testing.assert_allclose(scaled.components_, NMF(init=(W0, H0), **run).fit(X).components_, rtol=1e-6)


def test_zero_samples_and_missing_entries():
    zero = X.copy()
    zero[3] = 0
    model = NMF(3, weighting="ncut", random_state=0).fit(zero)
    assert not model.embedding_[3].any()
    assert np.isfinite(model.embedding_).all()
    zero[3, 2] = np.nan
    with pytest.raises(ValueError, match="complete data"):
        NMF(3, weighting="ncut", missing="nan").fit(zero)


def test_a_choice_sees_the_weights_too(monkeypatch):
    from partwise.estimators import base

    seen = []
    choose = base.choose

    def watched(problem, *others):
        seen.append(problem.X.sample_weight)
        return choose(problem, *others)

    monkeypatch.setattr(base, "choose", watched)
    X = np.random.default_rng(0).random((40, 6)) * np.linspace(0.1, 10, 40)[:, None]
    NMF([2, 3], weighting="ncut", random_state=0, tol=1e-3).fit(X)
    expected = 1 / (X @ X.sum(axis=0))  # c² of every sample
    np.testing.assert_allclose(seen[0], expected)


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
@pytest.mark.parametrize(("dtype", "small"), [(np.float64, 5e-324), (np.float64, 1e-200), (np.float32, 1e-42)])
def test_samples_too_small_for_a_scale_count_as_empty(loss, dtype, small):
    """Their scale would be no number; they get a code near zero and leave the others alone."""
    run = {"n_components": 3, "weighting": "ncut", "loss": loss, "max_iter": 20, "tol": 0, "random_state": 0}
    data = np.vstack([X, np.full((2, 8), small)]).astype(dtype)
    model, empty = NMF(**run).fit(data), NMF(**run).fit(np.where(data > 1e-30, data, 0))
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(model.components_).all()
    np.testing.assert_allclose(model.embedding_[-2:], 0, atol=1e-10 if loss == "frobenius" else 1e-3)
    np.testing.assert_allclose(model.components_, empty.components_, rtol=1e-3, atol=1e-3)
    assert np.isfinite(model.transform(data)).all()
    assert len(model.predict(data)) == len(data)

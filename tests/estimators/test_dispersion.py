"""Overdispersed counts: what the loss is, what it is good for, its dispersion, new samples, and what is refused."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.stats import nbinom

from partwise import NMF, GraphNMF, WeightedNMF, load

RNG = np.random.RandomState(0)
N, M, K = 300, 80, 3
MEAN = 3 * RNG.gamma(0.6, size=(N, K)) @ RNG.gamma(0.6, size=(K, M))
# Half of the features vary little, half much.
ALPHA = np.where(np.arange(M) < 40, 0.2, 2.0)
X = RNG.poisson(RNG.gamma(1 / ALPHA, ALPHA * MEAN)).astype(float)
HOW = {"loss": "negative-binomial", "random_state": 0}


def minus_log_likelihood(X, mean, alpha=ALPHA):
    return -nbinom.logpmf(X, 1 / alpha, 1 / (1 + alpha * mean)).sum()


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_the_objective_is_minus_the_log_likelihood(make):
    model = NMF(K, dispersion=ALPHA, **HOW).fit(make(X))
    assert model.solver_ == "newton"
    assert model.stop_reason_ == "converged"
    perfect = minus_log_likelihood(X, np.maximum(X, 1e-250))
    fitted = minus_log_likelihood(X, model.embedding_ @ model.components_) - perfect
    np.testing.assert_allclose(model.objective_, fitted, rtol=1e-8)
    assert fitted < minus_log_likelihood(X, MEAN) - perfect
    np.testing.assert_array_equal(model.dispersion_, ALPHA)


def test_it_finds_the_dispersion_and_better_means():
    model = NMF(K, **HOW).fit(X)
    calm, wild = model.dispersion_[:40], model.dispersion_[40:]
    assert 0.1 < np.median(calm) < 0.3
    assert 1.4 < np.median(wild) < 2.6
    assert (wild[:, None] > calm).mean() > 0.99

    def error(model):
        return np.mean((model.embedding_ @ model.components_ - MEAN) ** 2 / (MEAN + 0.1))

    poisson = NMF(K, loss="kullback-leibler", random_state=0).fit(X)
    assert error(model) < 0.7 * error(poisson)
    assert poisson.dispersion_ is None


def test_poisson_counts_have_hardly_any_dispersion():
    counts = np.random.RandomState(1).poisson(MEAN)
    assert np.median(NMF(K, **HOW).fit(counts).dispersion_) < 0.02


def test_without_dispersion_it_is_the_kullback_leibler_divergence():
    poisson = NMF(K, loss="kullback-leibler", random_state=0).fit(X)
    np.testing.assert_allclose(NMF(K, dispersion=0, **HOW).fit(X).objective_, poisson.objective_, rtol=1e-5)


def test_codes_of_new_samples_are_minima_and_do_not_depend_on_each_other():
    model = NMF(K, dispersion=ALPHA, **HOW).fit(X)
    codes = model.transform(sp.csr_array(X[:20]))
    for x, code in zip(X[:20], codes, strict=True):

        def phi(w, x=x):
            return minus_log_likelihood(x, np.maximum(w @ model.components_, 1e-100))

        best = minimize(phi, code + 1e-6, bounds=[(0, None)] * K, method="L-BFGS-B").fun
        assert phi(code) <= best + 1e-6 * abs(best)
    np.testing.assert_allclose(model.transform(X[3:5]), model.transform(X)[3:5], rtol=1e-10)
    np.testing.assert_allclose(model.score(X), -model.objective_ / N, rtol=1e-3)


def test_unknown_entries_weights_and_a_graph():
    rng = np.random.RandomState(2)
    holes = np.where(rng.uniform(size=X.shape) < 0.3, np.nan, X)
    model = NMF(K, missing="nan", **HOW).fit(holes)
    assert np.isfinite(model.components_).all()
    assert 1.2 < np.median(model.dispersion_[40:]) < 2.8
    stored = NMF(K, missing="unstored", dispersion=1.0, **HOW).fit(sp.csr_array(X))
    assert stored.stop_reason_ == "converged"
    # A sample that counts twice is two samples.
    weight = 1.0 + (np.arange(N) % 3 == 0)
    twice = np.repeat(np.arange(N), weight.astype(int))
    init = (np.ones((N, K)) + rng.uniform(size=(N, K)), rng.uniform(size=(K, M)))
    once = NMF(K, dispersion=1.0, init=init, **HOW).fit(X, sample_weight=weight)
    repeated = NMF(K, dispersion=1.0, init=(init[0][twice], init[1]), **HOW).fit(X[twice])
    np.testing.assert_allclose(once.objective_, repeated.objective_, rtol=1e-6)
    graph = GraphNMF(K, graph_strength=1.0, dispersion=1.0, **HOW).fit(sp.csr_array(X))
    assert graph.solver_ == "newton"
    assert np.isfinite(graph.transform(X[:5])).all()


def test_another_unit_with_its_dispersion_is_the_same_model():
    plain = NMF(K, dispersion=0.5, **HOW).fit(X)
    other = NMF(K, dispersion=0.5 / 16, **HOW).fit(16 * X)
    np.testing.assert_array_equal(other.components_, plain.components_)
    np.testing.assert_array_equal(other.embedding_, 16 * plain.embedding_)
    huge = NMF(K, dispersion=0.5 * 2.0**-600, **HOW).fit(X * 2.0**600)
    np.testing.assert_array_equal(huge.components_, plain.components_)
    assert huge.dispersion_ == 0.5 * 2.0**-600
    with pytest.raises(ValueError, match="the dispersion has a unit too"):
        NMF(K, **HOW).fit(X * 2.0**600)


def test_a_saved_model_codes_the_same(tmp_path):
    model = NMF(K, **HOW).fit(X.astype(np.float32))
    assert model.embedding_.dtype == np.float32
    model.save(tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.transform(X[:9]), model.transform(X[:9]))
    np.testing.assert_array_equal(again.dispersion_, model.dispersion_)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"dispersion": -1.0}, "dispersion"),
        ({"dispersion": np.ones(M - 1)}, rf"The dispersion has shape \({M - 1},\); X has {M} features"),
        ({"dispersion": [np.nan] * M}, "must be finite, and zero or more"),
        ({"dispersion": ["a"] * M}, "it must be a number, or one per feature"),
        ({"n_components": [2, 3]}, "is open, and so is dispersion='auto'"),
        ({"weighting": "ncut"}, "not loss='negative-binomial'"),
        ({"solver": "coordinate"}, "a divergence has none"),
    ],
)
def test_what_is_refused(changed, message):
    with pytest.raises(ValueError, match=message):
        NMF(**{"n_components": K, **HOW, **changed}).fit(X)


def test_weights_of_entries_have_other_losses():
    with pytest.raises(ValueError, match="loss"):
        WeightedNMF(K, weights=np.ones(X.shape), loss="negative-binomial").fit(X)

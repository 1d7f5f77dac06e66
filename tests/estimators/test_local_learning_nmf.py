"""LocalLearningNMF: codes that neighbours predict, in either scale."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from partwise import NMF, Factorization, LocalLearningNMF
from partwise.core.rows import Links
from partwise.core.storage import as_operand
from partwise.graphs import local_predictors, nearest_neighbors, neighbors
from partwise.metrics import clustering_accuracy
from partwise.solvers.eigenvalues import largest_eigenvalue
from partwise.terms import L2, Frobenius, LocalLearning

# Random data under any strength: components may repeat.
pytestmark = pytest.mark.filterwarnings("ignore::partwise.exceptions.DuplicateComponentsWarning")

DIGITS, CLASSES = (part[:500] for part in load_digits(return_X_y=True))
RNG = np.random.RandomState(0)
SMALL = RNG.gamma(0.5, size=(40, 9))


def assert_no_rise(model, X):
    objective = np.array(model.history_["objective"])
    assert np.isfinite(objective).all()
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(model.components_).all()
    tolerance = 1e-10 if model.embedding_.dtype == np.float64 else 1e-5
    assert np.diff(objective).max() <= tolerance * max(float((X * X).sum()), objective[0])


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    strength=st.sampled_from([1e-3, 1.0, 1e3, 1e6]),
    ridge=st.sampled_from([1e-6, 0.01, 1.0, 100.0]),
    kernel=st.sampled_from(["cosine", "rbf", "linear"]),
    n_neighbors=st.sampled_from([1, 5, 30]),
    how=st.sampled_from(["coordinate", "multiplicative", "codes", "free", "kullback-leibler"]),
)
@pytest.mark.filterwarnings("ignore:The graph of the samples falls")
@pytest.mark.filterwarnings("ignore:.*components are not used")
def test_never_rises(seed, strength, ridge, kernel, n_neighbors, how):
    rng = np.random.RandomState(seed)
    X = rng.gamma(0.3, size=(35, 8)) * (rng.uniform(size=(35, 8)) < 0.7)
    model = LocalLearningNMF(3, local_strength=strength, ridge=ridge, kernel=kernel, n_neighbors=n_neighbors)
    model.set_params(init="random", random_state=seed, tol=0, max_iter=25)
    if how == "codes":
        model.set_params(scale="codes")
    elif how == "kullback-leibler":
        model.set_params(loss=how)
    else:
        model.set_params(scale=None if how == "free" else "auto", solver="multiplicative" if how == "free" else how)
    assert_no_rise(model.fit(X), X)


def test_no_strength_is_nmf():
    models = [LocalLearningNMF(3, local_strength=0), NMF(3)]
    objectives = [model.set_params(random_state=0, max_iter=20, tol=0).fit(SMALL).objective_ for model in models]
    assert objectives[0] == objectives[1]


def test_codes_become_predictable():
    energies = []
    for strength in (1.0, 100.0, 10_000.0):
        model = LocalLearningNMF(10, local_strength=strength, random_state=0, max_iter=60, tol=0).fit(DIGITS)
        energies.append(model.history_["local learning"][-1] / strength)
    assert energies[0] > 3 * energies[1] > 9 * energies[2]


def test_scale_of_the_codes():
    """The paper's scale: unit columns after every sweep, and the reported objective is that of the returned pair."""
    norms = []
    model = LocalLearningNMF(
        5,
        local_strength=500.0,
        scale="codes",
        callbacks=lambda progress: norms.append(np.linalg.norm(progress.codes, axis=0)) and None,
        random_state=0,
        max_iter=400,
        tol=1e-6,
    ).fit(DIGITS)
    np.testing.assert_allclose(norms, 1, rtol=1e-12)
    assert model.solver_ == "alternating"
    assert model.scale_ == "codes"
    assert model.stop_reason_ == "converged"
    assert_no_rise(model, DIGITS)
    W, H = model.embedding_, model.components_
    bound = LocalLearning(500.0).bind(as_operand(DIGITS))
    penalty = 500.0 * ((W - bound.predictors @ W) ** 2).sum()
    assert np.isclose(model.objective_, ((DIGITS - W @ H) ** 2).sum() + penalty)


def test_scale_of_the_codes_without_penalty_fits_like_nmf():
    fits = [
        LocalLearningNMF(4, local_strength=0, scale=scale, random_state=0, max_iter=2000, tol=1e-7)
        .fit(SMALL)
        .objective_
        for scale in ("codes", "auto")
    ]
    assert np.isclose(*fits, rtol=1e-2)


@pytest.mark.parametrize("seed", range(5))
def test_bound_on_eigenvalues(seed):
    rng = np.random.RandomState(seed)
    B = sp.random_array((60, 60), density=0.1, random_state=seed, data_sampler=rng.standard_normal)
    S = sp.csr_array(B.T @ B)
    exact = np.linalg.eigvalsh(S.toarray())[-1]
    links = Links.of_matrix(S, 1.0, np.dtype(float))
    assert exact <= largest_eigenvalue(links, 60) <= 1.06 * exact
    assert largest_eigenvalue(links, 60, sure=True) >= exact


def test_spectral_start():
    """It is the clustering of LocalLearningClustering, and at a large strength a far better start than a random one."""
    common = {"local_strength": 1000.0, "random_state": 0, "max_iter": 30, "tol": 0}
    spectral = LocalLearningNMF(10, init="spectral", **common).fit(DIGITS)
    random = LocalLearningNMF(10, init="random", **common).fit(DIGITS)
    assert spectral.objective_ < random.objective_
    assert clustering_accuracy(CLASSES, spectral.labels_) > 0.75
    again = LocalLearningNMF(10, init="spectral", local_strength=0, max_iter=1, tol=0).fit(DIGITS)
    assert again.n_iter_ == 1


def test_large_neighbourhoods_are_applied_not_formed():
    X = RNG.gamma(1.0, size=(600, 6))
    model = LocalLearningNMF(3, local_strength=10.0, n_neighbors=40, max_iter=5, tol=0, random_state=0).fit(X)
    assert model.solver_ == "multiplicative"
    assert_no_rise(model, X)
    with pytest.raises(ValueError, match="solver='coordinate' is not compatible with the term 'local learning'"):
        LocalLearningNMF(3, local_strength=10.0, n_neighbors=40, solver="coordinate").fit(X)
    assert (
        LocalLearningNMF(3, local_strength=10.0, n_neighbors=40, scale="codes", max_iter=3, tol=0).fit(X).solver_
        == "alternating"
    )


def test_new_samples_follow_their_neighbours():
    """At a huge strength a new code is what the regression predicts, where that is not negative."""
    model = LocalLearningNMF(5, local_strength=1e9, random_state=0, max_iter=50, tol=0).fit(DIGITS[:300])
    links = nearest_neighbors(DIGITS[300:], 10, X_train=DIGITS[:300])
    predicted = local_predictors(links, DIGITS[300:], DIGITS[:300]) @ model.embedding_
    np.testing.assert_allclose(model.transform(DIGITS[300:]), np.maximum(predicted, 0), atol=1e-4)
    alone = model.transform(DIGITS[320:321])
    np.testing.assert_allclose(alone, model.transform(DIGITS[300:])[20:21], rtol=1e-6, atol=1e-10)


def test_zero_samples_and_duplicates():
    X = np.repeat(SMALL, 3, axis=0)
    X[[4, 50]] = 0
    for scale in ("auto", "codes", None):
        model = LocalLearningNMF(3, local_strength=10.0, n_neighbors=4, scale=scale, random_state=0, max_iter=30, tol=0)
        with pytest.warns(UserWarning, match="unconnected pieces"):
            model.fit(X)
        assert_no_rise(model, X)
        assert np.isfinite(model.transform(X[:6])).all()


def test_float32_and_sparse():
    for data in (SMALL.astype(np.float32), sp.csr_array(SMALL)):
        for scale in ("auto", "codes"):
            model = LocalLearningNMF(3, local_strength=10.0, scale=scale, random_state=0, max_iter=30, tol=0).fit(data)
            assert_no_rise(model, data)
            assert model.embedding_.dtype == data.dtype


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"local_strength": -1.0}, "local_strength"),
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"kernel": "poly"}, "kernel"),
        ({"ridge": 0.0}, "ridge"),
        ({"bandwidth": 0.0}, "bandwidth"),
        ({"scale": "rows"}, "scale"),
        ({"init": "spectrum"}, "init"),
        ({"scale": "codes", "solver": "coordinate"}, "solver='coordinate' does not keep the codes at unit norm"),
        ({"scale": "codes", "loss": "kullback-leibler"}, "no solver for such terms keeps the codes at unit norm"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        LocalLearningNMF(3, **parameters).fit(SMALL)


def test_scale_of_the_codes_and_weights():
    with pytest.raises(ValueError, match="sample_weight was given with codes at unit norm"):
        LocalLearningNMF(3, local_strength=10.0, scale="codes").fit(SMALL, sample_weight=np.arange(40))


def test_scale_of_the_codes_and_penalised_components():
    model = Factorization(3, terms=[Frobenius(), LocalLearning(1.0, 5), L2(1.0, "components")], scale="components")
    with pytest.raises(ValueError, match="penalised themselves"):
        model.fit(SMALL)


def test_unfinished_fits_say_so():
    with pytest.warns(ConvergenceWarning):
        LocalLearningNMF(3, scale="codes", local_strength=1e4, max_iter=2, random_state=0).fit(SMALL)


def test_it_says_how_neighbours_were_found(monkeypatch):
    monkeypatch.setattr(neighbors, "EXACT_ROWS", 400)
    rng = np.random.default_rng(0)
    X = rng.gamma(1.0, size=(600, 4)) @ rng.gamma(0.3, size=(4, 20))
    method = LocalLearningNMF(3, local_strength=1.0, max_iter=2, tol=0, random_state=0)
    exact, approximate = (method.fit(data).graph_method_ for data in (X[:300], X))
    assert (exact, approximate) == ("products", "cells")
    assert 0.9 < method.graph_recall_ <= 1
    assert method.set_params(local_strength=0.0).fit(X).graph_method_ == "none"

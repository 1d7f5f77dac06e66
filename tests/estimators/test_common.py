"""scikit-learn's estimator checks on every estimator, and our own form of the few that cannot pass."""

import inspect

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from partwise import GraphNMF, KernelGraphNMF, LocalLearningNMF
from partwise.selection.grids import fixed_strengths
from partwise.testing import all_estimators


def has(name):
    return [model for model in ALL if hasattr(model, name)]


def named(model):
    return type(model).__name__


# Components in the space of the data, which the common tests look at, need a linear kernel.
LINEAR = {"KernelGraphNMF": {"kernel": "linear"}}
ALL = [kind(**LINEAR.get(name, {})) for name, kind in all_estimators().items()]
# Steps of these cost most; what the checks ask does not need many.
SLOW = (
    "CauchyNMF",
    "ConceptFactorization",
    "ConvexNMF",
    "KernelGraphNMF",
    "LocalSimilarityNMF",
    "SparsenessNMF",
)
CHECKED = [clone(model).set_params(max_iter=20) if named(model) in SLOW else model for model in ALL]
CHECKED.append(KernelGraphNMF(n_landmarks=20, max_iter=20))
# What is compared between fits needs the same strength in both.
FIXED = [clone(model).set_params(**fixed_strengths(type(model))) for model in ALL]
FACTORIZATIONS = [model for model in has("transform") if "init" in model.get_params()]
TAKE_WEIGHTS = [model for model in FIXED if "sample_weight" in inspect.signature(model.fit).parameters]
# Neighbourhoods do not know of weights, and the scale of CauchyNMF is estimated from every sample once.
WEIGHTED = [model for model in TAKE_WEIGHTS if named(model) not in ("GraphNMF", "LocalLearningNMF", "CauchyNMF")]

CLUSTERING = "feeds negative data whatever the tags say; see test_clusters_shifted_blobs"
WEIGHTS = "compares fits from different random starts at 1e-7; see test_weights_are_repetitions"
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
    "check_sample_weight_equivalence_on_sparse_data": WEIGHTS,
}


def expected_failures(estimator):
    positive = get_tags(estimator).input_tags.positive_only
    return EXPECTED_FAILURES | ({"check_clustering": CLUSTERING} if positive else {})


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::UserWarning")
@parametrize_with_checks(
    [*CHECKED, KernelGraphNMF(n_landmarks=20, max_iter=20)], expected_failed_checks=expected_failures
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", ALL, ids=named)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_clusters_shifted_blobs(estimator):
    """What `check_clustering` asks, on data that are not negative."""
    X, y = make_blobs(n_samples=60, centers=[[1, 9, 1], [9, 1, 1], [1, 1, 9]], cluster_std=0.3, random_state=1)
    model = clone(estimator).set_params(n_components=3, random_state=0).fit(np.abs(X))
    assert model.labels_.shape == (60,)
    assert model.labels_.dtype.kind == "i"
    assert set(model.labels_) == {0, 1, 2}
    assert adjusted_rand_score(y, model.labels_) > 0.95
    assert np.array_equal(clone(model).fit_predict(np.abs(X)), model.labels_)


@pytest.mark.parametrize("estimator", WEIGHTED, ids=named)
@pytest.mark.parametrize("solver", ["coordinate", "multiplicative"])
def test_weights_are_repetitions(estimator, solver):
    """What the weight-equivalence checks ask, from one start."""
    rng = np.random.RandomState(0)
    X, W, H = rng.uniform(size=(20, 6)), rng.uniform(size=(20, 3)), rng.uniform(size=(3, 6))
    weight = rng.randint(1, 4, size=20)
    # At machine precision the fits would stop to be comparable.
    common = {"n_components": 3, "tol": 0, "max_iter": 20}
    if "solver" in estimator.get_params():
        common["solver"] = solver
    weighted = clone(estimator).set_params(init=(W, H), **common).fit(X, sample_weight=weight)
    rows = np.repeat(np.arange(20), weight)
    repeated = clone(estimator).set_params(init=(W[rows], H), **common).fit(X[rows])
    np.testing.assert_allclose(weighted.components_, repeated.components_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(weighted.objective_, repeated.objective_, rtol=1e-9)


@pytest.mark.parametrize("estimator", TAKE_WEIGHTS, ids=named)
def test_zero_weight_is_absence(estimator):
    rng = np.random.RandomState(0)
    X, W, H = rng.uniform(size=(20, 6)), rng.uniform(size=(20, 3)), rng.uniform(size=(3, 6))
    weight = np.where(np.arange(20) % 4 == 0, 0.0, 1.0)
    seen = weight > 0
    common = {"n_components": 3, "tol": 0, "max_iter": 30}
    # The neighbourhoods themselves do not know of weights.
    if isinstance(estimator, GraphNMF):
        common["graph_strength"] = 0
    if isinstance(estimator, LocalLearningNMF):
        common["local_strength"] = 0
    weighted = clone(estimator).set_params(init=(W, H), **common).fit(X, sample_weight=weight)
    fewer = clone(estimator).set_params(init=(W[seen], H), **common).fit(X[seen])
    np.testing.assert_allclose(weighted.components_, fewer.components_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(weighted.embedding_[~seen], fewer.transform(X[~seen]), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("estimator", FACTORIZATIONS, ids=named)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_new_samples_frames_and_names(estimator):
    X = load_digits(as_frame=True).data
    model = clone(estimator).set_params(n_components=5, random_state=0, max_iter=30).fit(X[:300])
    codes = model.set_output(transform="pandas").transform(X[300:310])
    name = type(estimator).__name__.lower()
    assert list(codes.columns) == [f"{name}{j}" for j in range(5)] == list(model.get_feature_names_out())
    assert model.inverse_transform(codes.to_numpy()).shape == (10, 64)
    assert set(model.predict(X[300:310])) <= set(range(5))
    with pytest.raises(ValueError, match="feature names"):
        model.transform(X[300:310][X.columns[::-1]])


@pytest.mark.parametrize("estimator", FACTORIZATIONS, ids=named)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_same_seed_same_result_and_dtype(estimator):
    X = load_digits().data[:200].astype(np.float32)
    models = [
        clone(estimator).set_params(n_components=5, init="random", n_init=2, max_iter=30, random_state=7).fit(X)
        for _ in range(2)
    ]
    for name in ("embedding_", "components_", "labels_"):
        assert np.array_equal(getattr(models[0], name), getattr(models[1], name))
    assert models[0].embedding_.dtype == models[0].components_.dtype == models[0].transform(X).dtype == np.float32

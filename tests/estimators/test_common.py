"""scikit-learn's estimator checks on every estimator, and our own form of the few that cannot pass."""

import inspect

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_sample_weight_equivalence_on_dense_data, parametrize_with_checks

from partwise import NMF, CauchyNMF, GraphNMF, KernelGraphNMF, LocalCoordinateNMF, LocalLearningNMF
from partwise.core.storage import as_operand
from partwise.graphs import neighbor_graph
from partwise.selection import ConsensusNMF
from partwise.selection.grids import fixed_strengths
from partwise.solvers.starts import start_factors
from partwise.testing import all_estimators


def has(name):
    return [model for model in ALL if hasattr(model, name)]


def named(model):
    return type(model).__name__


# Components in the space of the data, which the common tests look at, need a linear kernel; nothing here has groups.
SETTINGS = {"KernelGraphNMF": {"kernel": "linear"}, "GroupNMF": {"n_group_components": 0}}
ALL = [kind(**SETTINGS.get(name, {})) for name, kind in all_estimators().items()]
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
CHECKED.append(ConsensusNMF(NMF(2, max_iter=5), n_replicates=2, density_threshold=np.inf))
# The data of `check_clustering` have three clusters, and the agreement it asks for is about all that eight can have.
CHECKED = [
    model if get_tags(model).input_tags.positive_only else clone(model).set_params(n_components=3) for model in CHECKED
]
# Eight components fit the three classes of some data exactly, in many ways, and rounding errors end such a fit.
CHECKED = [clone(model).set_params(n_components=2) if named(model) == "ConstrainedNMF" else model for model in CHECKED]
# What is compared between fits needs the same strength in both.
FIXED = [clone(model).set_params(**fixed_strengths(type(model))) for model in ALL]
FACTORIZATIONS = [model for model in has("transform") if "init" in model.get_params()]
TAKE_WEIGHTS = [model for model in FIXED if "sample_weight" in inspect.signature(model.fit).parameters]
# Neighbourhoods do not know of weights.
WEIGHTED = [model for model in TAKE_WEIGHTS if named(model) not in ("GraphNMF", "LocalLearningNMF")]

CLUSTERING = "feeds negative data whatever the tags say; see test_clusters_shifted_blobs"
NEIGHBOURS = "copies of a sample are its nearest neighbours; see test_repeated_samples_have_other_neighbours"
RANDOM = "its start draws a code for every row; see test_a_random_start_draws_a_code_for_every_row"
CHOICE = "its strength is chosen by what neighbours say; see test_only_the_choice_depends_on_repetition"
# Estimators whose fit is not the same with a weight as with repetitions, and why.
UNLIKE_REPETITIONS = {
    "GraphNMF": NEIGHBOURS,
    "LocalLearningNMF": NEIGHBOURS,
    "LocalCoordinateNMF": CHOICE,
    "CauchyNMF": RANDOM,
    "ConsensusNMF": RANDOM,
}


def expected_failures(estimator):
    positive = get_tags(estimator).input_tags.positive_only
    expected = {"check_clustering": CLUSTERING} if positive else {}
    if named(estimator) in UNLIKE_REPETITIONS:
        for kind in ("dense", "sparse"):
            expected[f"check_sample_weight_equivalence_on_{kind}_data"] = UNLIKE_REPETITIONS[named(estimator)]
    return expected


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::UserWarning")
@parametrize_with_checks(CHECKED, expected_failed_checks=expected_failures)
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
        common["solver"] = "auto" if (named(estimator), solver) == ("LocalNMF", "coordinate") else solver
    weighted = clone(estimator).set_params(init=(W, H), **common).fit(X, sample_weight=weight)
    rows = np.repeat(np.arange(20), weight)
    repeated = clone(estimator).set_params(init=(W[rows], H), **common).fit(X[rows])
    np.testing.assert_allclose(weighted.components_, repeated.components_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(weighted.objective_, repeated.objective_, rtol=1e-9)


def repetitions(model, X):
    """Fits to weighted samples in some order, and to as many copies of each."""
    weight = np.random.RandomState(42).randint(0, 5, size=len(X))
    weighted = clone(model).fit(X[::-1], sample_weight=weight[::-1])
    return weighted, clone(model).fit(X.repeat(weight, axis=0))


@pytest.mark.parametrize("strength", [0.0, 10.0])
@pytest.mark.parametrize("estimator", [GraphNMF(), LocalLearningNMF()], ids=named)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:The graph of the samples falls")
def test_repeated_samples_have_other_neighbours(estimator, strength):
    """The neighbours alone tell weights from repetitions: without them they are the same."""
    X = np.random.RandomState(0).uniform(size=(15, 30))
    name = "graph_strength" if isinstance(estimator, GraphNMF) else "local_strength"
    model = clone(estimator).set_params(n_components=3, n_neighbors=3, random_state=0, **{name: strength})
    weighted, repeated = repetitions(model, X)
    same = np.allclose(weighted.transform(X), repeated.transform(X), rtol=1e-6, atol=1e-8)
    assert same == (strength == 0)
    if strength == 0:
        assert np.array_equal(weighted.predict(X), repeated.predict(X))
    # A sample that is there four times is linked to its copies, and to nothing else.
    copies = neighbor_graph(X.repeat(4, axis=0), 3, "cosine").tocoo()
    assert set(copies.row // 4 - copies.col // 4) == {0}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_only_the_choice_depends_on_repetition():
    check_sample_weight_equivalence_on_dense_data("LocalCoordinateNMF", LocalCoordinateNMF(coordinate_strength=0.1))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_random_start_draws_a_code_for_every_row():
    """With a start that is repeated like the samples, CauchyNMF is the same: see test_weights_are_repetitions."""
    X = np.random.RandomState(0).uniform(size=(15, 30))
    W, _ = start_factors(as_operand(X.repeat(2, axis=0)), 3, "random", np.random.RandomState(0))
    assert not np.allclose(W[::2], W[1::2])
    for model in (NMF(3, init="random", random_state=0), CauchyNMF(3, max_iter=20, random_state=0)):
        weighted, repeated = repetitions(model, X)
        assert not np.allclose(weighted.transform(X), repeated.transform(X), rtol=1e-6)


@pytest.mark.parametrize("init", ["nndsvd", "nndsvda", "kmeans"])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_other_starts_do_not_depend_on_repetition_or_order(init, make):
    rng = np.random.RandomState(0)
    X, weight = rng.uniform(size=(20, 7)), rng.randint(1, 5, size=20)
    order, rows = rng.permutation(20), np.repeat(np.arange(20), weight)
    given = as_operand(make(X[order]), sample_weight=weight[order].astype(float))
    once, often = (
        start_factors(data, 4, init, np.random.RandomState(1)) for data in (given, as_operand(make(X[rows])))
    )
    np.testing.assert_allclose(once[1], often[1], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(
        once[0], often[0][[np.flatnonzero(rows == row)[0] for row in order]], rtol=1e-7, atol=1e-9
    )


@pytest.mark.parametrize("missing", [None, "nan", "unstored"])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_the_mean_of_data_counts_samples_by_their_weights(missing, make):
    rng = np.random.RandomState(0)
    X, weight = rng.uniform(0.1, 1, size=(20, 7)), rng.randint(1, 5, size=20)
    X[rng.uniform(size=X.shape) < 0.2] = np.nan if missing == "nan" else 0
    if missing == "unstored" and make is np.asarray:
        pytest.skip("a dense array stores everything")
    once = as_operand(make(X), missing, weight.astype(float))
    assert once.mean() == pytest.approx(as_operand(make(X.repeat(weight, axis=0)), missing).mean(), rel=1e-12)


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

"""LocalSimilarityNMF: its grid, its outliers, new samples, kernels and refusals."""

import pickle
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits, make_circles
from sklearn.exceptions import ConvergenceWarning

from partwise import NMF, LocalSimilarityNMF
from partwise.metrics import clustering_accuracy

SOLVERS = ["projected", "multiplicative"]
LAMBDAS = [0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]
GAMMAS = [0.001, 0.1, 1.0, 10.0, 1000.0]


def digits(n_samples=300):
    X, y = load_digits(return_X_y=True)
    return X[:n_samples] / 16, y[:n_samples]


def assert_no_rise(model, X, tolerance=1e-10):
    objective = np.array(model.history_["objective"])
    assert np.isfinite(objective).all()
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(model.dual_components_).all()
    assert np.diff(objective).max() <= tolerance * max(float((X * X).sum()), objective[0])


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("init", ["kmeans", "random"])
@pytest.mark.filterwarnings("ignore:.*components are not used")
def test_papers_grid(solver, init):
    """Sec. 4.2: λ and γ from 0.001 to 1000. The paper's own rules break in a third of it."""
    X, _ = digits(120)
    for lam in LAMBDAS:
        for gamma in GAMMAS:
            model = LocalSimilarityNMF(5, similarity_strength=lam, outlier_strength=gamma, solver=solver, init=init)
            model.set_params(orthogonality="auto" if init == "kmeans" else 1.0, max_iter=8, tol=0, random_state=0)
            assert_no_rise(model.fit(X), X)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.filterwarnings("ignore:.*components are not used")
def test_float32(solver):
    X = digits(150)[0].astype(np.float32)
    for lam, gamma in ((0.001, 0.01), (0.1, 1.0), (10.0, 100.0)):
        model = LocalSimilarityNMF(5, similarity_strength=lam, outlier_strength=gamma, solver=solver, random_state=0)
        model.set_params(max_iter=30, tol=0).fit(X)
        assert_no_rise(model, X, 1e-5)
        assert model.embedding_.dtype == model.components_.dtype == model.transform(X).dtype == np.float32


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_matrix])
def test_sparse_and_dense_agree(solver, make):
    X, _ = digits(100)
    model = LocalSimilarityNMF(4, solver=solver, random_state=0, max_iter=5, tol=0, init="random")
    dense, sparse = clone(model).fit(X), clone(model).fit(make(X))
    np.testing.assert_allclose(dense.embedding_, sparse.embedding_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(dense.outliers_, sparse.outliers_, atol=1e-9)
    np.testing.assert_allclose(dense.transform(X), sparse.transform(make(X)), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("solver", SOLVERS)
def test_order_of_samples_and_scale_of_data(solver):
    X, _ = digits(80)
    rng = np.random.RandomState(0)
    W, P = rng.uniform(size=(80, 4)), rng.uniform(size=(80, 4)) / 80
    common = {"n_components": 4, "solver": solver, "max_iter": 6, "tol": 0}
    model = LocalSimilarityNMF(init=(W, P), **common).fit(X)
    order = rng.permutation(80)
    moved = LocalSimilarityNMF(init=(W[order], P[order]), **common).fit(X[order])
    np.testing.assert_allclose(moved.embedding_, model.embedding_[order], atol=1e-9)
    np.testing.assert_allclose(moved.components_, model.components_, atol=1e-8)
    larger = LocalSimilarityNMF(init=(W, P), **common).fit(1000 * X)
    np.testing.assert_allclose(larger.embedding_, model.embedding_, atol=1e-9)
    np.testing.assert_allclose(larger.outliers_, model.outliers_, atol=1e-9)
    np.testing.assert_allclose(larger.objective_, 1e6 * model.objective_, rtol=1e-9)


def test_default_beats_the_reference():
    X, _ = digits(400)
    fits = {}
    for solver, sweeps in (("projected", 30), ("multiplicative", 300)):
        model = LocalSimilarityNMF(10, solver=solver, max_iter=sweeps, tol=0, random_state=0)
        fits[solver] = model.fit(X).objective_
    assert fits["projected"] < fits["multiplicative"]


def test_noisy_features_are_found_and_accuracy_is_kept():
    """10 % of the features replaced by noise."""
    X, y = digits(1797)
    accuracy = {"RLS": [], "NMF": []}
    for seed in range(2):
        rng = np.random.RandomState(seed)
        noisy = rng.permutation(64)[:6]
        broken = X.copy()
        broken[:, noisy] = rng.uniform(0, 3, size=(len(X), 6))
        model = LocalSimilarityNMF(10, random_state=seed).fit(broken)
        assert set(np.argsort(model.outliers_)[-6:]) == set(noisy)
        accuracy["RLS"].append(clustering_accuracy(y, model.labels_))
        accuracy["NMF"].append(
            clustering_accuracy(y, NMF(10, random_state=seed, max_iter=50, tol=0).fit(broken).labels_)
        )
    assert np.mean(accuracy["RLS"]) > np.mean(accuracy["NMF"]) + 0.2
    assert np.mean(accuracy["RLS"]) > 0.6


def test_figure_of_noise(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "examples")
    from rls_noise import accuracies, with_noise

    X, y = digits(300)
    broken, noisy = with_noise(X, 2.0, np.random.RandomState(0))
    assert np.array_equal(np.flatnonzero((broken != X).any(axis=0)), np.sort(noisy))
    scores = accuracies(X, y, 4.0, seeds=1)
    assert len(scores) == 5
    assert all(len(values) == 1 for values in scores.values())


def test_outliers():
    X, _ = digits(100)
    model = LocalSimilarityNMF(5, outlier_strength=1.0, random_state=0).fit(X)
    residuals = np.linalg.norm(X - model.embedding_ @ model.components_, axis=0)
    expected = np.maximum(0, 1 - 1 / np.maximum(residuals, 1e-12))
    np.testing.assert_allclose(model.outliers_, expected, atol=1e-7)
    assert not LocalSimilarityNMF(5, outlier_strength=1e6, random_state=0).fit(X).outliers_.any()
    assert LocalSimilarityNMF(5, outlier_strength=np.inf, random_state=0).fit(X).outliers_ is None


@pytest.mark.parametrize("kernel", ["linear", "cosine", "rbf"])
def test_new_samples(kernel):
    X, _ = digits(200)
    model = LocalSimilarityNMF(6, kernel=kernel, n_landmarks=50, random_state=0).fit(X[:150])
    codes = model.transform(X[150:])
    rows = np.vstack([model.transform(X[[i]]) for i in range(150, 200)])
    np.testing.assert_allclose(codes, rows, rtol=1e-6, atol=1e-9)
    assert np.mean(model.predict(X[:150]) == model.labels_) > 0.9
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.transform(X[150:]), codes)
    assert np.array_equal(clone(model).fit_transform(X[:150]), model.transform(X[:150]))


def test_new_codes_minimise_the_objective_of_their_row():
    X, _ = digits(100)
    model = LocalSimilarityNMF(4, similarity_strength=0.05, random_state=0).fit(X[:90])
    P, H = model.dual_components_.T, model.components_

    def value(x, w):
        fit = 0.5 * ((1 - model.outliers_) * (x - w @ H) ** 2).sum()
        return fit + 0.05 * (((x - X[:90]) ** 2).sum(axis=1) @ P) @ w

    rng = np.random.RandomState(0)
    for x, w in zip(X[90:], model.transform(X[90:]), strict=True):
        for _ in range(20):
            other = np.maximum(w + 0.01 * rng.standard_normal(4), 0)
            assert value(x, w) <= value(x, other) + 1e-12


def test_rbf_kernel_separates_rings():
    X, y = make_circles(200, factor=0.2, noise=0.05, random_state=0)
    X = X - X.min()
    curved = LocalSimilarityNMF(
        2, kernel="rbf", bandwidth=0.3, n_landmarks=100, n_init=4, random_state=0, similarity_strength=0.001
    )
    linear = LocalSimilarityNMF(2, n_init=4, random_state=0)
    assert clustering_accuracy(y, linear.fit(X).labels_) < 0.75
    assert clustering_accuracy(y, curved.fit(X).labels_) > clustering_accuracy(y, linear.labels_)
    assert not hasattr(curved, "components_")
    assert curved.outliers_ is None
    assert list(curved.get_feature_names_out()) == ["localsimilaritynmf0", "localsimilaritynmf1"]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kernel", ["cosine", "rbf", "function", "precomputed", "sparse"])
@pytest.mark.filterwarnings("ignore:.*components are not used")
def test_kernels_never_rise(solver, kernel):
    X, _ = digits(120)
    data, name = X, kernel
    if kernel == "function":
        name = lambda A, B: (A @ B.T) ** 2  # noqa: E731
    if kernel in ("precomputed", "sparse"):
        data, name = X @ X.T, "precomputed"
        if kernel == "sparse":
            data = sp.csr_array(data * (digits(120)[1][:, None] == digits(120)[1]))
    for lam in (0.001, 0.1, 10.0):
        model = LocalSimilarityNMF(5, similarity_strength=lam, kernel=name, solver=solver, n_landmarks=40)
        model.set_params(max_iter=15, tol=0, random_state=0).fit(data)
        assert_no_rise(model, np.ones(1))
        assert np.isfinite(model.transform(data[:5])).all()


def test_starts():
    X, _ = digits(60)
    model = LocalSimilarityNMF(4, random_state=0, max_iter=10, tol=0).fit(X)
    again = clone(model).set_params(warm_start=True).fit(X)
    first = again.objective_
    assert again.fit(X).objective_ < first
    assert again.history_["objective"][0] == pytest.approx(first)
    W, P = np.ones((60, 4)), np.ones((60, 4)) / 60
    kept = W.copy(), P.copy()
    LocalSimilarityNMF(4, init=(W, P), max_iter=2, tol=0).fit(X)
    assert np.array_equal(W, kept[0])
    assert np.array_equal(P, kept[1])
    many = LocalSimilarityNMF(4, n_init=3, random_state=0, max_iter=30, tol=0).fit(X)
    assert many.n_iter_ == 30
    assert set(many.history_) == {"objective", "fit", "similarity", "orthogonality", "time"}


def test_without_orthogonality_codes_have_unit_norm():
    X, _ = digits(80)
    model = LocalSimilarityNMF(4, orthogonality=0, random_state=0, max_iter=30, tol=0).fit(X)
    np.testing.assert_allclose(np.linalg.norm(model.embedding_, axis=0), 1)
    np.testing.assert_allclose(model.components_, model.dual_components_ @ X, atol=1e-10)
    assert_no_rise(model, X)


@pytest.mark.parametrize(
    "data", [np.zeros((10, 4)), np.ones((10, 4)), np.eye(10), np.vstack([np.zeros((5, 4)), np.ones((5, 4))])]
)
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_degenerate_data(data, solver):
    for init in ("kmeans", "random"):
        model = LocalSimilarityNMF(3, solver=solver, init=init, max_iter=20, tol=0, random_state=0).fit(data)
        assert_no_rise(model, data)
        assert np.isfinite(model.transform(data)).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"similarity_strength": -1.0}, "similarity_strength"),
        ({"outlier_strength": 0.0}, "outlier_strength"),
        ({"outlier_strength": "much"}, "outlier_strength"),
        ({"orthogonality": np.nan}, "orthogonality"),
        ({"orthogonality": -1.0}, "orthogonality"),
        ({"kernel": "poly"}, "kernel"),
        ({"bandwidth": 0.0}, "bandwidth"),
        ({"n_landmarks": 0}, "n_landmarks"),
        ({"solver": "coordinate"}, "solver"),
        ({"init": "nndsvda"}, "init"),
        ({"init": (np.ones((20, 3)),)}, "pair of arrays"),
        ({"init": (np.ones((20, 3)), np.ones((3, 20)))}, r"P has shape \(3, 20\)"),
        ({"init": (np.ones((19, 3)), np.ones((20, 3)))}, r"W has shape \(19, 3\)"),
        ({"init": (np.ones((20, 3)), -np.ones((20, 3)))}, "non-negative"),
        ({"init": (np.ones((20, 3)), np.ones((20, 3))), "n_init": 2}, "must be 1"),
        ({"init": "kmeans", "n_components": 21}, "at least n_components"),
        ({"kernel": "precomputed"}, "square kernel"),
        ({"kernel": lambda A, B: np.ones(3)}, "The kernel gave an array of shape"),
        ({"kernel": lambda A, B: np.full((len(A), len(B)), np.nan)}, "NaN or infinity"),
        ({"kernel": lambda A, B: np.triu(np.ones((len(A), len(B))))}, "not symmetric"),
        ({"kernel": lambda A, B: -A @ B.T}, "not positive"),
    ],
)
@pytest.mark.filterwarnings("ignore:n_components=21:UserWarning")
def test_bad_parameters(parameters, message):
    X, _ = digits(20)
    with pytest.raises(ValueError, match=message):
        LocalSimilarityNMF(3).set_params(**parameters).fit(X)


def test_bad_kernel_matrix():
    with pytest.raises(ValueError, match="not symmetric"):
        LocalSimilarityNMF(2, kernel="precomputed").fit(np.triu(np.ones((5, 5))))
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        LocalSimilarityNMF(5, max_iter=2).fit(digits(60)[0])

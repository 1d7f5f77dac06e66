"""SemiNMF, ConvexNMF, ConceptFactorization and KernelGraphNMF: what they share about signs, kernels and hard data."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from small_data import signed

from partwise import ConceptFactorization, ConvexNMF, KernelGraphNMF, SemiNMF
from partwise.graphs import neighbor_graph

DUAL = [ConvexNMF(), ConceptFactorization(graph_strength=2.0, n_neighbors=3), KernelGraphNMF(n_neighbors=3)]
METHODS = [SemiNMF(), *DUAL]
by_name = {"ids": lambda estimator: type(estimator).__name__}
modestly = settings(
    max_examples=80, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)


def value(model, X, Phi):
    """The objective by its definition, at what was returned."""
    W = model.embedding_.astype(float)
    if isinstance(model, SemiNMF):
        return ((X - W @ model.components_) ** 2).sum()
    total = ((Phi - W @ model.dual_components_ @ Phi) ** 2).sum()
    if isinstance(model, ConvexNMF) or model.graph_strength == 0:
        return total
    E = neighbor_graph(X, 3).toarray()
    total += model.graph_strength * np.trace(W.T @ (np.diag(E.sum(axis=1)) - E) @ W)
    beta = getattr(model, "orthogonality", 0)
    return total + beta / 2 * ((W.T @ W - np.eye(W.shape[1])) ** 2).sum()


@modestly
@given(st.data())
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_never_rises(data):
    n, m, k = data.draw(st.integers(2, 12)), data.draw(st.integers(1, 10)), data.draw(st.integers(1, 5))
    rng = np.random.RandomState(data.draw(st.integers(0, 2**16)))
    X = rng.standard_normal((n, m)) * (rng.uniform(size=(n, m)) < 0.7)
    if data.draw(st.booleans()):
        X = np.abs(X)
    if data.draw(st.booleans()):
        X[rng.randint(n)] = 0
        X[:, rng.randint(m)] = 0
    X[0, 0] += not X.any()
    X = X.astype(data.draw(st.sampled_from([np.float64, np.float64, np.float32])))
    model = clone(data.draw(st.sampled_from(METHODS))).set_params(n_components=k, random_state=0, max_iter=12, tol=0)
    model.set_params(init=data.draw(st.sampled_from(["auto", "random"])))
    solvers = ["coordinate", "multiplicative"] if isinstance(model, SemiNMF) else ["projected", "multiplicative"]
    if isinstance(model, KernelGraphNMF):
        # The printed rule is not one that surely falls.
        solvers = ["projected"]
        model.set_params(kernel="linear", orthogonality=data.draw(st.sampled_from([0.1, 10.0])))
    model.set_params(solver=data.draw(st.sampled_from(solvers)))
    model.fit(data.draw(st.sampled_from([np.asarray, np.asfortranarray, sp.csr_array, sp.csc_matrix]))(X))
    objective = np.array(model.history_["objective"])
    size = max(float((X.astype(float) ** 2).sum()), objective[0], 1e-60)
    assert np.diff(objective).max() <= (1e-10 if X.dtype == np.float64 else 1e-5) * size
    assert (model.embedding_ >= 0).all()
    assert np.isfinite(model.components_).all()
    assert model.embedding_.dtype == model.components_.dtype == X.dtype
    if X.dtype == np.float64:
        assert abs(value(model, X, X) - model.objective_) <= 1e-8 * size


@pytest.mark.parametrize("method", METHODS, **by_name)
@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_matrix])
def test_sparse_and_dense_agree(method, make):
    X = signed() * (np.random.RandomState(1).uniform(size=(40, 9)) < 0.6)
    for solver in ("auto", "multiplicative"):
        model = clone(method).set_params(n_components=3, solver=solver, init="random", random_state=0)
        model.set_params(max_iter=5, tol=0)
        dense, sparse = clone(model).fit(X), clone(model).fit(make(X))
        np.testing.assert_allclose(dense.embedding_, sparse.embedding_, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(dense.transform(X), sparse.transform(make(X)), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("method", DUAL, **by_name)
def test_kernels_agree(method):
    """The linear kernel given by its entries, and rbf with every sample a landmark, are the same problems."""
    X = signed()
    E = neighbor_graph(X, 3)
    rng = np.random.RandomState(0)
    start = rng.uniform(0.1, 1, size=(40, 3)), rng.uniform(0.1, 1, size=(40, 3)) / 40
    model = clone(method).set_params(n_components=3, init=start, max_iter=6, tol=0)
    if not isinstance(method, ConvexNMF):
        model.set_params(graph=E)
    rbf = rbf_kernel(X, gamma=0.5)
    for kernel, bandwidth, K in (("linear", None, X @ X.T), ("rbf", 2.0, rbf)):
        ours = clone(model).set_params(kernel=kernel, bandwidth=bandwidth).fit(X)
        given = clone(model).set_params(kernel="precomputed").fit(K)
        # How K is split, and so the length of the steps, differs; what is minimised does not.
        np.testing.assert_allclose(ours.history_["objective"][0], given.history_["objective"][0], rtol=1e-9)
        np.testing.assert_allclose(ours.history_["fit"][0], given.history_["fit"][0], rtol=1e-9)
    positive = np.abs(X)
    ours = clone(model).set_params(kernel="linear").fit(positive)
    given = clone(model).set_params(kernel="precomputed").fit(positive @ positive.T)
    np.testing.assert_allclose(ours.objective_, given.objective_, rtol=1e-8)
    np.testing.assert_allclose(ours.embedding_, given.embedding_, rtol=1e-5, atol=1e-8)
    function = clone(model).set_params(kernel=lambda A, B: rbf_kernel(A, B, gamma=0.5)).fit(X)
    named = clone(model).set_params(kernel="rbf", bandwidth=2.0).fit(X)
    np.testing.assert_allclose(function.objective_, named.objective_, rtol=1e-6)
    assert not hasattr(function, "components_")
    assert function.transform(X[:3]).shape == (3, 3)
    sparse = clone(model).set_params(kernel="precomputed").fit(sp.csr_array(np.where(rbf < 1e-2, 0, rbf) + np.eye(40)))
    assert np.isfinite(sparse.objective_)


@pytest.mark.parametrize("method", METHODS, **by_name)
@pytest.mark.parametrize("solver", ["auto", "multiplicative"])
@pytest.mark.parametrize(
    "X", [np.zeros((6, 4)), -np.ones((6, 4)), np.eye(6), -np.eye(3), np.vstack([np.zeros((3, 4)), np.ones((3, 4))])]
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_hard_data(method, solver, X):
    for init in ("auto", "random"):
        model = clone(method).set_params(n_components=4, solver=solver, init=init, random_state=0, max_iter=10, tol=0)
        if isinstance(model, KernelGraphNMF):
            model.set_params(kernel="linear")
        model.fit(X)
        assert np.isfinite(model.history_["objective"]).all()
        assert np.isfinite(model.transform(X)).all()


@pytest.mark.parametrize("method", METHODS, **by_name)
def test_warm_start(method):
    X = signed()
    model = clone(method).set_params(n_components=3, max_iter=3, tol=0, random_state=0, warm_start=True).fit(X)
    first = model.objective_
    assert model.fit(X).history_["objective"][0] == pytest.approx(first)
    assert model.objective_ <= first


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SemiNMF(3, init="nndsvd"), "init"),
        (SemiNMF(3, solver="projected"), "solver"),
        (SemiNMF(3, init=(-np.ones((40, 3)), np.ones((3, 9)))), "W must be non-negative"),
        (SemiNMF(3, init=(np.ones((40, 3)), np.full((3, 9), np.nan))), "H must be finite"),
        (SemiNMF(41, init="kmeans"), "at least n_components"),
        (ConvexNMF(3, kernel="poly"), "kernel"),
        (ConvexNMF(3, kernel="precomputed"), "square kernel"),
        (ConceptFactorization(3, graph_strength=-1), "graph_strength"),
        (ConceptFactorization(3, scale="components"), "scale"),
        (ConceptFactorization(3, edge_weights="heat", edge_bandwidth=0), "edge_bandwidth"),
        (ConceptFactorization(3, graph=np.ones((3, 3))), "shape"),
        (KernelGraphNMF(3, orthogonality=-1), "orthogonality"),
        (KernelGraphNMF(3, orthogonality=np.nan), "orthogonality"),
        (KernelGraphNMF(3, init=(np.ones((40, 3)), -np.ones((40, 3)))), "P must be non-negative"),
    ],
    ids=lambda given: type(given).__name__ if not isinstance(given, str) else given,
)
@pytest.mark.filterwarnings("ignore:n_components=41:UserWarning")
def test_bad_parameters(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(signed())

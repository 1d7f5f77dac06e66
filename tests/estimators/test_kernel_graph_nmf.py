"""KernelGraphNMF: its objective, its codes as clusters, and its default strength."""

import numpy as np
import pytest
from sklearn.datasets import make_circles
from sklearn.metrics.pairwise import rbf_kernel
from small_data import signed

from partwise import ConceptFactorization, KernelGraphNMF
from partwise.metrics import clustering_accuracy

X = signed()


def neighbours(X, p):
    """Brute force: joined if either is among the p nearest of the other, by the cosine."""
    units = X / np.linalg.norm(X, axis=1)[:, None]
    near = units @ units.T
    np.fill_diagonal(near, -np.inf)
    E = np.zeros_like(near)
    np.put_along_axis(E, np.argsort(-near, axis=1)[:, :p], 1, axis=1)
    return np.maximum(E, E.T)


@pytest.mark.parametrize("orthogonality", [0.7, "auto"])
@pytest.mark.parametrize("kernel", ["linear", "precomputed"])
def test_the_objective_is_what_it_says(kernel, orthogonality):
    """‖Φ − W Pᵀ Φ‖² = tr(K) − 2 tr(Wᵀ K P) + tr(WᵀW PᵀKP); "auto" is tr K / k."""
    K = X @ X.T if kernel == "linear" else rbf_kernel(X, gamma=0.5)
    E = neighbours(X, 5)
    model = KernelGraphNMF(3, graph_strength=0.4, orthogonality=orthogonality, kernel=kernel, max_iter=8, tol=0)
    model.set_params(graph=E, random_state=0).fit(X if kernel == "linear" else K)
    W, P = model.embedding_, model.dual_components_.T
    mu = np.trace(K) / 3 if orthogonality == "auto" else orthogonality
    fit = np.trace(K) - 2 * np.trace(W.T @ K @ P) + np.trace(W.T @ W @ P.T @ K @ P)
    graph = 0.4 * np.trace(W.T @ (np.diag(E.sum(axis=1)) - E) @ W)
    overlap = mu / 2 * ((W.T @ W - np.eye(3)) ** 2).sum()
    assert model.history_["fit"][-1] == pytest.approx(fit)
    assert model.history_["graph"][-1] == pytest.approx(graph)
    assert model.history_["orthogonality"][-1] == pytest.approx(overlap)
    assert model.objective_ == pytest.approx(fit + graph + overlap)


def test_the_graph_is_that_of_the_samples():
    common = {"kernel": "linear", "graph_strength": 0.4, "max_iter": 5, "tol": 0, "random_state": 0}
    found = KernelGraphNMF(3, n_neighbors=4, **common).fit(X)
    given = KernelGraphNMF(3, graph=neighbours(X, 4), **common).fit(X)
    np.testing.assert_allclose(found.embedding_, given.embedding_, rtol=1e-8, atol=1e-12)


def test_without_orthogonality_it_is_concept_factorisation():
    rng = np.random.RandomState(0)
    start = rng.uniform(0.1, 1, size=(40, 3)), rng.uniform(0.1, 1, size=(40, 3)) / 40
    common = {"init": start, "graph_strength": 0.5, "kernel": "linear", "max_iter": 6, "tol": 0}
    one = KernelGraphNMF(3, orthogonality=0, **common).fit(X)
    other = ConceptFactorization(3, **common).fit(X)
    np.testing.assert_allclose(one.embedding_, other.embedding_, rtol=1e-8, atol=1e-12)
    assert one.objective_ == pytest.approx(other.objective_)


def test_stronger_orthogonality_leaves_less_overlap():
    positive = np.abs(X)
    overlaps = []
    for strength in (0.1, 10.0, 1000.0):
        model = KernelGraphNMF(3, orthogonality=strength, kernel="linear", max_iter=200, tol=0, random_state=0)
        W = model.fit(positive).embedding_
        overlaps.append(((W.T @ W - np.eye(3)) ** 2).sum())
    assert overlaps[0] > overlaps[1] > overlaps[2]


def test_clusters_that_are_not_convex():
    """One ring around another, which no method with a linear kernel tells apart."""
    rings, y = make_circles(200, factor=0.2, noise=0.05, random_state=0)
    ours = KernelGraphNMF(2, bandwidth=0.3, metric="euclidean", n_init=4, random_state=0).fit(rings)
    assert clustering_accuracy(y, ours.labels_) > 0.9
    linear = KernelGraphNMF(2, kernel="linear", metric="euclidean", n_init=4, random_state=0).fit(rings)
    assert clustering_accuracy(y, linear.labels_) < 0.8
    np.testing.assert_array_equal(ours.labels_, ours.embedding_.argmax(axis=1))

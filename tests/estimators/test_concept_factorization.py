"""ConceptFactorization: its scale, its graph, new samples."""

import numpy as np
import scipy.sparse as sp
from scipy.optimize import nnls
from small_data import signed

from partwise import ConceptFactorization, GraphNMF
from partwise.graphs import neighbor_graph


def test_gauge_cannot_be_cheated():
    """The default scale has concepts at unit norm, and is no worse there than where the printed objective leads."""
    X = np.abs(signed(60, 9))
    model = ConceptFactorization(3, graph_strength=5.0, random_state=0, max_iter=3000).fit(X)
    np.testing.assert_allclose(np.linalg.norm(model.components_, axis=1), 1)
    free = ConceptFactorization(3, graph_strength=5.0, scale=None, random_state=0, max_iter=300, tol=0).fit(X)
    norms = np.linalg.norm(free.components_, axis=1)
    assert free.history_["graph"][-1] < 0.5 * model.history_["graph"][-1]
    free.embedding_, free.dual_components_ = free.embedding_ * norms, free.dual_components_ / norms[:, None]
    E = neighbor_graph(X, 5).toarray()
    L = np.diag(E.sum(axis=1)) - E
    printed = free.history_["fit"][-1] + 5.0 * np.trace(free.embedding_.T @ L @ free.embedding_)
    assert model.objective_ <= printed * (1 + 1e-3)
    assert model.graph_method_ == "products"
    assert ConceptFactorization(3, graph_strength=0, random_state=0).fit(X).graph_method_ == "none"


def test_new_samples_follow_their_neighbours():
    """Codes of new samples minimise the fit plus the pull of their neighbours: against brute force by nnls."""
    X = signed(50)
    model = ConceptFactorization(3, graph_strength=3.0, n_neighbors=4, random_state=0).fit(X[:45])
    H, codes = model.components_, model.embedding_
    cosine = (X[45:] @ X[:45].T) / np.linalg.norm(X[:45], axis=1)
    for x, w, near in zip(X[45:], model.transform(X[45:]), np.argsort(-cosine)[:, :4], strict=True):
        A = np.vstack([H.T, *[np.sqrt(3.0) * np.eye(3)] * 4])
        b = np.concatenate([x, *(np.sqrt(3.0) * codes[i] for i in near)])
        np.testing.assert_allclose(w, nnls(A, b)[0], atol=1e-7)


def test_graph_alone_is_that_of_graph_nmf():
    """Samples that are the unit vectors make Pᵀ X = Pᵀ: concept factorisation is GraphNMF of the identity."""
    E = sp.csr_array(np.diag(np.ones(5), 1) + np.diag(np.ones(5), -1))
    rng = np.random.RandomState(0)
    W, H = rng.uniform(size=(6, 2)), rng.uniform(size=(2, 6))
    common = {"n_components": 2, "solver": "multiplicative", "max_iter": 5, "tol": 0, "graph": E, "graph_strength": 0.3}
    concept = ConceptFactorization(init=(W, H.T), **common).fit(np.eye(6))
    plain = GraphNMF(init=(W, H), **common).fit(np.eye(6))
    np.testing.assert_allclose(concept.embedding_, plain.embedding_, rtol=1e-10)
    np.testing.assert_allclose(concept.objective_, plain.objective_, rtol=1e-10)

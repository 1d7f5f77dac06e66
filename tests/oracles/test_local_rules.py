"""LocalLearningNMF and LocalCoordinateNMF make the papers' steps, sweep by sweep, whatever holds the data."""

from functools import cache, partial

import local_rules as rules
import numpy as np
import paper_rules as paper
import pytest
import scipy.sparse as sp

import partwise.terms.local_learning
from partwise import Factorization, LocalCoordinateNMF, LocalLearningNMF
from partwise.graphs import local_predictors, nearest_neighbors
from partwise.terms import Frobenius, LocalCoordinates

# Random data under any strength: components may repeat.
pytestmark = pytest.mark.filterwarnings("ignore::partwise.exceptions.DuplicateComponentsWarning")

SWEEPS = (1, 2, 30)
N, M, K, P = 30, 20, 4, 5
CONTAINERS = {"dense": np.ascontiguousarray, "csr": sp.csr_array, "csc": sp.csc_matrix}


@cache
def problem():
    """Data with many zeros (samples in rows, as the library has them), and a start."""
    rng = np.random.RandomState(0)
    X = rng.gamma(1.0, size=(N, K + 2)) @ rng.gamma(0.5, size=(K + 2, M)) * (rng.uniform(size=(N, M)) < 0.6)
    return X, rng.uniform(0.1, 1.0, size=(N, K)), rng.uniform(0.1, 1.0, size=(K, M))


def papers_way(X, step, objective):
    """What a rule gives: (codes, components) after every sweep, and all objectives."""
    _, W, H = problem()
    U, V = H.T, W
    pairs, values = [(V, U.T)], [objective(X.T, U, V)]
    for _ in range(max(SWEEPS)):
        U, V = step(X.T, U, V)
        pairs.append((V, U.T))
        values.append(objective(X.T, U, V))
    return pairs, values


def assert_same_path(model, X, pairs, values):
    _, W, H = problem()
    for s in SWEEPS:
        model.set_params(solver="multiplicative", init=(W, H), tol=0, max_iter=s).fit(X)
        for found, expected in zip((model.embedding_, model.components_), pairs[s], strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-13 * expected.max())
        np.testing.assert_allclose(model.history_["objective"], values[: s + 1], rtol=1e-10)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("kernel", ["cosine", "rbf", "linear"])
@pytest.mark.parametrize("ridge", [1e-3, 0.1, 10.0])
def test_predictors(container, kernel, ridge):
    X = problem()[0]
    data = CONTAINERS[container](X)
    links = nearest_neighbors(data, P)
    G = local_predictors(links, data, kernel=kernel, bandwidth=2.0 if kernel == "rbf" else None, ridge=ridge)
    np.testing.assert_allclose(G.toarray(), rules.predictors(X.T, P, kernel, ridge), rtol=1e-9, atol=1e-11)


@cache
def local_learning_matrix():
    return np.eye(N) - rules.predictors(problem()[0].T, P, "cosine", 0.05)


@cache
def llnmf_path(strength, formed):
    B = local_learning_matrix()
    product, matrix = partial(rules.step_llnmf_product, B=B), partial(rules.step_llnmf, L=B.T @ B)

    def objective(X, U, V):
        return paper.squared_error(X, U, V) + strength * ((B @ V) ** 2).sum()

    return papers_way(problem()[0], partial(matrix if formed else product, mu=strength), objective)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("strength", [0.1, 10.0, 1000.0])
@pytest.mark.parametrize("formed", [True, False], ids=["formed", "product"])
def test_llnmf(container, strength, formed, monkeypatch):
    if not formed:
        monkeypatch.setattr(partwise.terms.local_learning, "LONGEST_ROW", 0)
        monkeypatch.setattr(partwise.terms.local_learning, "_stored_per_row", lambda X: 0)
    model = LocalLearningNMF(K, local_strength=strength, n_neighbors=P, ridge=0.05, scale=None)
    assert_same_path(model, CONTAINERS[container](problem()[0]), *llnmf_path(strength, formed))


@pytest.mark.parametrize("strength", [0.1, 10.0])
def test_llnmf_as_printed_takes_the_root_of_the_step(strength):
    """Eq. 19 has a square root: its ratio of new to old codes, squared, is the library's."""
    X, W, H = problem()
    B = local_learning_matrix()
    _, V = rules.step_llnmf(X.T, H.T, W, B.T @ B, strength, gamma=0.5)
    model = LocalLearningNMF(K, local_strength=strength, n_neighbors=P, ridge=0.05, scale=None, init=(W, H))
    model.set_params(solver="multiplicative", max_iter=1, tol=0).fit(X)
    np.testing.assert_allclose(model.embedding_ / W, (V / W) ** 2, rtol=1e-10)


@cache
def nlcf_path(loss, strength, graph_strength):
    E = paper.nearest_neighbor_graph(problem()[0].T)
    fit, rule = {
        "frobenius": (paper.squared_error, rules.step_nlcf),
        "kullback-leibler": (paper.kullback_leibler, rules.step_nlcf_kl),
    }[loss]

    def objective(X, U, V):
        penalty = strength * rules.local_coordinates(X, U, V)
        return fit(X, U, V) + penalty + graph_strength * paper.smoothness(V, E)

    return papers_way(problem()[0], partial(rule, mu=strength, W=E, lam=graph_strength), objective)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize(
    ("loss", "strength"),
    [
        ("frobenius", 0.1),
        ("frobenius", 1.0),
        ("frobenius", 30.0),
        ("kullback-leibler", 0.01),
        ("kullback-leibler", 0.1),
    ],
)
@pytest.mark.parametrize("graph_strength", [0.0, 10.0], ids=["NLCF", "NLCF-G"])
def test_nlcf(container, strength, graph_strength, loss):
    model = LocalCoordinateNMF(K, coordinate_strength=strength, graph_strength=graph_strength, loss=loss)
    assert_same_path(model, CONTAINERS[container](problem()[0]), *nlcf_path(loss, strength, graph_strength))


def test_nlcf_on_known_entries():
    full, _, _ = problem()
    known = np.random.RandomState(1).uniform(size=full.shape) < 0.8

    def objective(X, U, V):
        return (((X - U @ V.T) * known.T) ** 2).sum() + 0.3 * rules.local_coordinates(X, U, V, known.T)

    model = Factorization(K, terms=[Frobenius(), LocalCoordinates(0.3)], missing="nan")
    step = partial(rules.step_nlcf_known, mu=0.3, known=known.T)
    path = papers_way(np.where(known, full, 0.0), step, objective)
    assert_same_path(model, np.where(known, full, np.nan), *path)

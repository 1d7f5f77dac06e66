"""GraphNMF and ConstrainedNMF make the papers' steps, sweep by sweep, whatever holds the data."""

from functools import cache, partial

import numpy as np
import paper_rules as paper
import pytest
import scipy.sparse as sp

from partwise import NMF, ConstrainedNMF, GraphNMF

SWEEPS = (1, 2, 5, 30)
N, M, K = 36, 25, 4
CONTAINERS = {"C": np.ascontiguousarray, "F": np.asfortranarray, "csr": sp.csr_array, "csc": sp.csc_matrix}
STRENGTHS = (0.1, 10.0, 1000.0)
LABELS = np.where(np.random.RandomState(5).uniform(size=N) < 0.5, np.arange(N) * 7 % 3, -1)

pytestmark = [
    pytest.mark.parametrize("container", CONTAINERS),
    # Random data under any strength: components may repeat.
    pytest.mark.filterwarnings("ignore::partwise.exceptions.DuplicateComponentsWarning"),
]


@cache
def problem():
    """Data with many zeros (samples in rows, as the library has them), and a start."""
    rng = np.random.RandomState(0)
    X = rng.gamma(1.0, size=(N, K + 2)) @ rng.gamma(0.5, size=(K + 2, M)) * (rng.uniform(size=(N, M)) < 0.6)
    assert X.any(axis=0).all()
    assert X.any(axis=1).all()
    return X, rng.uniform(0.1, 1.0, size=(N, K)), rng.uniform(0.1, 1.0, size=(K, M))


def papers_way(step, objective, gauged=False):
    """What a paper's rule gives: (codes, components) after every sweep, and all objectives."""
    X, W, H = problem()
    U, V = H.T, W
    pairs, values = [(V, U.T)], [objective(X.T, U, V)]
    for _ in range(max(SWEEPS)):
        U, V = step(X.T, U, V)
        norms = np.linalg.norm(U, axis=0) if gauged else np.ones(K)
        pairs.append((V * norms, (U / norms).T))
        values.append(objective(X.T, U, V))
    return pairs, values


def assert_same_path(model, container, pairs, values, y=None):
    X, W, H = problem()
    for s in SWEEPS:
        model.set_params(solver="multiplicative", init=(W, H), tol=0, max_iter=s)
        model.fit(CONTAINERS[container](X), y)
        for found, expected in zip((model.embedding_, model.components_), pairs[s], strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-13 * expected.max())
        np.testing.assert_allclose(model.history_["objective"], values[: s + 1], rtol=1e-10)


@pytest.mark.parametrize(
    ("loss", "step", "objective"),
    [
        ("frobenius", paper.step_nmf, paper.squared_error),
        ("kullback-leibler", paper.step_nmf_kl, paper.kullback_leibler),
    ],
)
def test_lee_and_seung(container, loss, step, objective):
    assert_same_path(NMF(K, loss=loss, scale=None), container, *papers_way(step, objective))


GRAPH_RULES = {
    ("frobenius", None): (paper.step_gnmf, paper.squared_error),
    ("frobenius", "auto"): (paper.step_gnmf_gauged, paper.squared_error),
    ("kullback-leibler", None): (paper.step_gnmf_kl, paper.kullback_leibler),
    ("kullback-leibler", "auto"): (paper.step_gnmf_kl_gauged, paper.kullback_leibler),
}


@cache
def gnmf_path(loss, scale, strength, labelled):
    step, fit = GRAPH_RULES[loss, scale]
    E = paper.nearest_neighbor_graph(problem()[0].T)
    if labelled:
        E = paper.edited_by_labels(E, LABELS)

    def objective(X, U, V):
        scaled = V if scale is None else V * np.linalg.norm(U, axis=0)
        return fit(X, U, V) + strength * paper.smoothness(scaled, E)

    return papers_way(partial(step, W=E, lam=strength), objective, gauged=scale is not None)


@pytest.mark.parametrize("labelled", [False, True], ids=["GNMF", "SemiGNMF"])
@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize(("loss", "scale"), GRAPH_RULES)
def test_gnmf(container, loss, scale, strength, labelled):
    model = GraphNMF(K, graph_strength=strength, loss=loss, scale=scale, use_labels=labelled)
    assert_same_path(model, container, *gnmf_path(loss, scale, strength, labelled), LABELS)


@pytest.mark.parametrize(
    ("loss", "step", "fit"),
    [
        ("frobenius", paper.step_cnmf, paper.squared_error),
        ("kullback-leibler", paper.step_cnmf_kl, paper.kullback_leibler),
    ],
)
@pytest.mark.parametrize("known", ["some", "none", "all"])
def test_cnmf(container, loss, step, fit, known):
    y = {"some": LABELS, "none": np.full(N, -1), "all": np.arange(N) * 7 % 3}[known]
    X, W, H = problem()
    A = paper.label_matrix(y)
    U, Z = H.T, np.linalg.solve(A.T @ A, A.T @ W)
    pairs, values = [(A @ Z, U.T)], [fit(X.T, U, A @ Z)]
    for _ in range(max(SWEEPS)):
        U, Z = step(X.T, U, Z, A)
        pairs.append((A @ Z, U.T))
        values.append(fit(X.T, U, A @ Z))
    assert_same_path(ConstrainedNMF(K, loss=loss, scale=None), container, pairs, values, y)

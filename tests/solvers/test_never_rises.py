"""No solver, estimator, loss or scale lets the objective rise, and what it reports is what it returns."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from explicit import cauchy_value, dense, edge_value, fit_value, huber_value, joined_by_labels, overdispersed_value
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from partwise import NMF, ConstrainedNMF, Factorization, GraphNMF
from partwise.graphs import neighbor_graph
from partwise.terms import L1, L2, BetaDivergence, Frobenius, Huber, NeighborGraph, Smoothness, TruncatedCauchy

# Few samples, many components, graphs in pieces and dead components are all meant here.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

modestly = settings(
    max_examples=60, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)
strengths = st.sampled_from([0.0, 1e-3, 0.5, 10.0, 1e3, 1e6])
betas = st.sampled_from(["frobenius", "kullback-leibler", "itakura-saito", 0.5, 1.5, 3])
solvers = st.sampled_from(["coordinate", "multiplicative"])
for_divergences = st.sampled_from(["auto", "multiplicative"])
BETA = {"frobenius": 2, "kullback-leibler": 1, "itakura-saito": 0}


@pytest.fixture(autouse=True)
def _few_gentle_sweeps(monkeypatch):
    """Most sweeps are then Newton steps, not multiplicative ones."""
    monkeypatch.setattr("partwise.solvers.newton.GENTLE_SWEEPS", 2)


@dataclass
class Problem:
    X: Any
    known: np.ndarray
    missing: str | None
    sample_weight: np.ndarray | None
    rng: np.random.RandomState
    k: int

    @property
    def weights(self):
        """Weight of every entry in the fit."""
        return self.known * (1.0 if self.sample_weight is None else self.sample_weight[:, None])

    def graph(self):
        E = np.triu(
            self.rng.uniform(size=(len(self.known),) * 2) * self.rng.binomial(1, 0.4, (len(self.known),) * 2), 1
        )
        return sp.csr_array(E + E.T)

    def labels(self):
        return self.rng.randint(-1, 3, size=len(self.known))


@st.composite
def problems(draw, positive=False, missing=(None,)):
    n, m, k = draw(st.integers(1, 12)), draw(st.integers(1, 10)), draw(st.integers(1, 5))
    rng = np.random.RandomState(draw(st.integers(0, 2**16)))
    X = rng.gamma(0.7, size=(n, m)) * draw(st.sampled_from([1.0, 1e-3, 1e3])) + (1e-3 if positive else 0)
    if not positive:
        X *= rng.uniform(size=X.shape) < 0.7
        if draw(st.booleans()):
            X[rng.randint(n)] = 0
            X[:, rng.randint(m)] = 0
    X[0, 0] += not X.any()
    X = X.astype(draw(st.sampled_from([np.float64, np.float64, np.float32])))
    known, missing = np.ones(X.shape), draw(st.sampled_from(missing))
    if missing == "nan":
        known = ((rng.uniform(size=X.shape) < 0.7) | (X.max() == X)) * 1.0
        X[known == 0] = np.nan
    elif missing == "unstored":
        known = (X != 0) * 1.0
        X = sp.csr_array(X)
    elif not positive:
        X = draw(st.sampled_from([np.ascontiguousarray, np.asfortranarray, sp.csr_array, sp.csc_matrix]))(X)
    weight = draw(st.sampled_from([None, "real", "some zero"]))
    if weight is not None:
        weight = rng.uniform(0.1, 3.0, size=n) * (rng.binomial(1, 0.7, n) if weight == "some zero" else 1)
        weight[0] = 1.0
    return Problem(X, known, missing, weight, rng, k)


def check_fit(model, problem, y, explicit):
    """Fit, and hold everything against the definition of the objective, `explicit(W, H)`."""
    X, weight = problem.X, problem.sample_weight
    before = X.copy()
    model.set_params(n_components=problem.k, random_state=0, max_iter=12, tol=0).fit(X, y, sample_weight=weight)

    values = [a.data if sp.issparse(a) else a for a in (before, X)]
    np.testing.assert_array_equal(*values)
    W, H = model.embedding_, model.components_
    dtype = np.dtype(X.dtype)
    for factor in (W, H):
        assert factor.dtype == dtype
        assert np.isfinite(factor).all()
        assert (factor >= 0).all()

    history = model.history_
    assert model.n_iter_ == 12
    assert {len(part) for part in history.values()} == {13}
    objective = np.array(history["objective"])
    assert np.isfinite(objective).all()
    np.testing.assert_allclose(
        objective, sum(np.array(part) for name, part in history.items() if name not in ("objective", "time"))
    )
    size = max(float(np.nansum(dense(X) ** 2)), objective[0], 1e-60)
    rise = 1e-10 if dtype == np.float64 else 1e-5
    assert np.diff(objective).max() <= rise * size, (objective, np.diff(objective).max() / size)
    assert model.objective_ == objective[-1]
    if dtype == np.float64:
        assert abs(model.objective_ - explicit(W, H)) <= 1e-8 * size, (model.objective_, explicit(W, H))


PENALTIES = ("l1_codes", "l2_codes", "l1_components", "l2_components")
some_penalties = st.fixed_dictionaries({name: st.sampled_from([0.0, 0.0, 0.1, 100.0]) for name in PENALTIES})


def penalty_value(p, W, H, sample_weight):
    s = np.ones(len(W)) if sample_weight is None else sample_weight
    W, H = np.float64(W), np.float64(H)
    return (
        p["l1_codes"] * (s @ W).sum()
        + p["l2_codes"] * (s @ W**2).sum()
        + p["l1_components"] * H.sum()
        + p["l2_components"] * (H**2).sum()
    )


@modestly
@given(problems(), some_penalties, solvers, st.sampled_from(["auto", "components", None]), st.data())
def test_nmf(problem, p, solver, scale, data):
    if scale == "components" and p["l1_components"] + p["l2_components"] > 0:
        scale = "auto"
    init = data.draw(st.sampled_from(["random", "nndsvd", "nndsvda"]))
    model = NMF(solver=solver, scale=scale, init=init, **p)
    check_fit(
        model,
        problem,
        None,
        lambda W, H: fit_value(problem.X, W, H, 2, problem.weights) + penalty_value(p, W, H, problem.sample_weight),
    )


@modestly
@given(st.data(), betas, some_penalties, st.sampled_from(["auto", None]))
def test_nmf_with_divergences_and_missing_entries(data, loss, p, scale):
    beta = BETA.get(loss, loss)
    problem = data.draw(problems(positive=beta <= 0, missing=(None, "nan", *(["unstored"] if beta > 0 else []))))
    solver = data.draw(solvers) if beta == 2 else data.draw(st.sampled_from(["auto", "multiplicative"]))
    model = NMF(loss=loss, missing=problem.missing, solver=solver, scale=scale, init="random", **p)
    check_fit(
        model,
        problem,
        None,
        lambda W, H: fit_value(problem.X, W, H, beta, problem.weights) + penalty_value(p, W, H, problem.sample_weight),
    )


@modestly
@given(problems(missing=(None, "nan", "unstored")), st.sampled_from(["huber", "l1"]), some_penalties, st.data())
def test_nmf_with_robust_losses(problem, loss, p, data):
    few_known = problem.missing == "unstored" or problem.known.mean() <= 0.25
    solver = data.draw(for_divergences if few_known else solvers)
    model = NMF(loss=loss, missing=problem.missing, solver=solver, **p)
    if data.draw(st.booleans()):
        model.set_params(loss_scale=0.3 * float(np.nanmax(dense(problem.X))))

    def explicit(W, H):
        fit = huber_value(problem.X, W, H, model.loss_scale_, problem.weights)
        return fit + penalty_value(p, W, H, problem.sample_weight)

    check_fit(model, problem, None, explicit)


@modestly
@given(problems(missing=(None, "nan")), st.booleans(), st.sampled_from([0.03, 0.3, 3.0]), st.booleans(), st.data())
def test_robust_terms_with_element_weights(problem, huber, scale, listed, data):
    V = problem.rng.uniform(0.1, 2.0, size=problem.known.shape) * problem.rng.binomial(1, 0.8, problem.known.shape)
    V[0, 0] = 1
    problem.known, E = problem.known * V, problem.graph()
    scale *= float(np.nanmax(dense(problem.X)))
    a, b = data.draw(strengths), data.draw(strengths)
    loss = (Huber if huber else TruncatedCauchy)(scale, weights=sp.csr_array(V) if listed else V)
    s = np.ones(len(V)) if problem.sample_weight is None else problem.sample_weight

    def explicit(W, H):
        value = huber_value if huber else cauchy_value
        fit = value(problem.X, W, H, scale, problem.weights)
        return fit + a * edge_value(E, W) + b * (s @ W).sum()

    terms = [loss, NeighborGraph(a, graph=E), L1(b)]
    check_fit(Factorization(terms=terms, missing=problem.missing, init="random"), problem, None, explicit)


dispersions = st.sampled_from([1e-3, 0.1, 1.0, 30.0])


@modestly
@given(
    problems(missing=(None, "nan", "unstored")),
    dispersions,
    some_penalties,
    for_divergences,
    st.booleans(),
    st.booleans(),
)
def test_nmf_of_overdispersed_counts(problem, dispersion, p, solver, varies, gauged):
    if varies:
        dispersion = dispersion * problem.rng.uniform(0.5, 2, size=problem.X.shape[1])
    how = {"missing": problem.missing, "solver": solver, "scale": "auto" if gauged else None}
    model = NMF(loss="negative-binomial", dispersion=dispersion, init="random", **how, **p)

    def explicit(W, H):
        fit = overdispersed_value(problem.X, W, H, dispersion, problem.weights)
        return fit + penalty_value(p, W, H, problem.sample_weight)

    check_fit(model, problem, None, explicit)


@modestly
@given(problems(), strengths, dispersions, for_divergences)
def test_graph_nmf_of_overdispersed_counts(problem, strength, dispersion, solver):
    problem.sample_weight = problem.sample_weight if problem.sample_weight is None else problem.sample_weight + 0.1
    E = problem.graph()
    model = GraphNMF(
        graph_strength=strength, graph=E, loss="negative-binomial", dispersion=dispersion, solver=solver, init="random"
    )

    def explicit(W, H):
        return overdispersed_value(problem.X, W, H, dispersion, problem.weights) + strength * edge_value(E, W)

    check_fit(model, problem, None, explicit)


@modestly
@given(problems(), strengths, solvers)
def test_graph_nmf_with_a_robust_loss(problem, strength, solver):
    problem.sample_weight = problem.sample_weight if problem.sample_weight is None else problem.sample_weight + 0.1
    E = problem.graph()
    model = GraphNMF(graph_strength=strength, graph=E, loss="huber", solver=solver)

    def explicit(W, H):
        return huber_value(problem.X, W, H, model.loss_scale_, problem.weights) + strength * edge_value(E, W)

    check_fit(model, problem, None, explicit)


@modestly
@given(
    problems(),
    strengths,
    st.sampled_from(["frobenius", "kullback-leibler"]),
    solvers,
    st.sampled_from(["auto", "components", None]),
    st.booleans(),
    st.sampled_from(["binary", "heat", "cosine", "given"]),
)
def test_graph_nmf(problem, strength, loss, solver, scale, use_labels, edges):
    if loss == "kullback-leibler":
        solver = "newton" if solver == "coordinate" else solver
    problem.sample_weight = problem.sample_weight if problem.sample_weight is None else problem.sample_weight + 0.1
    E = problem.graph() if edges == "given" else neighbor_graph(problem.X, 3, edge_weights=edges)
    y = problem.labels()
    model = GraphNMF(
        graph_strength=strength, n_neighbors=3, loss=loss, solver=solver, scale=scale, use_labels=use_labels
    )
    model.set_params(**({"graph": E} if edges == "given" else {"edge_weights": edges}))
    joined = joined_by_labels(E, y) if use_labels else E
    check_fit(
        model,
        problem,
        y,
        lambda W, H: fit_value(problem.X, W, H, BETA[loss], problem.weights) + strength * edge_value(joined, W),
    )


@modestly
@given(st.data(), betas, st.sampled_from(["auto", "components", None]))
def test_constrained_nmf(data, loss, scale):
    beta = BETA.get(loss, loss)
    problem = data.draw(problems(positive=beta <= 0))
    solver = data.draw(solvers if beta == 2 else for_divergences)
    model = ConstrainedNMF(loss=loss, solver=solver, scale=scale)
    check_fit(model, problem, problem.labels(), lambda W, H: fit_value(problem.X, W, H, beta, problem.weights))


@modestly
@given(st.data(), betas, st.sampled_from(["auto", None]), st.sampled_from([None, "dense", "sparse"]))
def test_factorization_with_mixed_terms(data, loss, scale, element_weights):
    beta = BETA.get(loss, loss)
    problem = data.draw(problems(positive=beta <= 0, missing=(None, "nan")))
    solver = data.draw(solvers) if beta == 2 else "auto"
    rng, n = problem.rng, len(problem.known)
    if problem.sample_weight is not None:
        problem.sample_weight = problem.sample_weight + 0.1
    V = None
    if element_weights is not None:
        V = rng.uniform(0.1, 2.0, size=problem.known.shape) * rng.binomial(1, 0.8, problem.known.shape)
        problem.known = problem.known * V
        V = V if element_weights == "dense" else sp.csr_array(V)
    B = rng.standard_normal((n, n)) * rng.binomial(1, 0.3, (n, n))
    S, E = B.T @ B, problem.graph()
    a, b, c, d = (data.draw(strengths) for _ in range(4))
    terms = [
        Frobenius(V) if beta == 2 else BetaDivergence(loss, V),
        NeighborGraph(a, graph=E),
        Smoothness(sp.csr_array(S), b),
        L1(c),
        L2(d),
    ]
    s = np.ones(n) if problem.sample_weight is None else problem.sample_weight
    check_fit(
        Factorization(terms=terms, missing=problem.missing, solver=solver, scale=scale, init="random"),
        problem,
        None,
        lambda W, H: (
            fit_value(problem.X, W, H, beta, problem.weights)
            + a * edge_value(E, W)
            + b * np.trace(W.T @ S @ W)
            + c * (s @ W).sum()
            + d * (s @ W**2).sum()
        ),
    )


@pytest.mark.parametrize("solver", ["coordinate", "multiplicative"])
def test_samples_without_weight_in_a_graph(solver):
    """They count in the graph though not in the fit, and what is returned is what was minimised."""
    rng = np.random.RandomState(0)
    X = rng.gamma(1.0, size=(20, 10))
    E, weight = neighbor_graph(X, 3), np.arange(20) % 4 * 1.0
    problem = Problem(X, np.ones(X.shape), None, weight, rng, 3)
    model = GraphNMF(graph_strength=5.0, n_neighbors=3, solver=solver)
    check_fit(model, problem, None, lambda W, H: fit_value(X, W, H, 2, problem.weights) + 5.0 * edge_value(E, W))


def test_two_graphs_edited_by_labels():
    """Whatever sum of terms is given, a solver takes it or it is refused before any work."""
    rng = np.random.RandomState(0)
    X, y = rng.gamma(1.0, size=(20, 10)), np.arange(20) % 4 - 1
    graphs = [joined_by_labels(neighbor_graph(X, p), y) for p in (3, 5)]
    terms = [Frobenius(), *(NeighborGraph(2.0, p, use_labels=True) for p in (3, 5))]
    check_fit(
        Factorization(terms=terms),
        Problem(X, np.ones(X.shape), None, None, rng, 3),
        y,
        lambda W, H: fit_value(X, W, H) + 2.0 * sum(edge_value(E, W) for E in graphs),
    )


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler", 0.5, 1.5, 3])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_data_that_is_zero_everywhere(make, loss):
    X = make(np.zeros((5, 4)))
    problem = Problem(X, np.ones(X.shape), None, None, np.random.RandomState(0), 2)
    check_fit(NMF(loss=loss), problem, None, lambda W, H: fit_value(X, W, H, BETA.get(loss, loss)))

"""Any sum of terms over any domains: no objective rises, the factors lie in their domains, small cases are solved."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from partwise.core.domains import (
    NON_NEGATIVE,
    Free,
    OneEntry,
    RankOne,
    Simplex,
    Sparse,
    UnitNorm,
)
from partwise.core.fixed import Fixed
from partwise.core.objective import Objective
from partwise.core.state import State
from partwise.core.storage import as_operand
from partwise.metrics import sparseness
from partwise.solvers.choice import choose_solver
from partwise.solvers.coordinate import GENTLE_SWEEPS
from partwise.solvers.loop import Options
from partwise.solvers.point import Point
from partwise.solvers.search import minimise
from partwise.terms import L1, L2, BetaDivergence, Frobenius, Gauged, NeighborGraph, Smoothness

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
modestly = settings(
    max_examples=150, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)
K = 3


def fit(
    X, terms, codes=NON_NEGATIVE, components=NON_NEGATIVE, sweeps=12, tol=0.0, start=None, weight=None, solver="auto"
):
    """Minimise from a start that is the same for the same shape; penalties as they stand."""
    operand = as_operand(X, None, weight)
    bound = [term.bind(operand, None, np.random.RandomState(0), weight) for term in terms]
    domains = {"codes": codes, "components": components}
    objective = Objective(bound, **{factor: domain.bind(operand, factor, K) for factor, domain in domains.items()})
    rng = np.random.RandomState(1)
    W, Ht = (rng.uniform(0.1, 1, size=(rows, K)).astype(operand.dtype) for rows in operand.shape)
    state = State(operand, *((W, Ht) if start is None else start))
    result = minimise(objective, choose_solver(solver, objective), [lambda: state], Options(sweeps, tol))
    return result, objective


def lies_in(domain, F, factor):
    """The definition of each domain, to rounding."""
    eps = 200 * float(np.finfo(F.dtype).eps) * max(F.shape)
    if not domain.signed:
        assert (F >= 0).all()
    match domain:
        case UnitNorm():
            assert abs(np.linalg.norm(F, axis=0) - 1).max() <= eps
        case Simplex():
            assert abs(F.sum(axis=1 if factor == "codes" else 0) - 1).max() <= eps
        case OneEntry():
            assert ((F != 0).sum(axis=1) <= 1).all()
        case Sparse(wanted):
            found = sparseness(F.T.astype(float))
            assert abs(found[F.any(axis=0)] - wanted).max(initial=0) <= 1e-3 if F.dtype == np.float32 else 1e-9
        case RankOne():
            for column in F.T.astype(float):
                singular = np.linalg.svd(column.reshape(2, 3), compute_uv=False)
                assert singular[1] <= eps * max(singular[0], 1e-30)


def data(rng, n, dtype, signed):
    X = rng.gamma(0.7, size=(n, 6)) * (rng.uniform(size=(n, 6)) < 0.8)
    if signed:
        X -= rng.uniform(size=X.shape)
    X[0, 0] += 1
    return X.astype(dtype)


def fixed(rng, rest):
    return Fixed(rng.uniform(size=(2, 6)) * (-1 if rest.signed else 1), rest=rest)


def masked(rng, rest):
    return Fixed(np.zeros((K, 6)), rng.uniform(size=(K, 6)) < 0.3, rest)


QUADRATIC_CODES = [NON_NEGATIVE, Free(), UnitNorm(), Simplex(), OneEntry(), Sparse(0.4)]
QUADRATIC_COMPONENTS = [NON_NEGATIVE, Free(), UnitNorm(), Simplex(), OneEntry(), Sparse(0.5), RankOne((2, 3))]
MADE = [lambda rng: fixed(rng, NON_NEGATIVE), lambda rng: fixed(rng, Free()), lambda rng: fixed(rng, UnitNorm())]
MADE += [lambda rng: fixed(rng, Simplex()), lambda rng: masked(rng, NON_NEGATIVE), lambda rng: masked(rng, Free())]


def penalties(draw, n, signed):
    graph = sp.csr_array(np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1))
    B = np.random.RandomState(5).standard_normal((n, n))
    choices = [NeighborGraph(2.0, graph=graph), Smoothness(sp.csr_array(B.T @ B), 0.3), L2(0.5), L2(0.5, "components")]
    if not signed:
        choices += [L1(0.3), L1(0.3, "components")]
    return draw(st.lists(st.sampled_from(choices), unique=True, max_size=3))


def check(X, terms, codes, components, weight=None):
    result, objective = fit(X, terms, codes, components, weight=weight)
    values = np.array(result.history["objective"])
    size = max(float((np.float64(X.toarray() if sp.issparse(X) else X) ** 2).sum()), abs(values[0]))
    assert np.isfinite(values).all()
    assert np.diff(values).max() <= (1e-10 if X.dtype == np.float64 else 1e-5) * size, values
    for factor in ("codes", "components"):
        domain, F = objective.domains[factor], result.state[factor]
        assert F.dtype == X.dtype
        assert np.isfinite(F).all()
        if isinstance(domain, Fixed):
            np.testing.assert_array_equal(domain.put(F, factor), F)
            lies_in(domain.rest, F[:, domain.n_held(factor) :], factor)
        else:
            lies_in(domain, F, factor)
    return result


@modestly
@given(st.data())
def test_quadratic_terms_over_all_domains(draws):
    draw = draws.draw
    rng = np.random.RandomState(draw(st.integers(0, 2**16)))
    n, dtype = draw(st.integers(2, 12)), draw(st.sampled_from([np.float64, np.float64, np.float32]))
    codes = draw(st.sampled_from(QUADRATIC_CODES))
    components = draw(st.sampled_from([*QUADRATIC_COMPONENTS, *MADE]))
    components = components(rng) if callable(components) else components
    if codes == NON_NEGATIVE and draw(st.booleans()) and not components.signed:
        codes = Fixed(rng.uniform(size=(n, 2)), rng.uniform(size=(n, 2)) < 0.5)
    signed = codes.signed or components.signed
    X = data(rng, n, dtype, signed)
    terms = [Frobenius(), *penalties(draw, n, signed)]
    weighted = not isinstance(codes, UnitNorm | Sparse) and draw(st.booleans())
    weight = rng.uniform(0.1, 2, size=n).astype(dtype) if weighted else None
    check(draw(st.sampled_from([np.asarray, sp.csr_array]))(X), terms, codes, components, weight)


@modestly
@given(st.data())
def test_divergences_over_the_domains_they_know(draws):
    draw = draws.draw
    rng = np.random.RandomState(draw(st.integers(0, 2**16)))
    n, dtype = draw(st.integers(2, 12)), draw(st.sampled_from([np.float64, np.float64, np.float32]))
    codes = draw(st.sampled_from([NON_NEGATIVE, Simplex()]))
    components = draw(st.sampled_from([NON_NEGATIVE, Simplex(), MADE[0], MADE[3], MADE[4]]))
    components = components(rng) if callable(components) else components
    X = data(rng, n, dtype, signed=False)
    beta = draw(st.sampled_from([1, 1, 1.5, 2]))
    fit_term = BetaDivergence(beta) if beta < 2 else Frobenius(rng.uniform(size=X.shape))
    check(
        draw(st.sampled_from([np.asarray, sp.csr_array]))(X), [fit_term, *penalties(draw, n, False)], codes, components
    )


SMALL = np.random.RandomState(7).gamma(1.0, size=(5, 4))
CHAIN = sp.csr_array(np.diag(np.ones(4), 1) + np.diag(np.ones(4), -1))


def soft(axis):
    def softmax(z):
        e = np.exp(z - z.max(axis=axis, keepdims=True))
        return e / e.sum(axis=axis, keepdims=True)

    return softmax, lambda F: np.log(F + 1e-9)


SQUARES = np.square, lambda F: np.sqrt(F + 1e-9)
SPHERE = lambda z: z**2 / np.linalg.norm(z**2, axis=0), SQUARES[1]
ANY = lambda z: z, lambda F: F
# Each factor by unknowns without any bound, for a solver that knows none, and the unknowns of a factor.
GENERIC = {
    "simplex codes": (Simplex(), NON_NEGATIVE, soft(1), SQUARES),
    "simplex components": (NON_NEGATIVE, Simplex(), SQUARES, soft(0)),
    "both": (Simplex(), Simplex(), soft(1), soft(0)),
    "free components": (Simplex(), Free(), soft(1), ANY),
    "unit components": (NON_NEGATIVE, UnitNorm(), SQUARES, SPHERE),
}


@pytest.mark.parametrize("loss", [2, 1])
@pytest.mark.parametrize("case", GENERIC)
def test_against_a_generic_solver(case, loss):
    """From its end, a solver without any knowledge of the problem finds nothing better."""
    codes, components, (to_W, from_W), (to_Ht, from_Ht) = GENERIC[case]
    if loss == 1 and (components.signed or components == UnitNorm()):
        pytest.skip("refused")
    terms = [Frobenius() if loss == 2 else BetaDivergence(1.0), NeighborGraph(0.2, graph=CHAIN)]
    result, objective = fit(SMALL, terms, codes, components, sweeps=4000, tol=1e-10)
    end = result.state

    def value(z):
        W, Ht = to_W(z[: 5 * K].reshape(5, K)), to_Ht(z[5 * K :].reshape(4, K))
        return sum(objective.values(State(end.X, W, Ht)).values())

    z = np.concatenate([from_W(end.W).ravel(), from_Ht(end.Ht).ravel()])
    rng = np.random.RandomState(0)
    found = min(
        minimize(value, z + 0.01 * rng.standard_normal(z.shape), method="L-BFGS-B", options={"maxiter": 500}).fun
        for _ in range(2)
    )
    assert result.objective <= found * (1 + 1e-4) + 1e-9


def test_one_entry_against_all_assignments():
    """Brute force over every choice of columns, with the best lengths for each."""
    Ht = np.random.RandomState(2).gamma(1.0, size=(4, K))
    held = Fixed(Ht.T)
    result, _ = fit(SMALL, [Frobenius(), L1(0.3), L2(0.2)], OneEntry(), held, sweeps=30)
    best = 0.0
    for x in SMALL:
        options = []
        for h in Ht.T:
            length = max((x @ h - 0.15) / (h @ h + 0.2), 0)
            options.append(((x - length * h) ** 2).sum() + 0.3 * length + 0.2 * length**2)
        best += min(options)
    assert abs(result.objective - best) <= 1e-9


@pytest.mark.parametrize("loss", [Frobenius(), BetaDivergence(1.0)], ids=["squared error", "kullback-leibler"])
def test_fixed_components_leave_the_others_where_a_plain_fit_has_them(loss):
    """Fix two components of a minimum: the third, and all codes, are found again."""
    X = np.random.RandomState(3).gamma(1.0, size=(12, 6))
    plain, _ = fit(X, [loss], sweeps=3000, tol=1e-12)
    Ht = plain.state.Ht
    start = plain.state.W, np.hstack([np.ones_like(Ht[:, :2]), 1.3 * Ht[:, 2:] + 0.1])
    again, _ = fit(X, [loss], components=Fixed(Ht[:, :2].T), sweeps=5000, tol=1e-12, start=start)
    np.testing.assert_array_equal(again.state.Ht[:, :2], Ht[:, :2])
    assert again.objective <= plain.objective * (1 + 1e-6)


def test_gauged_penalties_with_components_of_either_sign():
    """Semi-NMF with a graph: the gradient of what is minimised vanishes along the components."""
    X = data(np.random.RandomState(0), 20, np.float64, True)
    operand = as_operand(X)
    chain = sp.csr_array(np.diag(np.ones(19), 1) + np.diag(np.ones(19), -1))
    terms = [Frobenius().bind(operand), Gauged(NeighborGraph(1.5, graph=chain).bind(operand))]
    objective = Objective(terms, components=Free())
    rng = np.random.RandomState(1)
    start = State(operand, rng.uniform(size=(20, K)), rng.uniform(size=(6, K)))
    result = minimise(objective, choose_solver("auto", objective), [lambda: start], Options(400, 1e-9))
    W, H = result.state.W, result.state.Ht.T
    L = np.diag(chain.toarray().sum(axis=1)) - chain.toarray()
    energies = np.diag(W.T @ L @ W)
    gradient = 2 * W.T @ (W @ H - X) + 2 * 1.5 * energies[:, None] * H
    assert abs(gradient).max() <= 1e-6 * abs(W.T @ X).max()
    assert (H < 0).any()
    assert (np.diff(result.history["objective"]) <= 1e-9).all()


@pytest.mark.parametrize(
    ("terms", "domains", "solver", "message"),
    [
        ([BetaDivergence(1.0)], {"components": Free()}, "auto", "'fit' needs components without negative entries"),
        ([Frobenius(), L1(1.0)], {"codes": Free()}, "auto", "'l1 codes' needs codes without negative entries"),
        ([BetaDivergence(1.0)], {"components": Sparse(0.5)}, "auto", "keeps the components at a given sparseness"),
        ([BetaDivergence(0.5)], {"codes": Simplex()}, "auto", "no step on the simplex"),
        ([Frobenius()], {"codes": Simplex()}, "coordinate", "does not keep the codes at sums of one"),
        ([Frobenius()], {"components": Sparse(0.5)}, "multiplicative", "does not keep the components at a given"),
    ],
)
def test_what_cannot_be_combined_is_refused(terms, domains, solver, message):
    with pytest.raises(ValueError, match=message):
        fit(SMALL, terms, **domains, solver=solver)


def test_only_the_first_sweeps_are_gentle():
    """Also where coordinate descent has one of the factors alone."""
    operand = as_operand(SMALL)
    objective = Objective([Frobenius().bind(operand)], codes=UnitNorm())
    solver = choose_solver("auto", objective)()
    start = solver.prepare(State(operand, np.ones((5, K)), np.random.RandomState(0).uniform(size=(4, K))))
    point = Point.at(objective, start)
    for _ in range(GENTLE_SWEEPS + 1):
        point = solver.sweep(point)
    assert solver.memory()["coordinate"]["_sweeps"] == GENTLE_SWEEPS + 1

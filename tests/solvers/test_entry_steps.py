"""Steps on sums over entries: no row rises, and many steps end where the optimality conditions hold."""

import numpy as np
import pytest
import scipy.sparse as sp
from explicit import divergence, edge_value, fit_value
from scipy.integrate import quad
from scipy.optimize import minimize

from partwise import NMF, ConstrainedNMF, Factorization, WeightedNMF
from partwise.core.objective import Objective
from partwise.core.scratch import Scratch
from partwise.core.state import State
from partwise.core.storage import as_operand
from partwise.core.types import CODES, COMPONENTS
from partwise.kernels.safeguards import _rate, _slowly, remainder
from partwise.solvers.entry_steps import EntrySteps
from partwise.solvers.multilevel import Chain
from partwise.terms import L1, L2, BetaDivergence, Frobenius, NeighborGraph

BETAS = [-1, 0, 0.5, 0.7, 1, 1.2, 1.5, 2.5, 3]


def data(beta, n=70, m=30, k=4, seed=0):
    """Positive data, with zeros where the divergence allows them, and factors."""
    rng = np.random.RandomState(seed)
    X = (rng.gamma(0.5, size=(n, k)) @ rng.gamma(0.5, size=(k, m)) + 1e-3) * rng.exponential(size=(n, m)) + 1e-6
    if beta > 0:
        X[rng.uniform(size=X.shape) < 0.1] = 0
        X[3], X[:, 5] = 0, 0
    return X, rng.uniform(0.05, 1, size=(n, k)), rng.uniform(0.05, 1, size=(m, k))


def steps(X, W, Ht, terms, factor=CODES, missing=None, **how):
    operand = as_operand(X, missing)
    objective = Objective([term.bind(operand) for term in terms])
    return EntrySteps(objective, State(operand, W, Ht), factor, Scratch(), **how)


@pytest.mark.parametrize("growth", [-4.0, -3.0, -2.5, -2.0, -1.5, -1.0, 0.5, 1.0])
def test_remainders_against_quadrature(growth):
    for t in (-0.99, -0.3, -1e-2, -1.1e-3, -9e-4, 1e-9, 0.2, 30.0):
        expected = quad(lambda s, t=t: (t - s) * (1 + s) ** growth, 0, t, epsabs=0)[0] / t**2
        assert remainder(t, growth) == pytest.approx(expected, rel=1e-8)
        assert _rate(t, growth) == pytest.approx(quad(lambda s: (1 + s) ** growth, 0, t, epsabs=0)[0] / t, rel=1e-8)


@pytest.mark.parametrize("slow", [-0.9, -0.5, -0.2])
def test_slow_curvatures_against_quadrature_and_their_bound_for_shorter_steps(slow):
    """Also at the ends: all of y is lost, or it was next to nothing before."""
    y, firm = np.ones(1), np.ones(1)
    for t in (-1.0, -0.4, 1e-9, 0.3, 50.0, 1e4):
        expected = quad(lambda s, t=t: (t - s) * (1 + s) ** slow, 0, t, epsabs=0, limit=500)[0]
        whole = _slowly(firm, y, np.full(1, t), slow)
        assert whole == pytest.approx(expected, rel=1e-6)
        for length in (0.01, 0.5, 0.9):
            assert _slowly(firm, y, np.full(1, length * t), slow) <= length ** (2 + slow) * whole * (1 + 1e-9)


@pytest.mark.parametrize("beta", BETAS)
def test_bounds_lie_above_the_divergence(beta):
    """Derivatives agree with finite differences, and the bound holds for every t."""
    X, W, Ht = data(beta)
    form = steps(X, W, Ht, [BetaDivergence(beta)])._form
    y = W @ Ht.T
    slope, bent, firm = np.empty_like(y), np.empty_like(y), np.zeros_like(y)
    form.rows(CODES, slice(0, len(y))).derive(y, slope, bent, firm if form.slow is not None else firm[:0])
    h = 1e-6 * y
    ahead, behind = divergence(X, y + h, beta), divergence(X, y - h, beta)
    np.testing.assert_allclose(slope, (ahead - behind) / (2 * h), rtol=1e-5, atol=1e-5 * np.abs(slope).max())
    for t in (-0.999, -0.5, -0.01, 0.01, 1.0, 20.0):
        bound = slope * y * t + bent * remainder(t, form.growth) * t**2 + firm * remainder(t, form.slow or 0.0) * t**2
        rise = divergence(X, y * (1 + t), beta) - divergence(X, y, beta)
        assert (rise <= bound + 1e-9 * (np.abs(bound) + np.abs(rise) + 1e-12)).all()


@pytest.mark.parametrize("own_grams", [False, True])
@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("factor", [CODES, COMPONENTS])
def test_no_row_rises(beta, own_grams, factor):
    X, W, Ht = data(beta)
    W[1] *= 1e-6  # far from where it will be
    W[2, 0] = 0
    Ht[0] *= 1e5
    terms = [BetaDivergence(beta), L1(0.2), L2(0.3)]
    x, other = (X, Ht) if factor == CODES else (X.T, W)

    def values(F):
        y = np.maximum(F @ other.T, 1e-30)
        fit = divergence(x, y, beta).sum(axis=1)
        return fit + (0.2 * F.sum(axis=1) + 0.3 * (F**2).sum(axis=1) if factor == CODES else 0)

    for _ in range(6):
        made = steps(X, W, Ht, terms, factor, own_grams=own_grams)
        before = values(made.F)
        made.make(Chain(), with_values=True)
        after = values(made.F)
        assert (made.F >= 0).all()
        assert (after <= before + 1e-11 * np.abs(before).max()).all()
        fit = divergence(x, np.maximum(made.F @ other.T, 1e-30), beta).sum()
        assert made._form.value(made.values) == pytest.approx(fit, rel=1e-6, abs=1e-9 * abs(made._form.constant))
        W, Ht = (made.F, Ht) if factor == CODES else (W, made.F)


def test_entries_that_were_next_to_zero_grow_at_once():
    """Where X and W H are zero, the curvature of β = 1.5 is infinite but tells nothing about a step."""
    X, W, Ht = data(1.5)
    X[:, 5:15], Ht[5:15] = 0, 1e-12
    Ht[5:15, 0], W[:, 0] = 1.0, 1e-12
    made = steps(X, W, Ht, [BetaDivergence(1.5)], own_grams=True)
    best = steps(X, W, Ht, [BetaDivergence(1.5)], own_grams=True)
    best.repeat(500, 1e-13)
    start, end = (divergence(X, F @ Ht.T, 1.5).sum() for F in (W, best.F))
    for _ in range(10):
        made.make(Chain(), with_values=False)
    assert divergence(X, made.F @ Ht.T, 1.5).sum() - end < 1e-3 * (start - end)


@pytest.mark.parametrize("beta", [0, 1.5, 3])
def test_linked_rows_fall_together(beta):
    X, W, Ht = data(beta, n=40)
    E = sp.csr_array(np.triu(np.random.RandomState(0).uniform(size=(40, 40)) < 0.2, 1) * 1.0)
    E = sp.csr_array(E + E.T)
    chain, terms = Chain(), [BetaDivergence(beta), NeighborGraph(5.0, graph=E)]
    for _ in range(5):
        made = steps(X, W, Ht, terms)
        before = fit_value(X, W, Ht.T, beta) + 5.0 * edge_value(E, W)
        made.make(chain, with_values=False)
        W = made.F
        assert fit_value(X, W, Ht.T, beta) + 5.0 * edge_value(E, W) < before


@pytest.mark.parametrize("l1", [0.0, 0.5])
@pytest.mark.parametrize("beta", [1, 1.2, 1.5, 1.8])
def test_convex_rows_reach_the_minimum_of_a_general_minimiser(beta, l1):
    X, W, Ht = data(beta, n=8)
    X[3] = X[4]
    made = steps(X, W, Ht, [BetaDivergence(beta), L1(l1)], own_grams=True)
    made.repeat(500, 1e-15)
    for x, f in zip(X, made.F, strict=True):

        def value(f, x=x):
            return divergence(x, f @ Ht.T, beta).sum() + l1 * f.sum()

        def slope(f, x=x):
            y = f @ Ht.T
            return (y ** (beta - 2) * (y - x)) @ Ht + l1

        best = minimize(value, np.full(4, 0.5), jac=slope, bounds=[(1e-9, None)] * 4, tol=1e-14)
        assert value(f) <= best.fun + 1e-7 * (1 + abs(best.fun))


@pytest.mark.parametrize("beta", [-1, 0, 0.5, 3])
def test_rows_that_are_not_convex_end_at_stationary_points(beta):
    X, W, Ht = data(beta)
    made = steps(X, W, Ht, [BetaDivergence(beta)], own_grams=True)
    made.repeat(2000, 1e-15)
    live = X.any(axis=1)
    y = made.F[live] @ Ht.T
    halves = y ** (beta - 1) @ Ht, (X[live] * y ** (beta - 2)) @ Ht
    relative = (halves[0] - halves[1]) / halves[0].max(axis=1, keepdims=True)
    assert relative.min() > -1e-5
    assert (np.abs(relative) * made.F[live] <= 1e-5 * made.F[live].max(axis=1, keepdims=True)).all()


RNG = np.random.RandomState(0)
X = (RNG.gamma(1.0, size=(60, 4)) @ RNG.gamma(0.5, size=(4, 25)) + 0.01) * RNG.gamma(5.0, 0.2, size=(60, 25))
HOLES = np.where(RNG.uniform(size=X.shape) < 0.3, np.nan, X)
HOLES[0, 0] = X[0, 0]
START = (RNG.uniform(0.1, 1, size=(60, 4)), RNG.uniform(0.1, 1, size=(4, 25)))
SHARED = {"n_components": 4, "init": START}
CASES = {
    "plain": (NMF(**SHARED), X),
    "float32": (NMF(**SHARED), X.astype(np.float32)),
    "tiny": (NMF(**SHARED), 1e-8 * X),
    "huge": (NMF(**SHARED), 1e8 * X),
    "tiny float32": (NMF(**SHARED), (1e-8 * X).astype(np.float32)),
    "huge float32": (NMF(**SHARED), (1e8 * X).astype(np.float32)),
    "penalties": (NMF(**SHARED, l1_codes=0.03, l2_codes=0.01, l1_components=0.01, l2_components=0.02), X),
    "under the gauge": (NMF(**SHARED, l1_codes=0.05, l2_codes=0.01), X),
    "holes": (NMF(**SHARED, missing="nan"), HOLES),
    "weights": (WeightedNMF(**SHARED, weights=RNG.uniform(size=X.shape)), X),
    "labels": (ConstrainedNMF(**SHARED), X),
}
LABELS = np.where(np.arange(60) % 4 == 0, np.arange(60) % 3, -1)


@pytest.mark.parametrize("loss", [0, 0.5, 1.5, 3])
def test_new_samples_are_coded_one_by_one(loss):
    model = NMF(**SHARED, loss=loss, max_iter=20, tol=0).fit(X)
    alone = np.vstack([model.transform(X[i : i + 1]) for i in range(5)])
    np.testing.assert_allclose(model.transform(X[:5]), alone, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("loss", [0, 1.5])
def test_beside_a_term_with_its_own_gram_matrix(loss):
    how = {"terms": [BetaDivergence(loss), Frobenius()], "init": START, "scale": None, "tol": 0}
    both = Factorization(4, max_iter=60, **how).fit(X, sample_weight=np.arange(60) % 3 + 0.5)
    rules = Factorization(4, max_iter=60, solver="multiplicative", **how).fit(X, sample_weight=np.arange(60) % 3 + 0.5)
    assert both.solver_ == "newton"
    assert both.objective_ <= 1.01 * rules.objective_


@pytest.mark.parametrize("loss", [0, 0.5, 1.5, 3])
def test_the_rules_find_nothing_to_gain_at_the_end(loss):
    """Both solvers have the same stationary points."""
    model = NMF(4, loss=loss, init=START, max_iter=600, tol=0, scale=None).fit(X)
    start = (model.embedding_, model.components_)
    after = NMF(4, loss=loss, init=start, max_iter=50, tol=0, scale=None, solver="multiplicative").fit(X)
    assert after.history_["objective"][-1] >= model.objective_ * (1 - 1e-4)


@pytest.mark.parametrize("loss", [0, 0.5, 1.5, 3])
def test_fixed_components_stay(loss):
    H = START[1][:2]
    model = NMF(**SHARED, loss=loss, fixed_components=H, max_iter=20, tol=0, scale=None).fit(X)
    assert model.solver_ == "newton"
    np.testing.assert_array_equal(model.components_[:2], H)


@pytest.mark.filterwarnings("ignore:The fit has not converged")
@pytest.mark.parametrize("loss", [0, 0.5, 1, 1.5, 3])
@pytest.mark.parametrize("case", CASES)
def test_fits_end_at_least_as_low_as_the_rules(case, loss):
    estimator, values = CASES[case]
    newton = estimator.set_params(loss=loss, solver="auto", max_iter=60, tol=0).fit(values, LABELS)
    assert newton.solver_ == "newton"
    objective = np.array(newton.history_["objective"])
    assert np.isfinite(objective).all()
    assert (np.diff(objective) <= (2e-6 if values.dtype == np.float32 else 1e-12) * objective[0]).all()
    rules = estimator.set_params(solver="multiplicative", max_iter=60).fit(values, LABELS)
    assert newton.objective_ <= 1.01 * rules.objective_


def test_zeros_are_refused_where_the_divergence_would_be_infinite():
    zeros = X.copy()
    zeros[4, 5] = 0
    for loss in (0, -1):
        with pytest.raises(ValueError, match="is infinite where X is zero"):
            NMF(4, loss=loss).fit(zeros)


@pytest.mark.filterwarnings("ignore:.*components are not used:UserWarning")
@pytest.mark.parametrize("loss", [0.5, 1.5, 3])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_rows_and_columns_of_zeros_have_no_codes(make, loss):
    zeros = X.copy()
    zeros[4], zeros[:, 5] = 0, 0
    model = NMF(**SHARED, loss=loss, max_iter=40, tol=0).fit(make(zeros))
    assert np.isfinite(model.history_["objective"]).all()
    product = model.embedding_ @ model.components_
    assert np.isfinite(product).all()
    assert max(product[4].max(), product[:, 5].max()) < 1e-2 * product.max()

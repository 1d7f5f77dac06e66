"""Accelerated projected gradient and column steps against explicit minimisation."""

import numpy as np
import pytest
from scipy.optimize import minimize, nnls

from partwise.core.dual import DualState, FeatureKernel
from partwise.core.forms import Coupling
from partwise.core.objective import Objective
from partwise.core.rows import Links
from partwise.core.storage import as_operand
from partwise.solvers.point import Point
from partwise.solvers.projected import Projected, _best_norm, _best_stretch, descend
from partwise.terms import DualFit, LocalSimilarity, Orthogonality, RobustDualFit, Smoothness

RNG = np.random.RandomState(0)
X = RNG.gamma(1.0, size=(20, 6))


def test_descend_solves_non_negative_least_squares():
    """min ‖X − W Pᵀ X‖² over P by one large explicit problem."""
    W = RNG.uniform(size=(20, 3)) * (RNG.uniform(size=(20, 3)) < 0.5)
    kernel = FeatureKernel(as_operand(X))
    P = descend(np.ones((20, 3)), X @ (X.T @ W), [Coupling(W.T @ W, kernel)], 20000, 0.0)
    design = np.kron(W, X.T)  # rows (sample, feature), columns (component, training sample)
    expected, norm = nnls(design, X.ravel(), maxiter=10000)
    np.testing.assert_allclose(np.linalg.norm(X - W @ P.T @ X), norm, rtol=1e-6)
    assert len(expected) == 60


@pytest.mark.parametrize("curvature", [-3.0, -0.5, 0.0, 2.0])
@pytest.mark.parametrize("slope", [-2.0, -0.1, 0.0, 0.1, 5.0])
@pytest.mark.parametrize("beta", [0.0, 0.01, 1.0, 100.0])
def test_best_norm(curvature, slope, beta):
    def value(t):
        return curvature / 2 * t**2 + beta / 4 * t**4 - slope * t

    t = _best_norm(curvature, slope, beta)
    if beta == 0 and curvature <= 0:
        assert t == (None if slope >= 0 else 0.0)
        return
    assert value(t) <= min(value(other) for other in np.linspace(0, 50, 100001)) + 1e-8


def test_best_stretch():
    G = X.T @ X
    c = _best_stretch(G)

    def value(c):
        return ((np.diag(c) @ G @ np.diag(c) - np.eye(6)) ** 2).sum()

    assert (c > 0).all()
    assert value(c) < value(np.ones(6))
    found = minimize(value, c, bounds=[(1e-6, None)] * 6)
    assert value(c) <= found.fun * (1 + 1e-3)


def objectives():
    operand = as_operand(X)
    S = Links.laplacian(np.eye(20)[np.roll(np.arange(20), 1)] + np.eye(20)[np.roll(np.arange(20), -1)], 1.0, X.dtype)
    graph = Smoothness(S.off + np.diag(S.diagonal()), 2.0)
    for terms in (
        [DualFit(), Orthogonality(1.0)],
        [RobustDualFit(1.0), LocalSimilarity(0.1), Orthogonality(50.0)],
        [RobustDualFit(0.001), LocalSimilarity(10.0)],
        [DualFit(0.5), graph],
        [DualFit(0.5), graph, Orthogonality(5.0)],
    ):
        yield Objective([term.bind(operand) for term in terms])


@pytest.mark.parametrize("objective", list(objectives()), ids=lambda objective: ", ".join(objective.names))
def test_never_rises_and_ends_stationary(objective):
    kernel = FeatureKernel(as_operand(X))
    state = DualState(kernel, RNG.uniform(size=(20, 3)), RNG.uniform(size=(20, 3)) / 20)
    solver = Projected(objective)
    point = Point.at(objective, solver.prepare(state))
    first = point.total
    for _ in range(400):
        new = solver.sweep(point)
        assert new.total <= point.total
        point = new
        if solver.stalled:
            break
    assert point.total < first
    assert objective.optimality(point.state) < 1e-3


def test_a_sweep_does_not_depend_on_the_order_of_the_samples():
    order = RNG.permutation(20)
    W, P = RNG.uniform(size=(20, 3)), RNG.uniform(size=(20, 3)) / 20
    ends = []
    for rows in (np.arange(20), order):
        operand = as_operand(X[rows])
        terms = [RobustDualFit(1.0), LocalSimilarity(0.1), Orthogonality(5.0)]
        objective = Objective([term.bind(operand) for term in terms])
        point = Point.at(objective, DualState(FeatureKernel(operand), W[rows], P[rows]))
        solver = Projected(objective)
        for _ in range(5):
            point = solver.sweep(point)
        ends.append(point.state)
    np.testing.assert_allclose(ends[0].W[order], ends[1].W, atol=1e-10)
    np.testing.assert_allclose(ends[0]["components"][order], ends[1]["components"], atol=1e-10)

"""Aggregates of rows moved as a whole: the same minimum, never a rise, far fewer sweeps."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.datasets import load_digits
from sklearn.preprocessing import normalize

from partwise import GraphNMF
from partwise.core.rows import Links
from partwise.graphs import neighbor_graph
from partwise.kernels.links import aggregate_rows
from partwise.solvers import systems
from partwise.solvers.multilevel import Level, RowQuadratic

# Random data under any strength: components may repeat.
pytestmark = pytest.mark.filterwarnings("ignore::partwise.exceptions.DuplicateComponentsWarning")


def problem(n=90, k=2, strength=50.0, seed=0, signed=False):
    """A row quadratic on a chain of neighbourhoods, its level, and its value as a function of F."""
    rng = np.random.RandomState(seed)
    if signed:
        B = sp.random_array((n, n), density=3 / n, random_state=0, data_sampler=rng.standard_normal) - sp.eye_array(n)
        S = Links.of_matrix(B.T @ B, strength, np.dtype(float))
    else:
        S = Links.laplacian(neighbor_graph(rng.uniform(size=(n, 3)), 4), strength, np.dtype(float))
    H = rng.uniform(size=(k, 4))
    A, scale, weight = rng.uniform(-0.5, 1, size=(n, k)), rng.uniform(0.5, 2, size=k), rng.uniform(0.5, 2, size=n)
    q = RowQuadratic(A, H @ H.T, weight, np.multiply.outer(S.diagonal(), scale), scale)
    dense = np.diag(S.diagonal()) + S.off.toarray()

    def value(F):
        return (weight[:, None] * F * (F @ q.B)).sum() + (scale * F * (dense @ F)).sum() - 2 * (F * A).sum()

    def gradient(F):
        return 2 * (weight[:, None] * (F @ q.B) + scale * (dense @ F) - A)

    return Level.of([S], np.dtype(float)), q, value, gradient, rng.uniform(size=(n, k))


@pytest.mark.parametrize("strength", [0.1, 10.0, 1e4])
@pytest.mark.parametrize("signed", [False, True])
def test_cycles_fall_to_the_minimum(strength, signed):
    level, q, value, gradient, F = problem(strength=strength, signed=signed)
    assert level.has_coarser
    values = [value(F)]
    for _ in range(200):
        level.cycle(F, q)
        values.append(value(F))
    assert (F >= 0).all()
    assert np.diff(values).max() <= 1e-12 * np.abs(values).max()
    found = minimize(
        lambda f: value(f.reshape(F.shape)),
        F.ravel(),
        jac=lambda f: gradient(f.reshape(F.shape)).ravel(),
        bounds=[(0, None)] * F.size,
        method="L-BFGS-B",
        options={"maxiter": 5000, "ftol": 1e-15, "gtol": 1e-10},
    )
    assert values[-1] <= found.fun + 1e-6 * abs(found.fun)


def test_every_row_belongs_to_one_aggregate_of_linked_rows():
    level, *_ = problem(strength=1.0)
    off = level.off
    groups = aggregate_rows(off.indptr, off.indices, off.data)
    assert set(groups) == set(range(groups.max() + 1))
    assert groups.max() + 1 < 0.6 * len(groups)
    for group in range(groups.max() + 1):
        members = np.flatnonzero(groups == group)
        inside = off[members][:, members]
        assert len(members) == 1 or (np.diff(inside.indptr) > 0).all()


@pytest.mark.parametrize("strength", [100.0, 10_000.0])
def test_strong_graphs_need_far_fewer_sweeps(strength, monkeypatch):
    X = normalize(load_digits().data[:500])
    model = GraphNMF(10, graph_strength=strength, init="random", random_state=0, tol=0)
    on_levels = model.set_params(max_iter=20).fit(X).objective_
    monkeypatch.setattr(systems, "STIFF", np.inf)
    row_by_row = model.set_params(max_iter=100).fit(X).objective_
    assert on_levels <= row_by_row * (1 + 1e-3)

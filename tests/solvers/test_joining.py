"""A start from groups of neighbours: their problem is the restriction of the whole one, and fits end as low."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from partwise import GraphNMF
from partwise.core import Objective
from partwise.solvers import joining

X = load_digits().data[:600]


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch):
    monkeypatch.setattr(joining, "MANY_SAMPLES", 100)
    monkeypatch.setattr(joining, "DIRECTIONS", 15)


def posed(data=X, y=None, sample_weight=None, **parameters):
    method = GraphNMF(4, graph_strength=2.0, random_state=0, **parameters)
    return method.problem(data, y, sample_weight)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_problem_of_groups_is_the_whole_one_for_codes_that_are_equal_in_each(weighted):
    rng = np.random.default_rng(0)
    problem = posed(sample_weight=rng.integers(1, 4, len(X)) if weighted else None)
    small, groups = joining.joined(problem)
    assert 3 * small.X.shape[0] < len(X)
    gaps = []
    for _ in range(3):
        W, Ht = rng.random((small.X.shape[0], 4)), rng.random((X.shape[1], 4))
        of_groups = Objective(small.bound).values(small.state(W, Ht))
        of_all = Objective(problem.bound).values(problem.state(W[groups], Ht))
        assert of_groups["graph"] == pytest.approx(of_all["graph"])
        gaps.append(of_all["fit"] - of_groups["fit"])
    np.testing.assert_allclose(gaps, gaps[0], rtol=1e-6)


def test_fits_end_as_low_and_begin_lower():
    plain, joined = (GraphNMF(4, graph_strength=2.0, init=init, random_state=0).fit(X) for init in ("nndsvda", "auto"))
    assert joined.objective_ < 1.001 * plain.objective_
    assert joined.history_["objective"][0] < 0.8 * plain.history_["objective"][0]


def test_projections_leave_few_sweeps(monkeypatch):
    projected = GraphNMF(4, graph_strength=2.0, random_state=0).fit(X)
    monkeypatch.setattr(joining, "DIRECTIONS", 50)  # too many for 64 features
    joined = GraphNMF(4, graph_strength=2.0, random_state=0).fit(X)
    assert projected.objective_ < 1.001 * joined.objective_
    assert projected.history_["objective"][0] < 1.01 * projected.objective_ < joined.history_["objective"][0]
    assert projected.n_iter_ < joined.n_iter_


def test_many_groups_are_joined_again(monkeypatch):
    monkeypatch.setattr(joining, "MANY_SAMPLES", 50)
    small, _ = joining.joined(posed())
    assert joining.joined(small) is not None


def test_what_has_no_such_problem():
    y = np.where(np.arange(len(X)) < 20, 1, -1)
    signed = posed(y=y, use_labels=True)
    for problem in (posed(X[:90]), signed, posed(component_mask=np.ones((4, 64), bool)), posed(loss="huber")):
        assert joining.joined(problem) is None

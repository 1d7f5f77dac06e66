"""A problem as a value: solving it is fitting, varying it is posing another, and what stays is bound once."""

import gc
import weakref
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from partwise import NMF, ConvexNMF, Factorization, GraphNMF, LocalCoordinateNMF
from partwise.core.storage import as_operand
from partwise.core.term import Term
from partwise.solvers import Problem, solve
from partwise.solvers.loop import Options
from partwise.terms import Frobenius, NeighborGraph

RNG = np.random.RandomState(0)
X = RNG.gamma(1.0, size=(30, 4)) @ RNG.gamma(0.5, size=(4, 12)) + 0.1
EIGHT = Options(8, 0.0)
SETTINGS = {"max_iter": 8, "tol": 0, "random_state": 0}


@dataclass(frozen=True)
class Counted(Term):
    """A graph that counts how often it meets the data, in a list that copies share."""

    strength: float
    n_neighbors: int
    met: list

    strength_name = "graph_strength"

    def bind(self, X, y=None, rng=None, sample_weight=None):
        self.met.append(self)
        return NeighborGraph(self.strength, self.n_neighbors).bind(X, y, rng, sample_weight)


def posed(met, strength=2.0):
    return Factorization(3, terms=[Frobenius(), Counted(strength, 5, met)], **SETTINGS).problem(X)


@pytest.mark.parametrize(
    "model",
    [
        NMF(3, l1_codes=0.2, **SETTINGS),
        NMF(3, loss="kullback-leibler", **SETTINGS),
        GraphNMF(3, graph_strength=2.0, **SETTINGS),
        ConvexNMF(3, **SETTINGS),
    ],
    ids=repr,
)
def test_solving_is_fitting(model):
    problem = model.problem(X)
    assert isinstance(problem, Problem)
    assert not hasattr(model, "embedding_")
    minimum = solve(problem, EIGHT)
    model.fit(X)
    np.testing.assert_array_equal(minimum.state.W, model.embedding_)
    assert minimum.result.objective == model.objective_
    assert minimum.unit == model.scale_


@pytest.mark.parametrize(
    ("model", "values"),
    [
        (GraphNMF(3, graph_strength=2.0, **SETTINGS), {"graph_strength": 20.0}),
        (GraphNMF(3, graph_strength=2.0, **SETTINGS), {"n_neighbors": 3}),
        (GraphNMF(3, graph_strength=2.0, **SETTINGS), {"n_components": 4}),
        (GraphNMF(3, graph_strength=2.0, **SETTINGS), {"n_components": 2, "n_neighbors": 3, "graph_strength": 0.5}),
        (GraphNMF(3, graph_strength=2.0, **SETTINGS), {"graph_strength": 0.0}),
        (LocalCoordinateNMF(3, coordinate_strength=0.1, init="random", **SETTINGS), {"coordinate_strength": 1.0}),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, dict) else type(given).__name__,
)
def test_varying_is_posing_another(model, values):
    varied = solve(model.problem(X).with_values(values), EIGHT)
    model.set_params(**values).fit(X)
    np.testing.assert_allclose(varied.state.W, model.embedding_, rtol=1e-9, atol=1e-12)
    assert varied.result.objective == pytest.approx(model.objective_)


def test_the_problem_that_is_varied_stays_what_it_was():
    problem = GraphNMF(3, graph_strength=2.0, **SETTINGS).problem(X)
    other = problem.with_values({"graph_strength": 9.0, "n_components": 5, "n_neighbors": 2})
    assert (other.n_components, problem.n_components) == (5, 3)
    graphs = [next(term for term in one.terms if isinstance(term, NeighborGraph)) for one in (problem, other)]
    assert [(term.strength, term.n_neighbors) for term in graphs] == [(2.0, 5), (9.0, 2)]


def test_what_no_change_touches_is_bound_once():
    met = []
    problem = posed(met)
    for other in (problem, problem.with_components(4), problem.begun((np.ones((30, 3)), np.ones((12, 3))))):
        assert len(other.bound) == 2
    assert len(met) == 1
    # Another number of neighbours is another graph, other data too.
    assert problem.with_neighbors(3).bound
    assert len(met) == 2
    assert problem.on(as_operand(X[:20]), None).bound[1] is not problem.bound[1]
    assert len(met) == 3


def test_another_strength_shares_the_graph():
    met = []
    weak = posed(met)
    strong = weak.with_strength("graph_strength", 6.0)
    state = weak.state(np.random.RandomState(1).uniform(size=(30, 3)), np.ones((12, 3)))
    values = [problem.bound[1].value(state) for problem in (weak, strong)]
    assert values[1] == pytest.approx(3 * values[0])
    assert len(met) == 1


def test_terms_without_strength_are_left_out():
    met = []
    assert len(posed(met, strength=0.0).bound) == 1
    assert met == []


def test_what_the_terms_say_of_the_problem():
    plain, graph = (GraphNMF(3, graph_strength=strength).problem(X) for strength in (0.0, 1.0))
    assert (plain.couples_samples, graph.couples_samples) == (False, True)
    assert not graph.anchored
    assert LocalCoordinateNMF(3, coordinate_strength=0.1).problem(X).anchored
    assert len(graph.fits) == 1


def test_given_factors_are_where_it_begins():
    W, H = np.random.RandomState(1).uniform(size=(30, 3)), np.random.RandomState(2).uniform(size=(3, 12))
    problem = NMF(3, scale=None, **SETTINGS).problem(X).begun((W, np.ascontiguousarray(H.T)))
    found = solve(problem, EIGHT)
    assert found.result.history["objective"][0] == pytest.approx(((X - W @ H) ** 2).sum())
    fitted = NMF(3, init=(W, H), scale=None, **SETTINGS).fit(X)
    np.testing.assert_array_equal(found.state.W, fitted.embedding_)


def test_other_data():
    problem = NMF(3, **SETTINGS).problem(X).on(as_operand(X[:20]), None, np.random.RandomState(0))
    np.testing.assert_array_equal(solve(problem, EIGHT).state.W, NMF(3, **SETTINGS).fit(X[:20]).embedding_)


@pytest.mark.parametrize("kind", ["dense", "sparse", "missing"])
@pytest.mark.parametrize(
    "model",
    [
        *[NMF(3, loss=loss) for loss in ("frobenius", "kullback-leibler", "itakura-saito", 1.5, 3, "huber", "l1")],
        NMF(3, loss="kullback-leibler", l2_codes=0.1),
        NMF(3, loss="negative-binomial", dispersion=0.5),
        *[GraphNMF(3, loss=loss, graph_strength=1.0) for loss in ("frobenius", "kullback-leibler")],
        LocalCoordinateNMF(3, coordinate_strength=1.0),
    ],
    ids=repr,
)
def test_the_data_are_gone_with_the_problem(model, kind):
    """Without the garbage collector: fits to other data may follow each other faster than it comes by."""
    params = model.get_params()
    if (kind == "sparse" and params.get("loss") == "itakura-saito") or (kind == "missing" and "missing" not in params):
        pytest.skip("no such data")
    if kind == "missing":
        holes = np.where(RNG.uniform(size=X.shape) < 0.1, np.nan, X)
        problem = clone(model).set_params(missing="nan").problem(holes)
    else:
        problem = model.problem(sp.csr_array(np.where(X > 1, X, 0)) if kind == "sparse" else X)
    operand = weakref.ref(problem.X)
    collecting = gc.isenabled()
    gc.disable()
    try:
        solve(problem, Options(3, 0.0, inner=True))
        del problem
        assert operand() is None
    finally:
        if collecting:
            gc.enable()


def test_a_strength_that_no_term_has():
    with pytest.raises(ValueError, match="No term of the problem has a strength"):
        NMF(3).problem(X).with_strength("graph_strength", 1.0)

"""A budget covers everything that a fit does, not the last of its sweeps alone."""

import numpy as np
import pytest

from partwise import NMF, CauchyNMF, GraphNMF
from partwise.callbacks import Callback, TimeBudget
from partwise.solvers.loop import Run

pytestmark = pytest.mark.filterwarnings("ignore:.* components are distinct")
RNG = np.random.RandomState(0)
X = RNG.gamma(0.5, size=(90, 3)) @ RNG.gamma(0.5, size=(3, 12)) + RNG.uniform(0, 0.1, size=(90, 12))
SPENT = TimeBudget(1e-9)


@pytest.fixture
def runs(monkeypatch):
    """All runs of all fits, in their order."""
    made, begin = [], Run.__init__

    def counted(run, *arguments):
        made.append(run)
        begin(run, *arguments)

    monkeypatch.setattr(Run, "__init__", counted)
    return made


@pytest.mark.parametrize(
    ("model", "n_fits"),
    [
        (NMF(3, init="sampled"), 2),
        (NMF(3, init="sampled", n_init=4), 2),
        (NMF(3, init="random", n_init=4), 1),
        (CauchyNMF(3), 2),
        (CauchyNMF(3, n_init=4), 2),
    ],
    ids=["sampled", "several sampled", "several", "Cauchy", "several Cauchy"],
)
def test_a_spent_budget_leaves_one_sweep_of_every_fit(runs, model, n_fits):
    model.set_params(callbacks=SPENT, random_state=0).fit(X)
    assert [run.n_sweeps for run in runs] == [1] * n_fits
    assert model.stop_reason_ == "callback"
    assert model.n_iter_ == 1
    assert model.transform(X[:2]).shape == (2, 3)


class Fits(Callback):
    """A budget of fits in place of seconds: the last of them gets one sweep."""

    def __init__(self, runs, most):
        self.runs, self.most = runs, most

    def is_spent(self):
        return len(self.runs) >= self.most

    def on_sweep(self, progress):
        return self.is_spent()


STRENGTHS = [0.0, 0.1, 1.0, 10.0]


def test_a_budget_that_is_spent_before_the_default_keeps_the_default(runs):
    model = GraphNMF(3, graph_strength="auto", callbacks=SPENT, random_state=0).fit(X)
    assert len(runs) == 4
    assert all(run.n_sweeps == 1 for run in runs)
    assert model.selection_.choice == {"graph_strength": 10.0}
    assert "the budget was spent" in model.selection_.not_chosen["graph_strength"]
    assert "the budget was spent" in str(model.selection_)
    assert model.selection_.paths == ()
    assert model.stop_reason_ == "callback"


def test_the_best_so_far_is_taken_when_a_budget_is_spent(runs):
    model = GraphNMF(3, graph_strength=STRENGTHS, callbacks=Fits(runs, 9), random_state=0).fit(X)
    (path,) = model.selection_.paths
    assert path.cut_short
    # Three starts for each value; the default of a list is its middle, which has been reached.
    assert path.values.tolist() == STRENGTHS[:3]
    assert path.chosen in path.values
    assert len(runs) == 10
    assert [run.n_sweeps for run in runs[8:]] == [1, 1]
    assert "budget" in str(model.selection_)
    whole = GraphNMF(3, graph_strength=STRENGTHS, random_state=0).fit(X)
    assert not whole.selection_.paths[0].cut_short


def test_what_comes_after_a_spent_budget_keeps_its_default(runs):
    model = GraphNMF([2, 3], graph_strength="auto", n_neighbors="auto", callbacks=Fits(runs, 2), random_state=0).fit(X)
    assert model.selection_.choice["n_neighbors"] == 5
    assert model.selection_.choice["graph_strength"] == 10.0
    assert set(model.selection_.not_chosen) == {"n_neighbors", "graph_strength"}
    assert model.components_.shape[0] == model.selection_.choice["n_components"]
    numbers = NMF("auto", callbacks=SPENT, random_state=0).fit(X)
    assert numbers.selection_.choice == {"n_components": 8}
    assert NMF("auto", callbacks=SPENT, random_state=0).fit(X[:20]).selection_.choice == {"n_components": 4}


def test_progress_of_a_choice_is_printed(capsys):
    GraphNMF(3, graph_strength=[0.0, 10.0], verbose=1, max_iter=5, tol=0, random_state=0).fit(X)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("graph_strength 0 ")
    assert all(name in lines[0] for name in ("connectedness", "modularity", "information", "silhouette"))
    assert lines[1].startswith("graph_strength 10 ")
    assert lines[2].startswith("chosen: graph_strength=")
    NMF([2, 3], verbose=1, max_iter=5, tol=0, random_state=0).fit(X)
    assert [line.split("  ")[0] for line in capsys.readouterr().out.splitlines()[:2]] == [
        "n_components 2",
        "n_components 3",
    ]
    GraphNMF(3, graph_strength=[0.0, 10.0], max_iter=5, tol=0, random_state=0).fit(X)
    assert capsys.readouterr().out == ""


def test_the_clock_starts_before_the_start_is_made(monkeypatch):
    times = iter([0.0, 0.5, 1.0, 9.0])
    monkeypatch.setattr("partwise.callbacks.watching.time.perf_counter", lambda: next(times))
    budget = TimeBudget(0.75)
    budget.setup(None)
    assert [budget.is_spent() for _ in range(3)] == [False, True, True]


def test_fits_inside_tell_other_callbacks_nothing(runs):
    class Listener(Callback):
        heard = 0

        def on_sweep(self, progress):
            self.heard += 1

    listener = Listener()
    model = NMF(3, init="sampled", max_iter=5, tol=0, random_state=0, callbacks=listener).fit(X)
    assert listener.heard == model.n_iter_ == 5
    assert len(runs) == 2

"""A budget covers everything that a fit does, not the last of its sweeps alone."""

import numpy as np
import pytest

from partwise import NMF, CauchyNMF
from partwise.callbacks import Callback, TimeBudget
from partwise.solvers.loop import Run

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

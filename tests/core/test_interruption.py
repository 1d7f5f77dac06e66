"""Ctrl-C: a fit that is alone keeps what it has; work that is made of several fits ends."""

import signal

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from partwise import NMF, CauchyNMF, GraphNMF, LocalLearningNMF
from partwise.experiments.comparison import Method, run_method, warm_up
from partwise.experiments.runs import execute
from partwise.selection import consensus, cross_validate_entries, get_scorer, rank_evidence
from partwise.solvers.loop import Run

RNG = np.random.RandomState(0)
X = RNG.gamma(0.5, size=(60, 3)) @ RNG.gamma(0.5, size=(3, 12)) + RNG.uniform(0, 0.1, size=(60, 12))
Y = np.arange(60) % 3


@pytest.fixture
def ctrl_c(monkeypatch):
    """Send this process a real SIGINT during a sweep, counted over all fits; the fixture says how many were made."""
    made = []
    record = Run._record

    def press_at(sweep):
        def counted(run):
            record(run)
            made.append(run)
            if len(made) == sweep:
                signal.raise_signal(signal.SIGINT)

        monkeypatch.setattr(Run, "_record", counted)
        return made

    return press_at


WORK = {
    "consensus": lambda: consensus(NMF(3, max_iter=20, tol=0), X, n_runs=4, random_state=0),
    "cross_validate_entries": lambda: cross_validate_entries(NMF(max_iter=20, tol=0), X, [2, 3], random_state=0),
    "rank_evidence": lambda: rank_evidence(NMF(max_iter=20, tol=0), X, [2, 3], n_splits=0, random_state=0),
    "prediction strength": lambda: get_scorer("prediction strength")(INTERRUPTED_LATER, X),
    "auto strength": lambda: GraphNMF(3, graph_strength="auto", random_state=0).fit(X),
    "auto components": lambda: NMF("auto", random_state=0).fit(X),
    "auto local learning": lambda: LocalLearningNMF(3, local_strength="auto", random_state=0).fit(X),
    "sampled start": lambda: NMF(3, init="sampled", random_state=0, max_iter=20, tol=0).fit(X),
    "sampled starts": lambda: NMF(3, init="sampled", n_init=3, random_state=0, max_iter=20, tol=0).fit(X),
    "the approach of CauchyNMF": lambda: CauchyNMF(3, random_state=0, max_iter=20, tol=0).fit(X),
    "compare": lambda: run_method(Method("NMF", NMF(3, max_iter=20, tol=0)), X, Y, Y, lambda progress: None),
    "the warm-up of compare": lambda: warm_up([Method("NMF", NMF(3)), Method("GraphNMF", GraphNMF(3))]),
}
INTERRUPTED_LATER = NMF(3, max_iter=20, tol=0, random_state=0).fit(X)


@pytest.mark.filterwarnings("ignore:The fit was interrupted")
@pytest.mark.parametrize("work", WORK)
def test_an_interrupt_inside_ends_the_whole(ctrl_c, work):
    # The third entry of a history is the second sweep: a fit that is alone would be kept.
    made = ctrl_c(3)
    with pytest.raises(KeyboardInterrupt):
        WORK[work]()
    assert len(made) == 3


@pytest.mark.parametrize("model", [GraphNMF(3), LocalLearningNMF(3), NMF("auto"), GraphNMF("auto")], ids=repr)
@pytest.mark.parametrize("share", [0.6, 0.8, 0.95])
def test_an_interrupted_choice_takes_the_best_so_far(ctrl_c, model, share):
    model.set_params(random_state=0)
    made = ctrl_c(0)
    whole = clone(model).fit(X)
    ctrl_c(len(made) + int(share * (len(made) - whole.n_iter_)))
    with pytest.warns(UserWarning, match="The fit was interrupted after 1 sweeps"):
        model.fit(X)
    assert model.stop_reason_ == "interrupted"
    assert model.transform(X).shape == (60, model.n_components_)
    assert model.selection_.choice.keys() == whole.selection_.choice.keys()


@pytest.mark.filterwarnings("ignore:The fit was interrupted")
def test_a_run_of_an_experiment_that_is_interrupted_has_no_scores(ctrl_c, monkeypatch):
    model = NMF(3, max_iter=20, tol=0, random_state=0)
    sample = type("Sample", (), {"X": X, "y": Y})
    monkeypatch.setattr("partwise.experiments.runs.prepare", lambda data, steps: None)
    monkeypatch.setattr("partwise.experiments.runs.draw_classes", lambda *arguments: sample)
    monkeypatch.setattr("partwise.experiments.runs.build", lambda *arguments: model)
    method = type("Method", (), {"prepare": (), "labelled": 0})
    run = type("Run", (), {"seeds": (0, 0, 0), "data": method, "method": method, "n_clusters": 3})
    made = ctrl_c(3)
    with pytest.raises(KeyboardInterrupt):
        execute(run)
    assert len(made) == 3


def test_an_estimator_without_a_sweep_of_its_own_is_not_fitted(ctrl_c):
    ctrl_c(3)
    model = CauchyNMF(3, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    with pytest.raises(NotFittedError):
        model.transform(X)


def test_an_interrupt_in_a_later_start_keeps_the_best(ctrl_c):
    """The first start makes 41 entries in its sample and 2 of its own; the second is interrupted in its sample."""
    made = ctrl_c(50)
    model = NMF(3, init="sampled", n_init=3, random_state=0, max_iter=20, tol=0)
    with pytest.warns(UserWarning, match="interrupted after 1 sweeps"):
        model.fit(X)
    assert len(made) == 50
    assert model.stop_reason_ == "interrupted"
    assert model.transform(X).shape == (60, 3)


def test_an_interrupt_while_starts_are_tried_side_by_side_keeps_the_best(ctrl_c):
    """Three starts are recorded in turn: the first with its first sweep, then the others, then all of them."""
    made = ctrl_c(9)
    model = NMF(3, init="random", n_init=3, random_state=0, max_iter=60, tol=0)
    with pytest.warns(UserWarning, match="interrupted after"):
        model.fit(X)
    assert len(made) == 9
    assert len({id(run) for run in made}) == 3
    # Of those that made a sweep.
    assert model.objective_ == min(run.point.total for run in made if run.n_sweeps)


def test_a_fit_that_is_alone_keeps_what_it_has(ctrl_c):
    ctrl_c(3)
    with pytest.warns(UserWarning, match="interrupted after 2 sweeps"):
        model = NMF(3, max_iter=20, tol=0, random_state=0).fit(X)
    assert model.stop_reason_ == "interrupted"

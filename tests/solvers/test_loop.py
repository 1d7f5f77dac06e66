"""The loop: history, stopping, callbacks, interruption, restarts, warm starts."""

import warnings
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from partwise import NMF, ConstrainedNMF, Factorization, GraphNMF
from partwise.callbacks import Callback, TimeBudget

# Random data under any strength: components may repeat.
pytestmark = pytest.mark.filterwarnings("ignore::partwise.exceptions.DuplicateComponentsWarning")

RNG = np.random.RandomState(0)
X = RNG.gamma(1.0, size=(40, 5)) @ RNG.gamma(0.5, size=(5, 20)) + 0.2 * RNG.uniform(size=(40, 20))
K = 4
START = RNG.uniform(0.1, 1.0, size=(40, K)), RNG.uniform(0.1, 1.0, size=(K, 20))
SOLVERS = ["coordinate", "multiplicative"]
MODELS = [NMF, GraphNMF, ConstrainedNMF, Factorization]


class Recorder(Callback):
    """Writes down what it hears; does something at one sweep."""

    def __init__(self, at=None, action=lambda: None):
        self.heard, self.at, self.action = [], at, action

    def on_begin(self):
        self.heard.append("begin")

    def on_sweep(self, progress):
        self.heard.append(progress.sweep)
        return self.action() if progress.sweep == self.at else None

    def on_end(self):
        self.heard.append("end")


def interrupt():
    raise KeyboardInterrupt


def fail():
    raise RuntimeError("from the callback")


# --- history and stopping ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("model", MODELS)
def test_tol_zero_runs_exactly_max_iter_sweeps_without_a_warning(model, solver):
    fitted = model(K, solver=solver, tol=0, max_iter=7, random_state=0).fit(X, np.arange(40) % 3)
    assert fitted.n_iter_ == 7
    assert fitted.stop_reason_ == "max_iter"
    assert fitted.solver_ == solver
    assert {len(part) for part in fitted.history_.values()} == {8}


def test_tol_zero_goes_on_after_an_exact_fit():
    """Also where nothing is left to gain, and whatever the solver thinks of it."""
    rank_one = np.outer(np.arange(1.0, 9.0), np.arange(1.0, 6.0))
    assert NMF(1, tol=0, max_iter=60).fit(rank_one).n_iter_ == 60


@pytest.mark.parametrize("solver", SOLVERS)
def test_history(solver):
    model = GraphNMF(K, solver=solver, graph_strength=2.0, init=START, tol=0, max_iter=6).fit(X)
    history = model.history_
    assert set(history) == {"objective", "fit", "graph", "time"}
    np.testing.assert_allclose(history["objective"], np.add(history["fit"], history["graph"]))
    assert history["objective"][-1] == model.objective_
    assert history["fit"][0] == pytest.approx(((X - START[0] @ START[1]) ** 2).sum())
    assert all(np.diff(history["time"]) >= 0)
    assert history["time"][0] >= 0


@pytest.mark.parametrize("solver", SOLVERS)
def test_too_few_sweeps_warn(solver):
    with pytest.warns(ConvergenceWarning, match="after 3 sweeps. Raise max_iter or tol"):
        model = NMF(K, solver=solver, init=START, tol=1e-9, max_iter=3).fit(X)
    assert model.stop_reason_ == "max_iter"
    assert model.n_iter_ == 3


@pytest.mark.parametrize("solver", SOLVERS)
def test_convergence(solver):
    rough, fine = (NMF(K, solver=solver, init=START, tol=tol, max_iter=20_000).fit(X) for tol in (1e-2, 1e-6))
    assert rough.stop_reason_ == fine.stop_reason_ == "converged"
    assert rough.n_iter_ < fine.n_iter_ < 20_000
    assert fine.objective_ < rough.objective_
    # Converged means that a hundred times more work gains little.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        more = NMF(K, solver=solver, init=(fine.embedding_, fine.components_), tol=0, max_iter=500).fit(X)
    assert fine.objective_ < 1.01 * more.objective_


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_stopping_does_not_depend_on_the_scale_of_the_data(solver, factor):
    params = {"n_components": K, "solver": solver, "tol": 1e-4, "max_iter": 5000}
    plain = NMF(init=START, **params).fit(X)
    scaled = NMF(init=(START[0] * factor, START[1]), **params).fit(X * factor)
    assert scaled.n_iter_ == plain.n_iter_
    assert scaled.objective_ == pytest.approx(plain.objective_ * factor**2)


# --- callbacks --------------------------------------------------------------------------------------------------------


def test_a_function_that_returns_true_stops_the_fit():
    seen = []
    model = NMF(K, tol=0, max_iter=50, callbacks=lambda progress: seen.append(progress) or progress.sweep == 4).fit(X)
    assert model.stop_reason_ == "callback"
    assert model.n_iter_ == len(seen) == 4
    last = seen[-1]
    assert last.objective == model.objective_ == sum(last.terms.values())
    assert (last.max_iter, last.start) == (50, 0)
    np.testing.assert_allclose(last.codes @ last.components, model.embedding_ @ model.components_)


def test_every_callback_hears_every_sweep_the_beginning_and_the_end():
    first, second = Recorder(at=2, action=lambda: True), Recorder()
    NMF(K, tol=0, max_iter=9, callbacks=[first, second]).fit(X)
    assert first.heard == second.heard == ["begin", 1, 2, "end"]


@pytest.mark.parametrize("raised", [RuntimeError, KeyboardInterrupt])
def test_the_end_is_told_also_after_an_error(raised):
    other = Recorder()
    failing = Recorder(at=3, action=fail if raised is RuntimeError else interrupt)
    model = NMF(K, init=START, tol=0, max_iter=9, callbacks=[other, failing])
    if raised is RuntimeError:
        with pytest.raises(RuntimeError, match="from the callback"):
            model.fit(X)
    else:
        with pytest.warns(UserWarning, match="interrupted"):
            model.fit(X)
    assert other.heard[-1] == failing.heard[-1] == "end"


def test_time_budget():
    model = NMF(K, tol=0, max_iter=10**6, callbacks=TimeBudget(0.05)).fit(X)
    assert model.stop_reason_ == "callback"
    assert 0 < model.n_iter_ < 10**6
    again = model.fit(X)  # the clock restarts with every fit
    assert again.n_iter_ > 1


@pytest.mark.parametrize("callbacks", [3, "print", [None]])
def test_what_is_no_callback_is_refused(callbacks):
    with pytest.raises((TypeError, ValueError), match="callbacks"):
        NMF(K, callbacks=callbacks).fit(X)


def test_verbose(capsys):
    NMF(K, tol=0, max_iter=12, random_state=0).fit(X)
    assert capsys.readouterr().out == ""
    NMF(K, tol=0, max_iter=12, random_state=0, verbose=1).fit(X)
    few = capsys.readouterr().out.splitlines()
    NMF(K, tol=0, max_iter=12, random_state=0, verbose=2).fit(X)
    all_lines = capsys.readouterr().out.splitlines()
    assert (len(few), len(all_lines)) == (2, 12)
    assert "objective" in few[0]
    assert "10/12" in few[0]


# --- interruption -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
def test_an_interrupted_fit_is_a_usable_model(solver):
    model = GraphNMF(
        K, graph_strength=10.0, solver=solver, tol=0, max_iter=50, random_state=0, callbacks=Recorder(3, interrupt)
    )
    with pytest.warns(UserWarning, match="interrupted after 3 sweeps"):
        model.fit(X)
    assert model.stop_reason_ == "interrupted"
    assert model.n_iter_ == 3
    assert len(model.history_["objective"]) == 4
    assert model.objective_ == min(model.history_["objective"])
    assert model.labels_.shape == (40,)
    assert model.transform(X[:3]).shape == (3, K)
    assert model.predict(X[:3]).shape == (3,)
    unhindered = GraphNMF(K, graph_strength=10.0, solver=solver, tol=0, max_iter=3, random_state=0).fit(X)
    np.testing.assert_array_equal(model.embedding_, unhindered.embedding_)


class InterruptAtBegin(Callback):
    def on_begin(self):
        raise KeyboardInterrupt


def test_an_interrupt_before_the_first_sweep_leaves_no_model():
    model = NMF(K, callbacks=InterruptAtBegin())
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    with pytest.raises(NotFittedError):
        model.transform(X)


def test_an_interrupt_inside_the_first_sweep_leaves_no_model(monkeypatch):
    monkeypatch.setattr("partwise.solvers.coordinate.Coordinate.steps", lambda self, point: interrupt())
    model = NMF(K)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    with pytest.raises(NotFittedError):
        model.transform(X)


def test_an_interrupt_between_restarts_keeps_the_best():
    calls = []

    def stop_late(progress):
        calls.append(progress)
        if progress.start == 2:
            interrupt()

    model = NMF(K, init="random", n_init=5, tol=0, max_iter=30, random_state=0, callbacks=stop_late)
    with pytest.warns(UserWarning, match="interrupted"):
        model.fit(X)
    assert model.stop_reason_ == "interrupted"
    assert model.objective_ == min(progress.objective for progress in calls)


# --- starts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_best_of_short_runs_is_continued(solver):
    ends = {}

    def watch(progress):
        ends.setdefault(progress.start, {})[progress.sweep] = progress.objective

    params = {"n_components": K, "solver": solver, "init": "random", "tol": 0, "max_iter": 40, "random_state": 3}
    model = NMF(n_init=4, callbacks=watch, **params).fit(X)
    short = {start: sweeps[4] for start, sweeps in ends.items()}
    assert len(short) == 4
    winner = min(short, key=short.get)
    assert {start: max(sweeps) for start, sweeps in ends.items()} == {s: 40 if s == winner else 4 for s in short}
    assert model.n_iter_ == 40
    assert model.history_["objective"][1:] == [ends[winner][sweep] for sweep in range(1, 41)]


@pytest.mark.parametrize("init", ["random", "nndsvd", "nndsvda", "kmeans", "auto"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_one_seed_one_result(init, solver):
    params = {"solver": solver, "init": init, "n_init": 3, "tol": 0, "max_iter": 10}
    first, second, other = (GraphNMF(K, graph_strength=1.0, random_state=seed, **params).fit(X) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.embedding_, second.embedding_)
    np.testing.assert_array_equal(first.components_, second.components_)
    np.testing.assert_array_equal(first.labels_, second.labels_)
    assert first.history_["objective"] == second.history_["objective"]
    if init == "random":
        assert (first.components_ != other.components_).any()


@pytest.mark.parametrize("model", [NMF, partial(GraphNMF, graph_strength=1.0)], ids=["NMF", "GraphNMF"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_warm_start_goes_on_where_it_ended(model, solver):
    estimator = model(K, solver=solver, warm_start=True, tol=0, max_iter=5, random_state=0).fit(X)
    end = estimator.objective_
    estimator.fit(X)
    assert estimator.history_["objective"][0] == pytest.approx(end, rel=1e-5)
    assert estimator.objective_ < end
    cold = model(K, solver=solver, tol=0, max_iter=5, random_state=0).fit(X)
    assert cold.objective_ == end
    # Other shapes start afresh.
    assert estimator.fit(X[:30, :10]).components_.shape == (K, 10)


def test_a_warm_start_under_label_constraints():
    y = np.arange(40) % 5 - 1
    estimator = ConstrainedNMF(K, warm_start=True, tol=0, max_iter=20, random_state=0).fit(X, y)
    end = estimator.objective_
    assert estimator.fit(X, y).history_["objective"][0] == pytest.approx(end, rel=1e-9)


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("solver", ["auto", "multiplicative"])
def test_a_graph_without_strength_is_nmf_to_the_bit(loss, container, solver):
    params = {"n_components": K, "loss": loss, "solver": solver, "random_state": 0, "tol": 0, "max_iter": 15}
    plain, graph = NMF(**params), GraphNMF(graph_strength=0, use_labels=True, **params)
    plain.fit(container(X))
    graph.fit(container(X), np.arange(40) % 3)
    np.testing.assert_array_equal(plain.embedding_, graph.embedding_)
    np.testing.assert_array_equal(plain.components_, graph.components_)
    np.testing.assert_array_equal(plain.labels_, graph.labels_)
    np.testing.assert_array_equal(plain.transform(X), graph.transform(X))
    assert plain.history_["objective"] == graph.history_["objective"]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("model", MODELS)
def test_a_given_start_is_not_modified(model, solver):
    start = tuple(F.copy() for F in START)
    start[0][0] = 0
    before = tuple(F.copy() for F in start)
    for F in start:
        F.setflags(write=False)
    model(K, init=start, solver=solver, tol=0, max_iter=3).fit(X, np.arange(40) % 3)
    for F, kept in zip(start, before, strict=True):
        np.testing.assert_array_equal(F, kept)


W, H = START
BAD_STARTS = {
    "W too short": ((W[:-1], H), "W has shape"),
    "W too wide": ((W[:, :-1], H), "W has shape"),
    "H transposed": ((W, H.T), "H has shape"),
    "swapped": ((H, W), "W has shape"),
    "only one": ((W,), "pair"),
    "negative": ((-W, H), "non-negative"),
    "nan": ((W, H * np.nan), "finite"),
}


@pytest.mark.parametrize(("start", "message"), BAD_STARTS.values(), ids=BAD_STARTS)
@pytest.mark.parametrize("model", MODELS)
def test_a_wrong_start_is_refused(model, start, message):
    with pytest.raises(ValueError, match=message):
        model(K, init=start).fit(X, np.arange(40) % 3)


def test_several_starts_from_arrays_are_refused():
    with pytest.raises(ValueError, match="n_init is 2"):
        NMF(K, init=START, n_init=2).fit(X)

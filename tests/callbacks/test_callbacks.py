"""Callbacks: those that watch, those of scikit-learn, and what happens when one fails."""

import signal

import numpy as np
import pytest
from cases import X, Y
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

from partwise import NMF, ConstrainedNMF, GraphNMF, LocalSimilarityNMF
from partwise.callbacks import Callback, EarlyStopping, History, as_callbacks

MODELS = [NMF(), GraphNMF(graph_strength=10.0), ConstrainedNMF(), LocalSimilarityNMF()]


class Witness(Callback):
    """Writes down everything it hears."""

    def __init__(self, fail_at=None):
        self.heard, self.fail_at = [], fail_at

    def hear(self, name):
        self.heard.append(name)
        if name == self.fail_at:
            raise RuntimeError(f"failed at {name}")

    def setup(self, fit):
        assert fit.X.shape == X.shape
        assert fit.estimator.n_components == 3
        self.hear("setup")

    def on_begin(self):
        self.hear("begin")

    def on_sweep(self, progress):
        self.hear("sweep")

    def on_safe_point(self, sweep, ended, snapshot):
        self.hear("ended" if ended else "safe")

    def on_end(self):
        self.hear("end")

    def teardown(self):
        self.heard.append("teardown")


@pytest.mark.parametrize("estimator", MODELS, ids=lambda estimator: type(estimator).__name__)
def test_what_a_callback_hears(estimator):
    witness = Witness()
    clone(estimator).set_params(n_components=3, tol=0, max_iter=3, random_state=0, callbacks=witness).fit(X, Y)
    expected = ["setup", "begin", "sweep", "safe", "sweep", "safe", "sweep", "ended", "end", "teardown"]
    assert witness.heard == expected


@pytest.mark.parametrize("moment", ["setup", "begin", "sweep", "safe", "end"])
def test_a_callback_that_fails_stops_the_fit_and_all_are_torn_down(moment):
    first, failing = Witness(), Witness(fail_at=moment)
    model = NMF(3, tol=0, max_iter=5, callbacks=[first, failing])
    with pytest.raises(RuntimeError, match=f"failed at {moment}"):
        model.fit(X)
    assert first.heard[-1] == failing.heard[-1] == "teardown"
    assert first.heard.count("teardown") == 1
    with pytest.raises(NotFittedError):
        model.transform(X)


def test_torn_down_also_if_the_start_is_wrong():
    witness = Witness()
    with pytest.raises(ValueError, match="W has shape"):
        NMF(3, init=(np.ones((2, 3)), np.ones((3, 15))), callbacks=witness).fit(X)
    assert witness.heard == ["setup", "teardown"]


def test_a_real_signal_leaves_a_usable_model():
    def press_ctrl_c(progress):
        if progress.sweep == 4:
            signal.raise_signal(signal.SIGINT)

    with pytest.warns(UserWarning, match="interrupted after 4 sweeps"):
        model = NMF(3, tol=0, max_iter=9, random_state=0, callbacks=press_ctrl_c).fit(X)
    assert model.transform(X[:2]).shape == (2, 3)


def test_a_signal_while_the_end_is_written_leaves_a_model():
    class Slow(Callback):
        def on_safe_point(self, sweep, ended, snapshot):
            if ended:
                signal.raise_signal(signal.SIGINT)

    with pytest.warns(UserWarning, match="interrupted after 3 sweeps"):
        model = NMF(3, tol=0, max_iter=3, random_state=0, callbacks=Slow()).fit(X)
    assert model.transform(X[:2]).shape == (2, 3)


def test_early_stopping_and_history():
    history = History(objective=lambda progress: progress.objective, sparsity=lambda p: float((p.codes == 0).mean()))
    model = NMF(3, tol=0, max_iter=500, random_state=0)
    model.set_params(callbacks=[history, EarlyStopping(patience=4, min_decrease=1e-2)]).fit(X)
    assert model.stop_reason_ == "callback"
    assert history.values["objective"] == model.history_["objective"][1:]
    decreases = -np.diff(history.values["objective"]) / np.array(history.values["objective"][:-1])
    assert (decreases[-4:] < 0.05).all()
    # Any number can be watched.
    held_out = EarlyStopping(patience=2, score=lambda progress: progress.sweep)
    assert NMF(3, tol=0, max_iter=50, callbacks=held_out).fit(X).n_iter_ == 3


def test_every_start_is_watched_by_itself():
    model = NMF(3, init="random", n_init=3, tol=0, max_iter=60, random_state=0, callbacks=EarlyStopping(patience=50))
    assert model.fit(X).stop_reason_ == "max_iter"


# --- scikit-learn's protocol ------------------------------------------------------------------------------------------


class Monitor:
    """A callback in the manner of `sklearn.callback`."""

    def __init__(self, stop_after=None):
        self.calls, self.stop_after = [], stop_after

    def setup(self, estimator, context):
        self.calls.append("setup")

    def teardown(self, estimator, context):
        self.calls.append("teardown")

    def on_fit_task_begin(self, estimator, context, *, X=None):
        self.calls.append(f"{context.task_name} begins")

    def on_fit_task_end(self, estimator, context):
        self.calls.append(f"{context.task_name} ends")
        return self.stop_after is not None and self.calls.count("sweep ends") >= self.stop_after


class TravellingMonitor(Monitor):
    max_propagation_depth = None


@pytest.fixture
def protocol():
    return pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9 has no callbacks")


@pytest.mark.parametrize("estimator", MODELS, ids=lambda estimator: type(estimator).__name__)
def test_callbacks_of_scikit_learn(protocol, estimator):
    monitor = Monitor()
    model = clone(estimator).set_params(n_components=3, tol=0, max_iter=2, random_state=0)
    model.set_callbacks(monitor).fit(X, Y)
    sweep = ["sweep begins", "sweep ends"]
    assert monitor.calls == ["setup", "fit begins", *sweep, *sweep, "fit ends", "teardown"]


def test_they_can_stop_the_fit_and_are_torn_down(protocol):
    monitor = Monitor(stop_after=2)
    model = NMF(3, init="random", n_init=2, tol=0, max_iter=50, random_state=0).set_callbacks(monitor).fit(X)
    assert (model.stop_reason_, model.n_iter_) == ("callback", 2)
    monitor = Monitor()
    failing = NMF(3, callbacks=Witness(fail_at="sweep")).set_callbacks(monitor)
    with pytest.raises(RuntimeError):
        failing.fit(X)
    assert monitor.calls[-1] == "teardown"


def test_they_travel_through_a_search(protocol):
    monitor = TravellingMonitor()
    search = GridSearchCV(
        NMF(tol=0, max_iter=2, random_state=0), {"n_components": [2, 3]}, cv=2, scoring=lambda model, X: 0.0
    )
    if not hasattr(search, "set_callbacks"):
        pytest.skip("this version's searches pass no callbacks on")
    search.set_callbacks(monitor).fit(X)
    assert monitor.calls.count("sweep ends") == 2 * (2 * 2 + 1)
    assert (monitor.calls[0], monitor.calls[-1]) == ("setup", "teardown")


def test_they_do_not_go_into_the_parameter():
    with pytest.raises(TypeError, match="Callbacks of scikit-learn go to set_callbacks"):
        as_callbacks([Monitor()], 0)

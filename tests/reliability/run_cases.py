"""F and G. Repetition, interruption and limits of a run, checkpoints."""

import errno
import os
import pickle
import signal
import tempfile
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import patch

import numpy as np
from case import Answered, Case, Refused, X, takes, transforms
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import partwise
from partwise.callbacks import Callback, Checkpoint, EarlyStopping, TimeBudget

sweeps = takes("callbacks")


class Boom(Exception):
    """What a callback raises."""


class Killed(BaseException):
    """The end of the process, as far as the fit can tell."""


class Raises(Callback):
    def __init__(self, error, sweep=2):
        self.error, self.sweep, self.torn_down = error, sweep, False

    def on_begin(self):
        if self.sweep == 0:
            raise self.error

    def on_sweep(self, progress):
        if progress.sweep >= self.sweep:
            raise self.error

    def teardown(self):
        self.torn_down = True


def raising(error, sweep=2):
    def act(model):
        callback = Raises(error, sweep)
        try:
            model.set_params(max_iter=20, tol=0.0, callbacks=callback).fit(X)
        finally:
            assert callback.torn_down

    return act


def interrupted_at_once(model):
    """Ctrl-C before there is anything to keep: the interruption is passed on, and there is no model."""
    try:
        raising(KeyboardInterrupt(), sweep=0)(model)
    except KeyboardInterrupt:
        return model.labels_
    raise AssertionError("the interruption was swallowed")


def stopped(reason):
    def holds(model, data):
        assert model.stop_reason_ == reason
        assert len(model.history_["objective"]) == model.n_iter_ + 1

    return holds


def with_callback(make, **params):
    def act(model):
        model.set_params(max_iter=50, tol=0.0, callbacks=make(), **params).fit(X)

    return act


def not_converged(model):
    model.set_params(max_iter=1, tol=1e-300).fit(X)


def exactly(model, data):
    assert model.n_iter_ == 7
    assert len(model.history_["objective"]) == 8


def seven(model):
    model.set_params(max_iter=7, tol=0.0).fit(X)


def twice(model):
    """The same seed gives the same model, bit for bit."""
    other = clone(model).fit(X)
    model.fit(X)
    assert np.array_equal(model.embedding_, other.embedding_)
    assert np.array_equal(model.labels_, other.labels_)


def again(model):
    """Fitting the same object again gives the same model."""
    first = model.fit(X).embedding_.copy()
    model.fit(X[::-1] * 2)
    assert np.array_equal(model.fit(X).embedding_, first)


def rows_by_themselves(model):
    codes = model.fit(X).transform(X)
    alone = np.vstack([model.transform(X[i : i + 1]) for i in range(5)])
    np.testing.assert_allclose(codes[:5], alone, rtol=1e-6, atol=1e-7)


def folder():
    return Path(tempfile.mkdtemp())


def resumed(model):
    """A stopped fit resumes from its file and ends the same."""
    path = folder() / "run.npz"
    whole = clone(model).set_params(max_iter=12, tol=0.0).fit(X)
    model.set_params(max_iter=12, tol=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clone(model).set_params(callbacks=[Checkpoint(path, every=1), Raises(KeyboardInterrupt(), 5)]).fit(X)
    model.set_params(callbacks=Checkpoint(path, every=1)).fit(X)
    assert np.array_equal(model.embedding_, whole.embedding_)


def checkpointed(model, path):
    return clone(model).set_params(max_iter=5, tol=0.0, callbacks=Checkpoint(path, every=1))


def other_version(model):
    path = folder() / "run.npz"
    checkpointed(model, path).fit(X)
    with patch.object(partwise, "__version__", "0.0.0"):
        checkpointed(model, path).fit(X)


def killed_while_writing(model):
    """The old file stays whole, and the fit resumes from it and ends the same."""
    path = folder() / "run.npz"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begun = clone(model).set_params(max_iter=5, tol=0.0)
        begun.set_params(callbacks=[Checkpoint(path, every=1), Raises(KeyboardInterrupt(), 3)]).fit(X)
        before = path.read_bytes()
        with patch("partwise.files.archive.os.fsync", side_effect=Killed):
            try:
                checkpointed(model, path).fit(X)
            except Killed:
                assert path.read_bytes() == before
            else:
                raise AssertionError("nothing was written")
    resumed, model = checkpointed(model, path).fit(X), model.set_params(max_iter=5, tol=0.0).fit(X)
    assert np.array_equal(model.embedding_, resumed.embedding_)


def full_disk(model):
    whole = clone(model).set_params(max_iter=5, tol=0.0).fit(X)
    path = folder() / "run.npz"
    with patch("partwise.files.archive.os.fsync", side_effect=OSError(errno.ENOSPC, "No space left on device")):
        model.set_params(max_iter=5, tol=0.0, callbacks=Checkpoint(path, every=1)).fit(X)
    assert np.array_equal(model.embedding_, whole.embedding_)
    assert not list(path.parent.iterdir())


def in_a_fork(model):
    """After a fit here, a fit in a forked process ends, and is the same."""
    model.fit(X)
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if np.array_equal(clone(model).fit(X).embedding_, model.embedding_) else 3)
        finally:
            os._exit(4)
    deadline = time.monotonic() + 120
    while (ended := os.waitpid(child, os.WNOHANG))[0] == 0:
        time.sleep(0.01)
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
    assert os.waitstatus_to_exitcode(ended[1]) == 0


def in_threads(model):
    """Fits in several threads at once are those in one."""
    model.fit(X)
    with ThreadPoolExecutor(4) as threads:
        others = list(threads.map(lambda _: clone(model).fit(X), range(4)))
    assert all(np.array_equal(other.embedding_, model.embedding_) for other in others)


def other_checkpoint(data=X, **changed):
    def act(model):
        path = folder() / "run.npz"
        clone(model).set_params(max_iter=5, tol=0.0, callbacks=Checkpoint(path, every=1)).fit(X)
        model.set_params(**{"max_iter": 5, "tol": 0.0, "callbacks": Checkpoint(path, every=1), **changed}).fit(data)

    return act


def damaged_checkpoint(damage):
    def act(model):
        path = folder() / "run.npz"
        clone(model).set_params(max_iter=5, tol=0.0, callbacks=Checkpoint(path, every=1)).fit(X)
        path.write_bytes(damage(path.read_bytes()))
        model.set_params(max_iter=5, tol=0.0, callbacks=Checkpoint(path, every=1)).fit(X)

    return act


NOISE = np.random.RandomState(0).bytes(4000)
DAMAGES = {
    "empty": lambda content: b"",
    "cut in half": lambda content: content[: len(content) // 2],
    "without its last byte": lambda content: content[:-1],
    "random bytes": lambda content: NOISE,
    "a pickle": lambda content: pickle.dumps({"X": X}),
    "text": lambda content: b"not a model",
    "random bytes in the middle": lambda content: content[:300] + NOISE[:300] + content[600:],
}
UNREADABLE = Refused(ValueError, "")

CASES = [
    Case("F", "same seed twice", act=twice, expected=Answered(says="bitwise equal")),
    Case("F", "fitted again after other data", act=again, expected=Answered(says="bitwise equal")),
    Case(
        "F", "new samples one by one", applies=transforms, act=rows_by_themselves, expected=Answered(says="equal codes")
    ),
    Case(
        "G",
        "Ctrl-C in the second sweep",
        applies=sweeps,
        act=raising(KeyboardInterrupt()),
        expected=Answered("interrupted after", stopped("interrupted"), "a model"),
    ),
    Case(
        "G",
        "Ctrl-C before the first sweep",
        applies=sweeps,
        act=interrupted_at_once,
        expected=Refused(NotFittedError),
    ),
    Case("G", "a callback raises", applies=sweeps, act=raising(Boom("boom")), expected=Refused(Boom, "boom")),
    Case(
        "G",
        "a callback stops the fit",
        applies=sweeps,
        act=with_callback(lambda: lambda progress: progress.sweep == 3),
        expected=Answered(holds=stopped("callback"), says="a model"),
    ),
    Case(
        "G",
        "no time left",
        applies=sweeps,
        act=with_callback(lambda: TimeBudget(1e-9)),
        expected=Answered(holds=stopped("callback"), says="a model"),
    ),
    Case(
        "G",
        "nothing improves enough",
        applies=sweeps,
        act=with_callback(lambda: EarlyStopping(patience=1, min_decrease=0.9)),
        expected=Answered(holds=stopped("callback"), says="a model"),
    ),
    Case(
        "G", "too few sweeps", applies=sweeps, act=not_converged, expected=Answered("has not converged", says="a model")
    ),
    Case("G", "tol=0 runs all sweeps", applies=sweeps, act=seven, expected=Answered(holds=exactly, says="7 sweeps")),
    Case(
        "G",
        "a callback that is none",
        applies=sweeps,
        params={"callbacks": [3]},
        expected=Refused(TypeError, "callbacks"),
    ),
    Case("G", "stopped and resumed", applies=sweeps, act=resumed, expected=Answered(says="bitwise equal")),
    Case(
        "G",
        "checkpoint of other data",
        applies=sweeps,
        act=other_checkpoint(X + 0.5),
        expected=Refused(ValueError, "data"),
    ),
    Case(
        "G", "checkpoint of other parameters", applies=sweeps, act=other_checkpoint(n_components=2), expected=UNREADABLE
    ),
    Case(
        "G", "checkpoint of another version", applies=sweeps, act=other_version, expected=Refused(ValueError, "version")
    ),
    Case(
        "G",
        "killed while a checkpoint is written",
        applies=sweeps,
        act=killed_while_writing,
        expected=Answered(says="old file whole, resumed bitwise equal"),
    ),
    Case(
        "G",
        "no room on the disk for a checkpoint",
        applies=sweeps,
        act=full_disk,
        expected=Answered("could not be written", says="bitwise equal"),
    ),
    Case("G", "in a forked process", act=in_a_fork, expected=Answered(says="bitwise equal")),
    Case("G", "in four threads at once", act=in_threads, expected=Answered(says="bitwise equal")),
    *(
        Case("G", f"checkpoint: {name}", applies=sweeps, act=damaged_checkpoint(damage), expected=UNREADABLE)
        for name, damage in DAMAGES.items()
    ),
]

"""F and G. Repetition, interruption, limits of a run; and I. models and checkpoints as files."""

import pickle
import tempfile
import warnings
from pathlib import Path

import numpy as np
from case import Answered, Case, Refused, X, takes, transforms
from sklearn.base import clone

import partwise
from partwise.callbacks import Callback, Checkpoint, EarlyStopping, TimeBudget

sweeps = takes("callbacks")


class Boom(Exception):
    """What a callback raises."""


class Raises(Callback):
    def __init__(self, error, sweep=2):
        self.error, self.sweep, self.torn_down = error, sweep, False

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
    """The same seed gives the same model, to the bit."""
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
    """A fit that was stopped goes on from its file to the same end."""
    path = folder() / "run.npz"
    whole = clone(model).set_params(max_iter=12, tol=0.0).fit(X)
    model.set_params(max_iter=12, tol=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clone(model).set_params(callbacks=[Checkpoint(path, every=1), Raises(KeyboardInterrupt(), 5)]).fit(X)
    model.set_params(callbacks=Checkpoint(path, every=1)).fit(X)
    assert np.array_equal(model.embedding_, whole.embedding_)


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


def round_trip(model):
    path = folder() / "model.npz"
    model.fit(X).save(path)
    same(partwise.load(path), model)


def pickled(model):
    same(pickle.loads(pickle.dumps(model.fit(X))), model)


def same(other, model):
    assert np.array_equal(other.embedding_, model.embedding_)
    assert np.array_equal(other.labels_, model.labels_)
    if hasattr(model, "transform"):
        assert np.array_equal(other.transform(X), model.transform(X))


def damaged_model(damage):
    def act(model):
        path = folder() / "model.npz"
        model.fit(X).save(path)
        path.write_bytes(damage(path.read_bytes()))
        partwise.load(path)

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
    *(
        Case("G", f"checkpoint: {name}", applies=sweeps, act=damaged_checkpoint(damage), expected=UNREADABLE)
        for name, damage in DAMAGES.items()
    ),
    Case("I", "saved and loaded", act=round_trip, expected=Answered(says="equal")),
    Case("I", "pickled", act=pickled, expected=Answered(says="equal")),
    *(
        Case("I", f"model file: {name}", act=damaged_model(damage), expected=UNREADABLE)
        for name, damage in DAMAGES.items()
    ),
]

"""Checkpoints: a fit that is killed and run again is the same, bit for bit."""

import numpy as np
import pytest
from cases import CASES, X, Y, assert_same, fit, small
from sklearn.base import clone

import partwise
from partwise import NMF, GraphNMF
from partwise.callbacks import Callback, Checkpoint, EarlyStopping, History
from partwise.files.archive import ReadError, read_arrays, write_arrays
from partwise.files.described import as_text, from_text


class Killed(BaseException):
    """Nothing may catch it."""


class Kill(Callback):
    """Ends the process, as far as the fit can tell, after this many sweeps of all starts."""

    def __init__(self, after):
        self.after, self.count = after, 0

    def on_sweep(self, progress):
        self.count += 1
        if self.count == self.after:
            raise Killed


@pytest.mark.parametrize(("estimator", "data"), CASES.values(), ids=CASES)
def test_killed_and_resumed_is_undisturbed(estimator, data, tmp_path):
    estimator = small(estimator, tol=0, max_iter=23)
    whole = fit(estimator, data)
    path = tmp_path / "fit.npz"
    # Killed again and again: soon after the beginning, after the first restart, late.
    for after in (1, 2, 3, 6, 8):
        with pytest.raises(Killed):
            fit(estimator, data, Checkpoint(path, every=1), Kill(after))
    resumed = fit(estimator, data, Checkpoint(path, every=1))
    assert_same(resumed, whole)
    # The end is in the file.
    assert_same(fit(estimator, data, Checkpoint(path), Kill(1)), whole)


@pytest.mark.parametrize(("estimator", "data"), CASES.values(), ids=CASES)
def test_convergence_after_a_resume(estimator, data, tmp_path):
    estimator = small(estimator, tol=1e-3, max_iter=150)
    whole = fit(estimator, data)
    for after in (4, 12):
        path = tmp_path / f"{after}.npz"
        try:
            fit(estimator, data, Checkpoint(path, every=3), Kill(after))
        except Killed:
            assert_same(fit(estimator, data, Checkpoint(path, every=3)), whole)


def test_times_go_on(tmp_path):
    estimator, path = NMF(4, tol=0, max_iter=20, random_state=0), tmp_path / "fit.npz"
    with pytest.raises(Killed):
        fit(estimator, X, Checkpoint(path, every=1), Kill(10))
    times = fit(estimator, X, Checkpoint(path)).history_["time"]
    assert len(times) == 21
    assert (np.diff(times) >= 0).all()


@pytest.mark.parametrize("random_state", [None, "instance"])
def test_random_numbers_are_part_of_the_fit(random_state, tmp_path):
    def estimator():
        state = None if random_state is None else np.random.RandomState(5)
        return NMF(4, init="random", n_init=3, tol=0, max_iter=30, random_state=state)

    path, copy = tmp_path / "fit.npz", tmp_path / "copy.npz"
    with pytest.raises(Killed):
        fit(estimator(), X, Checkpoint(path, every=1), Kill(2))
    copy.write_bytes(path.read_bytes())
    assert_same(fit(estimator(), X, Checkpoint(path)), fit(estimator(), X, Checkpoint(copy)))


def test_other_callbacks_remember(tmp_path):
    def watchers():
        history = History(size=lambda progress: float(progress.codes.sum()))
        return history, EarlyStopping(patience=3, min_decrease=0.02)

    estimator, path = NMF(4, tol=0, max_iter=60, random_state=0), tmp_path / "fit.npz"
    seen, stopping = watchers()
    whole = fit(estimator, X, seen, stopping)
    assert whole.stop_reason_ == "callback"
    assert 4 < whole.n_iter_ < 60
    with pytest.raises(Killed):
        fit(estimator, X, Checkpoint(path, every=1), *watchers(), Kill(whole.n_iter_ - 1))
    seen_again, stopping = watchers()
    assert_same(fit(estimator, X, Checkpoint(path, every=1), seen_again, stopping), whole)
    assert seen_again.values == seen.values
    assert len(seen.values["size"]) == whole.n_iter_


def test_a_fit_that_a_callback_stopped_goes_on_later(tmp_path):
    estimator, path = NMF(4, tol=0, max_iter=15, random_state=0), tmp_path / "fit.npz"
    for stop in (5, 6, 11):
        model = fit(estimator, X, Checkpoint(path, every=2), lambda progress, stop=stop: progress.sweep == stop)
        assert (model.stop_reason_, model.n_iter_) == ("callback", stop)
    assert_same(fit(estimator, X, Checkpoint(path)), fit(estimator, X))


# --- files that do not belong -----------------------------------------------------------------------------------------

PLAIN = NMF(4, tol=0, max_iter=8, random_state=0)


@pytest.fixture
def written(tmp_path):
    path = tmp_path / "fit.npz"
    with pytest.raises(Killed):
        fit(PLAIN, X, Checkpoint(path, every=1), Kill(5), y=None)
    return path


@pytest.mark.parametrize(
    ("changes", "data", "y", "named"),
    [
        ({}, X + 1e-9, None, "X was"),
        ({}, X.astype(np.float32), None, "X was"),
        ({}, X, Y, "y was"),
        ({"max_iter": 9}, X, None, "the parameter max_iter was 8 and is 9"),
        ({"random_state": 1}, X, None, "the parameter random_state was 0 and is 1"),
        ({"init": (np.ones((70, 4)), np.ones((4, 15)))}, X, None, "the parameter init was 'auto'"),
    ],
)
def test_another_fit_is_refused(written, changes, data, y, named):
    before = written.read_bytes()
    with pytest.raises(ValueError, match=f"belongs to another fit.*{named}"):
        fit(clone(PLAIN).set_params(**changes), data, Checkpoint(written), y=y)
    assert written.read_bytes() == before


def test_another_estimator_or_version_is_refused(written, monkeypatch):
    with pytest.raises(ValueError, match="the estimator was NMF and is GraphNMF"):
        fit(GraphNMF(4, graph_strength=10.0, tol=0, max_iter=8, random_state=0), X, Checkpoint(written), y=None)
    monkeypatch.setattr(partwise, "__version__", "99.0")
    with pytest.raises(ValueError, match=r"the version of partwise was .* and is 99\.0"):
        fit(PLAIN, X, Checkpoint(written), y=None)


def damage(path, kind):
    whole = path.read_bytes()
    if kind == "model":
        fit(PLAIN, X).set_params(callbacks=None).save(path)
    elif kind == "future":
        arrays = read_arrays(path, "a checkpoint")
        header = from_text(arrays["header"])
        write_arrays(path, {**arrays, "header": as_text({**header, "format_version": 2})})
    elif kind == "pickle":
        np.savez(path, header=np.array([{}], object))
    else:
        path.write_bytes(
            {
                "empty": b"",
                "random": np.random.RandomState(0).bytes(5000),
                "text": b"not a checkpoint",
                "torn": whole[: len(whole) // 2],
                "without its last byte": whole[:-1],
                "flipped": whole[:3000] + bytes([whole[3000] ^ 1]) + whole[3001:],
            }[kind]
        )


@pytest.mark.parametrize(
    "kind",
    ["empty", "random", "text", "torn", "without its last byte", "flipped", "model", "future", "pickle"],
)
def test_damaged_and_foreign_files_are_one_error(written, kind):
    damage(written, kind)
    with pytest.raises(ReadError, match=r"fit\.npz cannot be read as a checkpoint of partwise"):
        fit(PLAIN, X, Checkpoint(written), y=None)


def test_a_state_that_does_not_fit_is_refused(written):
    arrays = read_arrays(written, "a checkpoint")
    wrong = {name: array[:-1] if array.ndim == 2 else array for name, array in arrays.items()}
    write_arrays(written, wrong)
    with pytest.raises(ValueError, match="does not fit this fit"):
        fit(PLAIN, X, Checkpoint(written), y=None)


# --- writing ----------------------------------------------------------------------------------------------------------


def test_killed_while_writing_leaves_the_old_file(written, monkeypatch):
    before = written.read_bytes()

    def killed(*_):
        raise Killed

    monkeypatch.setattr("partwise.files.writing.os.fsync", killed)
    with pytest.raises(Killed):
        fit(PLAIN, X, Checkpoint(written, every=1), y=None)
    monkeypatch.undo()
    assert written.read_bytes() == before
    # What a real kill leaves beside it is removed by the next writer.
    written.with_name(".partwise-0123456789abcdef.partial").write_bytes(b"half")
    assert_same(fit(PLAIN, X, Checkpoint(written, every=1), y=None), fit(PLAIN, X, y=None))
    assert [path.name for path in written.parent.iterdir()] == ["fit.npz"]


def test_a_full_disk_warns_and_the_fit_goes_on(tmp_path):
    """A limit on the size of files is as good as a full disk."""
    resource = pytest.importorskip("resource")
    path = tmp_path / "fit.npz"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    model = clone(PLAIN).set_params(callbacks=Checkpoint(path, every=4))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.warns(UserWarning, match=r"could not be written, .* continues without it: .*fit\.npz"):
            model.fit(X)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert_same(model, fit(PLAIN, X, y=None))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"every": 0}, "every is 0"), ({"every": 2.5}, "every is 2.5"), ({"every": True}, "every is True")],
)
def test_wrong_arguments(tmp_path, arguments, message):
    with pytest.raises(ValueError, match=message):
        fit(PLAIN, X, Checkpoint(tmp_path / "fit.npz", **arguments))


def test_a_path_that_cannot_be_written(tmp_path):
    with pytest.raises(ValueError, match=r"Checkpoint: .*fit\.npz cannot be written: there is no folder"):
        fit(PLAIN, X, Checkpoint(tmp_path / "no" / "fit.npz"))
    with pytest.raises(ValueError, match="is a folder; give the name of a file"):
        fit(PLAIN, X, Checkpoint(tmp_path))


def test_an_interrupted_fit_can_be_resumed(tmp_path):
    path = tmp_path / "fit.npz"

    def interrupt(progress):
        if progress.sweep == 5:
            raise KeyboardInterrupt

    model = clone(PLAIN).set_params(callbacks=[Checkpoint(path, every=2), interrupt])
    with pytest.warns(UserWarning, match="interrupted after 5 sweeps"):
        model.fit(X)
    assert_same(fit(PLAIN, X, Checkpoint(path), y=None), fit(PLAIN, X, y=None))

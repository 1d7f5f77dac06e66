"""Warnings point at the user's line; silence ends where it began, whatever other threads do."""

import inspect
import pickle
import re
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from cases import told
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

import partwise
from partwise import NMF, GraphNMF, WeightedNMF
from partwise.core.warn import quiet, warn
from partwise.testing import all_estimators

RNG = np.random.RandomState(0)
X = RNG.uniform(size=(40, 8))
HOLES = np.where(np.arange(40)[:, None] == 3, np.nan, X)


class OwnNMF(NMF):
    """A subclass, whose line is the user's."""

    def fit(self, X, y=None, sample_weight=None):
        return super().fit(X, y, sample_weight)


MODEL = NMF(3, max_iter=2, random_state=0)
CALLS = {
    "fit": (ConvergenceWarning, lambda: clone(MODEL).fit(X)),
    "fit_predict": (ConvergenceWarning, lambda: clone(MODEL).fit_predict(X)),
    "fit_transform": (ConvergenceWarning, lambda: clone(MODEL).fit_transform(X)),
    "fit_transform pandas": (
        ConvergenceWarning,
        lambda: clone(MODEL).set_output(transform="pandas").fit_transform(X),
    ),
    "pipeline": (ConvergenceWarning, lambda: make_pipeline(MaxAbsScaler(), clone(MODEL)).fit(X)),
    "grid search": (ConvergenceWarning, lambda: GridSearchCV(clone(MODEL), {"n_components": [2]}, cv=2).fit(X)),
    "auto": (ConvergenceWarning, lambda: GraphNMF(3, graph_strength="auto", max_iter=2, random_state=0).fit(X)),
    "subclass": (ConvergenceWarning, lambda: OwnNMF(3, max_iter=2, random_state=0).fit(X)),
    "other unit": (ConvergenceWarning, lambda: clone(MODEL).fit(X * 1e100)),
    "transform": (UserWarning, lambda: FITTED.transform(HOLES)),
    "neighbours": (UserWarning, lambda: GraphNMF(3, graph_strength=1.0, n_neighbors=50, tol=0, max_iter=1).fit(X)),
    "size": (UserWarning, lambda: NMF(9, tol=0, max_iter=1).fit(X)),
    "labels_": (UserWarning, lambda: ONE_CLUSTER.labels_),
    "version": (UserWarning, lambda: pickle.loads(OLD)),
}


with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    FITTED = WeightedNMF(2, missing="nan", max_iter=5, random_state=0).fit(HOLES)
    ONE_CLUSTER = NMF(2, assign="argmax", max_iter=5, random_state=0).fit(np.ones((6, 3)))
    OLD = pickle.dumps(ONE_CLUSTER).replace(partwise.__version__.encode(), b"0.0.9")


@pytest.mark.parametrize("name", CALLS)
def test_a_warning_points_at_the_line_of_the_user(name):
    kind, call = CALLS[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    ours = [warning for warning in caught if issubclass(warning.category, kind)]
    assert ours
    source, first = inspect.getsourcelines(OwnNMF.fit if name == "subclass" else call)
    for warning in ours:
        assert warning.filename == __file__
        assert first <= warning.lineno < first + len(source)


@pytest.mark.parametrize("kind", [kind for kind in all_estimators().values() if hasattr(kind(), "max_iter")])
def test_every_estimator_points_at_the_line_of_the_user(kind):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = kind(3, max_iter=1, tol=1e-14, random_state=0)
        model.fit(X, **told(model, X))
    assert model.stop_reason_ == "converged" or caught
    assert all(warning.filename == __file__ for warning in caught)


def test_a_warning_in_a_thread_without_a_line_of_the_user():
    with pytest.warns(ConvergenceWarning), ThreadPoolExecutor(1) as pool:
        pool.submit(clone(MODEL).fit, X).result()


def test_every_warning_goes_one_way():
    """No other module warns by itself, or changes the filters of the process during a fit."""
    home = Path(partwise.__file__).parent
    own = {home / "core" / "warn.py"}
    # Commands and experiments have the process to themselves.
    alone = {path for room in ("cli", "experiments") for path in (home / room).glob("*.py")}
    for path in set(home.rglob("*.py")) - own:
        text = path.read_text("utf-8")
        assert not re.search(r"warnings\.warn\b|stacklevel", text), path
        assert path in alone or "catch_warnings" not in text, path


def test_silence_of_overlapping_threads_ends_with_the_last_of_them():
    before = list(warnings.filters)
    inside, go_on = [threading.Event() for _ in range(3)], [threading.Event() for _ in range(3)]

    def hold(index):
        with quiet():
            warn("muted here")
            inside[index].set()
            assert go_on[index].wait(20)

    threads = [threading.Thread(target=hold, args=(index,)) for index in range(3)]
    for thread, event in zip(threads, inside, strict=True):
        thread.start()
        assert event.wait(20)
    with pytest.warns(UserWarning, match="heard in this thread"):
        warn("heard in this thread")
    for index in (0, 2, 1):
        go_on[index].set()
        threads[index].join(20)
    assert list(warnings.filters) == before


@pytest.mark.filterwarnings("ignore::partwise.exceptions.DuplicateComponentsWarning")
def test_fits_that_choose_in_threads_leave_the_filters_as_they_were():
    before = list(warnings.filters)
    model = GraphNMF(3, graph_strength="auto", max_iter=20, tol=0, random_state=0)
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda _: clone(model).fit(X).labels_, range(6)))
    assert list(warnings.filters) == before

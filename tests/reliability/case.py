"""What a case is, and how an estimator is put to it."""

import inspect
import tempfile
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import get_tags

from partwise.selection.grids import fixed_strengths
from partwise.testing import all_estimators

RNG = np.random.RandomState(0)
# Three groups of samples, with zeros and without a zero row or column.
X = np.kron(np.eye(3), np.ones((5, 3))) * RNG.uniform(0.5, 1.0, size=(15, 9)) + 0.2 * RNG.uniform(size=(15, 9))
X[X < 0.05] = 0
N_COMPONENTS = 3
# The subject of a case that concerns no estimator.
NO_ESTIMATOR = "files and pages"


def everyone(model):
    return True


def takes(parameter):
    """Estimators with a parameter."""
    return lambda model: parameter in model.get_params()


def takes_weights(model):
    return "sample_weight" in inspect.signature(model.fit).parameters


def non_negative(model):
    return get_tags(model).input_tags.positive_only


def signed(model):
    return not non_negative(model)


def transforms(model):
    return hasattr(model, "transform")


def both(*conditions):
    return lambda model: all(condition(model) for condition in conditions)


@dataclass(frozen=True)
class Refused:
    """An error of this kind whose message holds this text."""

    kind: type[BaseException] | tuple[type[BaseException], ...]
    text: str = ""

    def check(self, error):
        assert isinstance(error, self.kind), f"{type(error).__name__}: {error}"
        assert self.text in str(error), f"{self.text!r} is not in {str(error)!r}"

    def __str__(self):
        kinds = self.kind if isinstance(self.kind, tuple) else (self.kind,)
        return " or ".join(kind.__name__ for kind in kinds) + (f": “{self.text}”" if self.text else "")


@dataclass(frozen=True)
class Answered:
    """A usable model; a warning with this text, if there is one; and what else must hold of it."""

    warns: str = ""
    holds: Callable[[Any, Any], None] | None = None
    says: str = "finite"

    def __str__(self):
        return self.says + (f", warns “{self.warns}”" if self.warns else "")


@dataclass(frozen=True)
class Case:
    """Data, parameters and what is expected of every estimator to which they apply.

    `data` makes X (and `new`, if given, what is transformed after a fit to ordinary data); `act` replaces both by a
    function of a fresh estimator. A case that concerns no estimator is `alone`: its `act` takes a new folder.
    """

    group: str
    name: str
    data: Callable[[], Any] = lambda: X.copy()
    expected: Refused | Answered = Answered()
    applies: Callable[[Any], bool] = everyone
    params: Mapping[str, Any] = field(default_factory=dict)
    y: Any = None
    weight: Any = None
    new: Callable[[], Any] | None = None
    act: Callable[[Any], Any] | None = None
    alone: bool = False

    def subjects(self):
        """Names of the estimators it applies to."""
        if self.alone:
            return [NO_ESTIMATOR]
        return [name for name, model in SUBJECTS.items() if self.applies(model)]


def subject(kind):
    """An estimator with few components and sweeps and a fixed strength; one that is exported is on the list."""
    model = kind(**fixed_strengths(kind))
    quick = {"n_components": N_COMPONENTS, "max_iter": 5, "random_state": 0, "n_landmarks": 10, "assign": "argmax"}
    # The cases know of no groups.
    quick["n_group_components"] = 0
    return model.set_params(**{name: value for name, value in quick.items() if name in model.get_params()})


SUBJECTS = {name: subject(kind) for name, kind in all_estimators().items()}


def put(case, name, **params):
    """Put an estimator to a case; an AssertionError if it does not do what is expected."""
    if case.alone:
        with tempfile.TemporaryDirectory() as folder:
            return carry_out(case, Path(folder))
    return carry_out(case, clone(SUBJECTS[name]).set_params(**{**params, **case.params}))


def carry_out(case, model):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # Numbers that are none are not an answer, whatever becomes of them.
        warnings.simplefilter("error", RuntimeWarning)
        try:
            data = perform(case, model)
        except Exception as error:
            if not isinstance(case.expected, Refused):
                raise
            case.expected.check(error)
            return
        assert isinstance(case.expected, Answered), f"was accepted; expected {case.expected}"
        check_usable(model)
        if case.expected.holds is not None:
            case.expected.holds(model, data)
    messages = [str(warning.message) for warning in caught]
    assert not case.expected.warns or any(case.expected.warns in message for message in messages), messages


def perform(case, model):
    if case.act is not None:
        return case.act(model)
    data = case.data()
    before = snapshot(data)
    weight = {} if case.weight is None else {"sample_weight": case.weight}
    if case.new is None:
        model.fit(data, case.y, **weight)
    else:
        model.fit(X)
        data = case.new()
        before = snapshot(data)
        codes = model.transform(data)
        assert np.isfinite(codes).all()
    assert before == snapshot(data), "the data were changed"
    return data


def snapshot(data):
    """The contents of the data, to see whether they are changed."""
    if sp.issparse(data):
        parts = [getattr(data, part, None) for part in ("data", "indices", "indptr", "row", "col", "offsets", "rows")]
        return [part.tobytes() for part in parts if isinstance(part, np.ndarray)]
    return data.tobytes() if isinstance(data, np.ndarray) and not data.dtype.hasobject else repr(data)


def check_usable(model):
    """Finite factors, labels without gaps."""
    if not hasattr(model, "embedding_"):
        return
    for name in ("embedding_", "components_", "dual_components_"):
        if hasattr(model, name):
            assert np.isfinite(getattr(model, name)).all(), name
    if hasattr(model, "init"):
        assert (model.embedding_ >= 0).all()
        assert np.isfinite(model.objective_)
    labels = model.labels_
    assert labels.shape == (len(model.embedding_),)
    assert set(labels) == set(range(labels.max() + 1))

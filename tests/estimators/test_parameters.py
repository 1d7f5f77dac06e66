"""Parameters are declared once: signature, constraints, grids and documentation come from the same line."""

import copy
import inspect
import os
import pickle
import re
import subprocess
import sys
from dataclasses import field
from numbers import Integral
from typing import Annotated, ClassVar, Literal

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils._param_validation import Interval, StrOptions

from partwise import NMF, ConceptFactorization, GraphNMF, LocalCoordinateNMF, LocalNMF, NormalizedCut
from partwise.core.term import Term
from partwise.estimators.base import BaseFactorization
from partwise.estimators.constraints import constraints
from partwise.estimators.docstrings import _entries, _sections
from partwise.estimators.options import NonNegative, StrengthOrAuto
from partwise.estimators.parameters import Parametrised
from partwise.selection.grids import STRENGTHS
from partwise.terms import L2, Frobenius
from partwise.testing import all_estimators

X = np.random.RandomState(0).uniform(size=(20, 6))


class Ridge(BaseFactorization):
    """NMF with a penalty.

    Parameters
    ----------
    ridge : float
        How much squares cost.

    Notes
    -----
    A note.
    """

    ridge: StrengthOrAuto = 0.5
    tol: NonNegative = 1e-3

    def _terms(self) -> list[Term]:
        return [Frobenius(), L2(self.ridge)]


class Rigid(Ridge):
    """The same with a given strength."""

    ridge: float = field(default=2.0, init=False)


class Explicit(NMF):
    """An estimator as scikit-learn's guide has it."""

    _parameter_constraints = {"n_components": [Interval(Integral, 2, None, closed="left")], "halved": ["boolean"]}  # noqa: RUF012

    def __init__(self, n_components=4, *, halved=False):
        super().__init__(n_components // 2 if halved else n_components, max_iter=20, tol=0)
        self.n_components = n_components
        self.halved = halved


class Heir(Explicit):
    """It inherits a constructor that was written by hand."""


def documented(kind, title):
    return _entries(_sections(kind.__doc__)[title])


@pytest.mark.parametrize("kind", all_estimators().values(), ids=all_estimators().keys())
def test_every_parameter_is_documented_in_full(kind):
    signature = inspect.signature(kind)
    entries = documented(kind, "Parameters")
    assert list(entries) == list(signature.parameters)
    for name, (heading, *text) in entries.items():
        assert text, f"{name} is not explained"
        default = re.search("default=(.*)$", heading)[1]
        assert eval(default) == signature.parameters[name].default
    assert "As for" not in " ".join(line for lines in entries.values() for line in lines)


@pytest.mark.parametrize("kind", all_estimators().values(), ids=all_estimators().keys())
def test_every_parameter_has_a_constraint(kind):
    assert list(kind._parameter_constraints) == list(inspect.signature(kind).parameters)
    assert all(kind._parameter_constraints.values())
    assert set(kind._selectable) <= set(kind._parameter_constraints)


@pytest.mark.parametrize("kind", all_estimators().values(), ids=all_estimators().keys())
def test_every_documented_attribute_is_there(kind):
    open_to_choice = {"selection_", "classes_", "transduction_", "n_samples_seen_", "n_steps_"}  # not after every fit
    model = kind(2, random_state=0)
    quick = {"max_iter": 2, "tol": 0.0, "graph_strength": 1.0, "coordinate_strength": 1.0, "local_strength": 1.0}
    quick |= {"kernel": "cosine", "n_group_components": 0}
    model.set_params(**{name: value for name, value in quick.items() if name in model.get_params()}).fit(X)
    missing = {name for name in documented(kind, "Attributes") if not hasattr(model, name)}
    assert missing <= open_to_choice, missing
    assert all(len(lines) > 1 for lines in documented(kind, "Attributes").values())


def test_types_say_what_is_accepted():
    words, numbers = constraints(Literal["a", "b"] | float | None)[:2]
    assert isinstance(words, StrOptions)
    assert words.options == {"a", "b"}
    assert not numbers.is_satisfied_by(np.inf)
    assert constraints(bool | None) == ["boolean", None]
    assert constraints(Annotated[int | None, "verbose", STRENGTHS]) == ["verbose"]
    assert constraints(Annotated[tuple[int, ...] | list[int], STRENGTHS]) == [tuple, list]
    with pytest.raises(TypeError, match="does not say which values it accepts"):
        constraints("text")


def test_own_fields_come_first_and_defaults_can_be_changed():
    names = list(inspect.signature(Ridge).parameters)
    assert names[:3] == ["n_components", "ridge", "scale"]
    assert [names.index(name) for name in ("max_iter", "tol", "n_init")] == [6, 7, 8]
    assert Ridge(3).tol == Ridge(3).get_params()["tol"] == 1e-3
    assert inspect.signature(Ridge).parameters["n_components"].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert Ridge._selectable == {"ridge": STRENGTHS}
    with pytest.raises(TypeError):
        Ridge(3, 0.5)


def test_documentation_is_assembled():
    sections = _sections(Ridge.__doc__)
    assert list(sections) == ["", "Parameters", "Attributes", "Notes"]
    entries = documented(Ridge, "Parameters")
    assert entries["ridge"] == ["ridge : float, default=0.5", "    How much squares cost."]
    assert entries["tol"][0] == "tol : float, default=0.001"
    assert entries["max_iter"] == documented(NMF, "Parameters")["max_iter"]
    assert "ridge" not in documented(Rigid, "Parameters")
    assert (
        documented(GraphNMF, "Parameters")["bandwidth"] != documented(ConceptFactorization, "Parameters")["bandwidth"]
    )


def test_a_fixed_field_is_no_parameter():
    model = Rigid(2, random_state=0)
    assert "ridge" not in model.get_params()
    assert "ridge" not in Rigid._parameter_constraints
    assert Rigid._selectable == {}
    assert model.fit(X).objective_ == Ridge(2, ridge=2.0, random_state=0).fit(X).objective_
    with pytest.raises(TypeError, match="ridge"):
        Rigid(2, ridge=1.0)
    with pytest.raises(TypeError, match="scale"):
        LocalNMF(scale=None)
    with pytest.raises(ValueError, match="use_labels"):
        NormalizedCut().set_params(use_labels=True)


@pytest.mark.parametrize("kind", [Explicit, Heir])
def test_a_constructor_written_by_hand(kind):
    model = kind(6, halved=True)
    assert model.get_params() == {"n_components": 6, "halved": True}
    assert model.max_iter == 20
    assert clone(model).fit(X).n_iter_ == 20
    with pytest.raises(ValueError, match=f"'n_components' parameter of {kind.__name__}"):
        kind(1).fit(X)
    assert kind.__doc__.startswith(("An estimator", "It inherits"))


def test_a_class_without_a_docstring_or_parameters():
    class Bare(NMF):
        pass

    assert Bare.__doc__ is None
    assert inspect.getdoc(Bare) == inspect.getdoc(NMF)
    assert inspect.signature(Bare) == inspect.signature(NMF)


def test_fitted_attributes_are_not_taken_for_parameters():
    with pytest.raises(TypeError, match="Wrong annotates shares_ in its body"):

        class Wrong(Parametrised):
            shares_: int = 0

    class Right(Parametrised):
        shares_: ClassVar[int] = 0
        share: int = 0

    assert list(inspect.signature(Right).parameters) == ["share"]


def test_estimators_stay_themselves():
    """What a dataclass would add is not there: models compare by identity, are hashable, and print their parameters."""
    model = Ridge(3, ridge=1.0)
    assert model != clone(model)
    assert len({model, clone(model)}) == 2
    assert repr(model) == "Ridge(n_components=3, ridge=1.0)"
    assert pickle.loads(pickle.dumps(model)).get_params() == copy.copy(model).get_params() == model.get_params()
    search = GridSearchCV(Ridge(2, random_state=0, max_iter=5, tol=0), {"ridge": [0.0, 100.0]}, cv=2).fit(X)
    assert search.best_params_ == {"ridge": 0.0}


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (NMF(0), "'n_components' parameter of NMF must be an int in the range [1, inf), a str among {'auto'}, an "),
        (NMF(loss=np.inf), "or a float in the range (-inf, inf). Got inf instead."),
        (GraphNMF(graph_strength=-1.0), "'graph_strength' parameter of GraphNMF must be a float in the range [0.0, "),
        (GraphNMF(bandwidth=0), "'bandwidth' parameter of GraphNMF must be a float in the range (0.0, inf) or None."),
        (NMF(max_iter=True), "'max_iter' parameter of NMF must be a number. Got True instead."),
        (
            LocalCoordinateNMF(use_labels=2),
            "'use_labels' parameter of LocalCoordinateNMF must be an instance of 'bool'",
        ),
    ],
)
def test_invalid_values_are_refused(model, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        model.fit(X)


def test_a_word_that_is_refused_names_those_that_are_not():
    """In any order: scikit-learn keeps them in a set."""
    words = r"must be a str among \{('cosine', 'euclidean'|'euclidean', 'cosine')\}\. Got 'manhattan' instead"
    with pytest.raises(ValueError, match=f"'metric' parameter of GraphNMF {words}"):
        GraphNMF(metric="manhattan").fit(X)


def test_without_docstrings():
    """Python run with -OO has none."""
    program = (
        "from partwise.testing import all_estimators\n"
        "assert all(kind.__doc__ is None for kind in all_estimators().values())\n"
        "print(all_estimators()['GraphNMF'](3, graph_strength=2.0))"
    )
    done = subprocess.run(
        [sys.executable, "-OO", "-c", program], capture_output=True, text=True, env=os.environ, timeout=120
    )
    assert done.stdout.strip() == "GraphNMF(graph_strength=2.0, n_components=3)", done.stderr

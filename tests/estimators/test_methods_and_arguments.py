"""Every public method of every estimator, with all its arguments: each argument has the effect that it should have."""

import inspect
import warnings
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from cases import X, Y
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import partwise
from partwise import ConstrainedNMF, Factorization, GraphNMF, KernelGraphNMF
from partwise.solvers import solve
from partwise.solvers.loop import Options
from partwise.terms import Frobenius, NeighborGraph
from partwise.testing import all_estimators

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::partwise.exceptions.DuplicateComponentsWarning"),
]

WEIGHT = np.where(np.arange(70) % 3 == 0, 5.0, 0.5)
# Methods that are tested here, by the arguments they have; a new method or argument must get its test.
COVERED = {
    "fit": {"X", "y", "sample_weight"},
    "fit_predict": {"X", "y", "sample_weight", "kwargs"},
    "fit_transform": {"X", "y", "sample_weight", "fit_params"},
    "transform": {"X"},
    "predict": {"X"},
    "predict_classes": {"X"},
    "problem": {"X", "y", "sample_weight"},
    "inverse_transform": {"X"},
    "score": {"X", "y", "sample_weight"},
    "transform_intervals": {"X", "n_resamples", "level", "random_state"},
    "save": {"path"},
    # In terms/test_linked_to_stored.
    "attach": {"X"},
    # In test_streaming.
    "partial_fit": {"X", "y", "sample_weight", "classes"},
    "fit_batches": {"batches", "arguments"},
}
# What scikit-learn's base classes bring, and test.
OF_SKLEARN = {
    "get_feature_names_out",
    "get_metadata_routing",
    "get_params",
    "set_callbacks",
    "set_fit_request",
    "set_output",
    "set_partial_fit_request",
    "set_params",
    "set_predict_request",
    "set_score_request",
    "set_transform_request",
}
# Arguments that only one estimator has, which its own tests cover.
ELSEWHERE = {"GroupNMF": {"groups"}}


@dataclass
class Entry:
    """An estimator as it is tested, and whether it uses y."""

    model: Any
    uses_y: bool = False


def entries():
    found = {}
    for name, kind in all_estimators().items():
        params = {"n_components": 4, "random_state": 0}
        if "max_iter" in inspect.signature(kind).parameters:
            params["max_iter"] = 30
        if name == "GroupNMF":
            params["n_group_components"] = 0
        found[name] = Entry(kind(**params), uses_y=name == "ConstrainedNMF")
    common = {"n_components": 4, "random_state": 0, "max_iter": 30}
    found["KernelGraphNMF linear"] = Entry(KernelGraphNMF(kernel="linear", **common))
    found["GraphNMF use_labels"] = Entry(GraphNMF(graph_strength=10.0, use_labels=True, **common), uses_y=True)
    terms = [Frobenius(), NeighborGraph(10.0, use_labels=True)]
    found["Factorization use_labels"] = Entry(Factorization(terms=terms, **common), uses_y=True)
    return found


ENTRIES = entries()
LABELLED = {name: entry for name, entry in ENTRIES.items() if entry.uses_y}
by_name = pytest.mark.parametrize("name", ENTRIES)
by_labelled_name = pytest.mark.parametrize("name", LABELLED)


def arguments(model, method):
    """All arguments of a method, by name."""
    given = {"X": X, "y": Y, "sample_weight": WEIGHT}
    return {name: given[name] for name in inspect.signature(getattr(model, method)).parameters if name in given}


def fitted(model, method="fit", **given):
    model = clone(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model, getattr(model, method)(**given)


@by_name
def test_every_method_and_argument_has_a_test(name):
    kind = type(ENTRIES[name].model)
    methods = {method for method in dir(kind) if not method.startswith("_") and callable(getattr(kind, method))}
    assert methods - OF_SKLEARN <= COVERED.keys()
    for method in methods - OF_SKLEARN:
        arguments = set(inspect.signature(getattr(kind, method)).parameters) - {"self"}
        assert arguments - ELSEWHERE.get(name, set()) <= COVERED[method]


@by_name
@pytest.mark.parametrize("method", ["fit_predict", "fit_transform"])
def test_methods_that_fit_pass_every_argument_on(name, method):
    model = ENTRIES[name].model
    if not hasattr(model, method):
        pytest.skip(f"{name} has no {method}")
    given = arguments(model, "fit")
    assert given.keys() >= arguments(model, method).keys() - {"sample_weight"}
    expected, _ = fitted(model, **given)
    other, result = fitted(model, method, **given)
    np.testing.assert_array_equal(other.embedding_, expected.embedding_)
    np.testing.assert_array_equal(result, expected.labels_ if method == "fit_predict" else expected.transform(X))


@by_name
def test_every_argument_of_fit_has_an_effect(name):
    entry = ENTRIES[name]
    given = arguments(entry.model, "fit")
    all_given, _ = fitted(entry.model, **given)
    if "sample_weight" in given:
        unweighted, _ = fitted(entry.model, X=X, y=Y)
        assert not np.array_equal(unweighted.embedding_, all_given.embedding_)
    others = np.where(Y >= 0, (Y + 1 + np.arange(70) % 2) % 3, -1)
    relabelled, _ = fitted(entry.model, **{**given, "y": others})
    assert np.array_equal(relabelled.embedding_, all_given.embedding_) != entry.uses_y


@by_name
def test_the_problem_is_what_fit_minimises(name):
    model = ENTRIES[name].model
    if not hasattr(model, "problem"):
        pytest.skip(f"{name} minimises nothing by sweeps")
    given = arguments(model, "fit")
    expected, _ = fitted(model, **given)
    for parameter, value in getattr(expected, "selection_", SimpleNamespace(choice={})).choice.items():
        model = clone(model).set_params(**{parameter: value})
        expected, _ = fitted(model, **given)
    untouched, problem = fitted(model, "problem", **given)
    assert vars(untouched).keys() == vars(clone(model)).keys()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        minimum = solve(problem, Options(model.max_iter, model.tol))
    assert minimum.result.objective == pytest.approx(expected.objective_, rel=1e-12)


@by_name
def test_scores_weigh_samples_and_ignore_y(name):
    entry = ENTRIES[name]
    if not hasattr(entry.model, "score"):
        pytest.skip(f"{name} has no score")
    model, _ = fitted(entry.model, X=X, y=Y)
    few, usual = X[:20], model.score(X[:20])
    assert model.score(few, sample_weight=WEIGHT[:20]) != pytest.approx(usual, rel=1e-6)
    assert model.score(few, sample_weight=np.full(20, 3.0)) == pytest.approx(usual, rel=1e-9)
    assert model.score(few, "anything") == usual
    with pytest.raises(ValueError, match="sample_weight has shape"):
        model.score(few, sample_weight=WEIGHT)


GARBAGE = {
    "too short": Y[:-1],
    "too long": np.append(Y, 0),
    "two columns": np.column_stack([Y, Y]),
    "NaN": np.where(Y < 0, np.nan, Y),
    "continuous": np.linspace(0, 1, 70),
    "None inside": np.array([None] + [1] * 69, dtype=object),
    "strings where numbers are wanted": np.array([str(label) for label in Y]),
    "scalar": 3,
}


@by_labelled_name
@pytest.mark.parametrize("garbage", GARBAGE)
@pytest.mark.parametrize("method", ["fit", "fit_predict", "fit_transform"])
def test_garbage_is_refused_by_methods_that_use_y(name, method, garbage):
    with pytest.raises((ValueError, TypeError), match=r"(?i)label|1d array|y "):
        getattr(clone(LABELLED[name].model), method)(X, GARBAGE[garbage])


@pytest.mark.parametrize("name", [name for name in ENTRIES if name not in LABELLED])
def test_anything_is_ignored_by_the_others(name):
    """Pipelines pass whatever they have."""
    model = clone(ENTRIES[name].model)
    if "max_iter" in model.get_params():
        model.set_params(max_iter=1)
    for method in ("fit", "fit_predict", "fit_transform"):
        if hasattr(model, method):
            fitted(model, method, X=X, y=object())


@by_labelled_name
def test_one_column_of_labels_is_read_with_a_warning(name):
    model = clone(LABELLED[name].model).set_params(max_iter=1)
    with pytest.warns(DataConversionWarning):
        model.fit(X, Y[:, None])


@by_labelled_name
def test_labels_through_a_pipeline(name):
    model = LABELLED[name].model
    pipeline = make_pipeline(FunctionTransformer(), clone(model))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = pipeline.fit_predict(X, Y, **{f"{pipeline.steps[-1][0]}__sample_weight": WEIGHT})
    expected, _ = fitted(model, X=X, y=Y, sample_weight=WEIGHT)
    np.testing.assert_array_equal(labels, expected.labels_)


@by_name
def test_saved_models_answer_alike(name, tmp_path):
    model, _ = fitted(ENTRIES[name].model, **arguments(ENTRIES[name].model, "fit"))
    model.save(tmp_path / "model.npz")
    loaded = partwise.load(tmp_path / "model.npz")
    assert loaded.n_components_ == model.n_components_ == 4
    for attribute in ("labels_", "reconstruction_err_", "classes_", "transduction_"):
        assert hasattr(loaded, attribute) == hasattr(model, attribute)
        if hasattr(model, attribute):
            np.testing.assert_array_equal(getattr(loaded, attribute), getattr(model, attribute))
    for method in ("transform", "predict", *(["predict_classes"] if ENTRIES[name].uses_y else [])):
        if hasattr(model, method):
            np.testing.assert_array_equal(getattr(loaded, method)(X[:10]), getattr(model, method)(X[:10]))
    if hasattr(model, "components_"):
        np.testing.assert_array_equal(loaded.inverse_transform(X[:, :4]), model.inverse_transform(X[:, :4]))


def test_fit_predict_uses_the_labels():
    """As it was first seen: clusters of `fit_predict` did not know of y."""
    model = ConstrainedNMF(4, random_state=0, max_iter=50)
    assert len({tuple(row) for row in fitted(model, "fit_predict", X=X, y=Y)[0].embedding_[Y == 0]}) == 1

"""What notebooks show of results."""

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from matplotlib import pyplot

from partwise import GraphNMF
from partwise.plots import (
    CodesDisplay,
    ComponentsDisplay,
    ConvergenceDisplay,
    SelectionDisplay,
    top_features,
    views,
)
from partwise.selection import Consensus, EntryValidation, RankEvidence, RankStability


@pytest.fixture(scope="module")
def model():
    X = np.random.RandomState(0).uniform(size=(30, 6))
    return GraphNMF(2, graph_strength=[0.1, 1.0], max_iter=5, tol=0, random_state=0).fit(X)


def read(result):
    """The view as elements; img has no end tag."""
    return ElementTree.fromstring(result._repr_html_().replace('100%">', '100%"/>'))


def words(element):
    return [text.strip() for text in element.itertext() if text.strip()]


def results(model):
    ones = np.ones(2)
    validation = EntryValidation(np.array([2, 3]), np.array([[2.0, 2.2], [1.0, 1.1]]))
    return {
        "selection": (model.selection_, 1),
        "consensus": (Consensus(np.array([[0, 0, 1, 1], [0, 1, 1, 1]]), 2, np.arange(4)), 1),
        "validation": (validation, 0),
        "ranks": (RankEvidence(np.array([2, 3]), validation, ones, ones, ones, ones, ones), 1),
        "stability": (RankStability(np.array([2, 3]), ones, ones, ones, ones, 3), 1),
        "history": (model.history_, 0),
        "features": (top_features(model, [f"<b>{f}</b>" for f in range(6)], 2), 0),
    }


@pytest.mark.parametrize("kind", ["selection", "consensus", "validation", "ranks", "stability", "history", "features"])
def test_views_are_whole_and_have_their_pictures(model, kind):
    """Pictures are part of the view alone: a figure left with pyplot would be shown a second time."""
    pyplot.close("all")
    result, n_pictures = results(model)[kind]
    page = read(result)
    assert len(page.findall(".//table")) == 1
    assert len(page.findall(".//img")) == n_pictures
    assert not pyplot.get_fignums()


def test_choices_are_bold_and_text_stays_text(model):
    chosen = model.selection_.choice["graph_strength"]
    assert words(read(model.selection_).find(".//strong")) == [f"{chosen:g}"]
    assert words(read(results(model)["validation"][0]).find(".//strong")) == ["3"]
    assert "<b>" in words(read(results(model)["features"][0]))[3]


def test_history_is_still_a_dict(model):
    assert isinstance(model.history_, dict)
    assert model.history_ == dict(model.history_)
    shown = words(read(model.history_))
    assert shown[0].startswith("5 sweeps")
    assert {"objective", "fit", "graph", f"{model.objective_:.4g}"} <= set(shown)


def test_without_matplotlib_there_are_tables(model, monkeypatch):
    monkeypatch.setattr(views, "find_spec", lambda name: None)
    assert not read(model.selection_).findall(".//img")


def test_what_a_cell_ends_with_is_short(model):
    """Displays are shown by their figure, and results as the table that print shows, never as arrays."""
    displays = [
        ComponentsDisplay.from_estimator(model, image_shape=(2, 3)),
        ConvergenceDisplay.from_estimator(model),
        SelectionDisplay.from_estimator(model),
        CodesDisplay.from_estimator(model),
    ]
    pyplot.close("all")
    assert all("array(" not in repr(display) and len(repr(display)) < 120 for display in displays)
    assert repr(model.selection_) == str(model.selection_)

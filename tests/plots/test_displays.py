"""Displays of fitted models: what they draw, and where."""

import sys

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.decomposition import NMF as SklearnNMF
from sklearn.exceptions import NotFittedError

from partwise import NMF, GraphNMF, SemiNMF
from partwise.plots import (
    CodesDisplay,
    ComponentsDisplay,
    ConsensusDisplay,
    ConvergenceDisplay,
    GraphDisplay,
    SelectionDisplay,
    StabilityDisplay,
    picture_bytes,
    top_features,
)
from partwise.selection import Consensus, EntryValidation, RankEvidence, RankStability

matplotlib.use("agg")
TWO_RUNS = Consensus(np.array([[0, 0, 1, 1], [0, 1, 1, 1]]), 2, np.arange(4))


@pytest.fixture(scope="module")
def X():
    return load_digits().data[:80]


@pytest.fixture(scope="module")
def model(X):
    return GraphNMF(4, graph_strength=[0.1, 1.0, 10.0], max_iter=20, tol=0, random_state=0).fit(X)


@pytest.fixture(autouse=True)
def no_figures_left():
    yield
    pyplot.close("all")


def drawn(display):
    return picture_bytes(display.figure_).startswith(b"\x89PNG")


def test_images_are_shown_in_a_grid(model):
    display = ComponentsDisplay.from_estimator(model, image_shape=(8, 8), n_columns=3, captions=list("abcd"))
    shades = display.image_.get_array()
    assert np.allclose(shades[:8, :8], model.components_[0].reshape(8, 8) / model.components_[0].max())
    assert [text.get_text() for text in display.axes_[0].texts] == list("abcd")
    assert shades[10:].mask.sum() > 2 * 8 * 8  # two places are empty
    assert drawn(display)


def test_negative_entries_have_their_own_colour(X):
    signed = SemiNMF(3, max_iter=5, tol=0, random_state=0).fit(X - X.mean(axis=0))
    display = ComponentsDisplay.from_estimator(signed, image_shape=(8, 8))
    assert display.image_.get_array().min() < 0
    assert display.image_.get_clim() == (-1, 1)


def test_bars_name_the_largest_features(model):
    names = [f"p{f}" for f in range(64)]
    display = ComponentsDisplay.from_estimator(model, feature_names=names, n_features=5)
    assert len(display.axes_) == len(display.bars_) == 4
    ticks = [label.get_text() for label in display.axes_[2].get_yticklabels()]
    assert ticks == list(top_features(model, names, 5).names[2])
    assert drawn(display)


def test_other_libraries_models_are_drawn(X):
    other = SklearnNMF(3, init="nndsvda", max_iter=400, tol=1e-2, random_state=0).fit(X)
    assert drawn(ComponentsDisplay.from_estimator(other, image_shape=(8, 8)))


def test_convergence_is_shown_by_sweep_by_time_and_by_term(model):
    display = ConvergenceDisplay.from_estimator(model)
    by_sweep, by_time = display.lines_
    objective = np.array(model.history_["objective"])
    assert np.allclose(by_sweep.get_ydata(), (objective[:-1] - objective[-1]) / objective[0])
    assert np.allclose(by_time.get_xdata(), model.history_["time"][:-1])
    assert len(display.axes_) == 3
    assert len(display.terms_) == 2
    assert drawn(display)


def test_histories_are_compared_and_a_single_term_has_no_panel(model, X):
    plain = NMF(4, max_iter=5, tol=0, random_state=0).fit(X)
    display = ConvergenceDisplay({"plain": plain.history_, "graph": model.history_}).plot()
    assert [line.get_label() for line in display.lines_] == ["plain", "plain", "graph", "graph"]
    assert len(display.axes_) == 3
    assert len(ConvergenceDisplay.from_estimator(plain).axes_) == 2


def test_codes_are_mapped_in_the_colours_of_labels(model):
    y = np.where(np.arange(80) % 2, "odd", "even")
    display = CodesDisplay.from_estimator(model, y, max_samples=40)
    assert set(display.groups_) == {"odd", "even"}
    assert sum(len(points.get_offsets()) for points in display.groups_.values()) == 40
    clusters = CodesDisplay(np.arange(12.0).reshape(6, 2), [0, 0, 1, 1, -1, -1]).plot(display.ax_)
    assert [points.get_label() for points in clusters.groups_.values()] == ["unknown", "0", "1"]
    assert drawn(clusters)


@pytest.mark.parametrize(
    "labels",
    [
        np.where(np.arange(80) % 2, 1.0, np.nan),
        np.where(np.arange(80) % 2, "odd", ""),
        np.array([None, "odd"] * 40),
        np.array([np.nan, 1] * 40, object),
        pd.array([None, 1] * 40, dtype="Int64"),
        pd.Series([None, "odd"] * 40, dtype="category"),
    ],
    ids=["nan", "empty", "none", "objects", "nullable", "category"],
)
def test_no_sample_of_unknown_label_is_lost(model, labels):
    display = CodesDisplay.from_estimator(model, labels, max_samples=40)
    assert sum(len(points.get_offsets()) for points in display.groups_.values()) == 40
    assert next(points.get_label() for points in display.groups_.values()) == "unknown"
    assert len(display.groups_) == 2


def test_numbers_and_texts_may_be_mixed():
    display = CodesDisplay(np.arange(8.0).reshape(4, 2), np.array(["b", 2, 1, "a"], object)).plot()
    assert list(display.groups_) == [1, 2, "a", "b"]


def test_graph_is_that_of_the_fit(model, X):
    points = np.random.RandomState(0).uniform(size=(80, 2))
    display = GraphDisplay.from_estimator(model, X, points=points)
    edges = model.problem(X).with_values(model.selection_.choice).bound[1].edges
    assert len(display.links_.get_segments()) == edges.nnz // 2
    assert drawn(display)
    assert drawn(GraphDisplay(edges, points).plot())


def test_selection_shows_its_path(model):
    display = SelectionDisplay.from_estimator(model)
    assert display.axes_.shape == (1, 5)
    assert {line.get_xdata()[0] for line in display.choices_} == {model.selection_.choice["graph_strength"]}


def test_starts_are_named_below_the_panels_or_in_one_of_the_users(model):
    alone = SelectionDisplay.from_estimator(model)
    assert len(alone.figure_.legends) == 1
    assert all(panel.get_legend() is None for panel in alone.axes_.flat)
    figure = Figure(layout="constrained")
    among = SelectionDisplay.from_estimator(model, ax=figure.subplots(2, 3).flat[:5])
    assert not figure.legends
    assert among.axes_.flat[0].get_legend() is not None


def test_consensus_has_clusters_adjacent():
    result = Consensus(np.array([[0, 1, 0, 1], [1, 0, 1, 0]]), 2, np.arange(4))
    display = ConsensusDisplay.from_consensus(result)
    assert np.array_equal(display.image_.get_array(), np.kron(np.eye(2), np.ones((2, 2))))


@pytest.mark.parametrize(
    "kind", ["components", "bars", "convergence", "codes", "graph", "selection", "consensus", "stability"]
)
def test_all_draw_into_given_axes_and_open_no_window(kind, model, X):
    figure = Figure()
    ax = figure.add_subplot()
    display = {
        "components": lambda: ComponentsDisplay.from_estimator(model, image_shape=(8, 8), ax=ax),
        "bars": lambda: ComponentsDisplay.from_estimator(model, ax=ax),
        "convergence": lambda: ConvergenceDisplay.from_estimator(model, ax=ax),
        "codes": lambda: CodesDisplay.from_estimator(model, max_samples=20, ax=ax),
        "graph": lambda: GraphDisplay.from_estimator(model, X, points=model.embedding_[:, :2], ax=ax),
        "selection": lambda: SelectionDisplay.from_estimator(model, ax=ax),
        "consensus": lambda: ConsensusDisplay.from_consensus(TWO_RUNS, ax=ax),
        "stability": lambda: StabilityDisplay(*np.ones((5, 2)), 1).plot(ax),
    }[kind]()
    assert display.figure_ is figure
    assert drawn(display)
    assert not pyplot.get_fignums()


def test_each_panel_may_have_its_own_axes(model):
    figure = Figure()
    row = figure.subplots(1, 3)
    assert list(ConvergenceDisplay.from_estimator(model, ax=row).axes_) == list(row)
    with pytest.raises(ValueError, match="ax holds 2 axes; this display needs 3"):
        ConvergenceDisplay.from_estimator(model, ax=row[:2])


def test_what_cannot_be_drawn_is_refused(model, X):
    plain = NMF(2, max_iter=2, tol=0, random_state=0).fit(X[:2])
    with pytest.raises(ValueError, match="images of 3 × 3 need 9"):
        ComponentsDisplay.from_estimator(model, image_shape=(3, 3))
    with pytest.raises(ValueError, match="2 names were given for 64 features"):
        ComponentsDisplay.from_estimator(model, feature_names=["a", "b"])
    with pytest.raises(ValueError, match="This NMF has no selection_"):
        SelectionDisplay.from_estimator(plain)
    for captions in (["a"], list("abcde")):
        for shape in (None, (8, 8)):
            with pytest.raises(ValueError, match=f"{len(captions)} captions were given for 4 components"):
                ComponentsDisplay.from_estimator(model, image_shape=shape, captions=captions)
    for shape in (8, (4, 4, 4)):
        with pytest.raises(ValueError, match="it must be the height and width"):
            ComponentsDisplay.from_estimator(model, image_shape=shape)
    with pytest.raises(ValueError, match="n_columns=0 was given; it must be a whole number of at least 1"):
        ComponentsDisplay.from_estimator(model, n_columns=0)
    with pytest.raises(ValueError, match="This NMF has no graph"):
        GraphDisplay.from_estimator(plain, X[:2])
    with pytest.raises(ValueError, match="a map needs at least 3"):
        CodesDisplay.from_estimator(plain)
    with pytest.raises(ValueError, match=r"labels has shape \(3,\)"):
        CodesDisplay.from_estimator(model, [0, 1, 2])
    with pytest.raises(ValueError, match=r"points has shape \(4, 3\)"):
        GraphDisplay(np.eye(4), np.zeros((4, 3))).plot()


def test_captions_may_be_an_array(model):
    for shape in (None, (8, 8)):
        display = ComponentsDisplay.from_estimator(model, image_shape=shape, captions=np.arange(4))
        assert drawn(display)


def test_models_without_what_is_shown_are_refused_in_a_sentence(X):
    other = KMeans(2, n_init=1, random_state=0).fit(X)
    read = {
        ComponentsDisplay: "no components",
        ConvergenceDisplay: "no sweeps",
        CodesDisplay: "no codes",
        SelectionDisplay: "no selection_",
        StabilityDisplay: "no rank_stability_",
    }
    for display, absent in read.items():
        with pytest.raises(NotFittedError, match="This GraphNMF instance is not fitted yet"):
            display.from_estimator(GraphNMF(4))
        with pytest.raises(ValueError, match=f"This KMeans has {absent}"):
            display.from_estimator(other)
    with pytest.raises(NotFittedError):
        GraphDisplay.from_estimator(GraphNMF(4), X)
    with pytest.raises(NotFittedError):
        top_features(GraphNMF(4))


def test_numbers_of_components_are_whole():
    """Also where a narrow range leaves room for ticks between them."""
    ranks, ones = np.arange(2, 5), np.ones(3)
    hidden = EntryValidation(ranks, np.ones((3, 2)))
    evidence = RankEvidence(ranks, hidden, *[ones] * 5)
    for figure in (RankStability(ranks, *[ones] * 4, 3).plot(), evidence.plot()):
        for panel in figure.axes:
            assert (panel.get_xticks() % 1 == 0).all()


def test_without_matplotlib_they_say_what_to_install(model, X, monkeypatch):
    stability = RankStability(*np.ones((5, 2)), 1)
    draws = (
        lambda: ComponentsDisplay.from_estimator(model),
        lambda: ComponentsDisplay.from_estimator(model, image_shape=(8, 8)),
        lambda: ConvergenceDisplay.from_estimator(model),
        lambda: CodesDisplay.from_estimator(model),
        lambda: GraphDisplay.from_estimator(model, X),
        lambda: SelectionDisplay.from_estimator(model),
        lambda: ConsensusDisplay.from_consensus(TWO_RUNS),
        model.selection_.plot,
        TWO_RUNS.plot,
        stability.plot,
    )
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    for draw in draws:
        with pytest.raises(ModuleNotFoundError, match="Plots need matplotlib"):
            draw()

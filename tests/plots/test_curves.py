"""Pictures of a choice, of evidence and of a consensus."""

import numpy as np
from matplotlib.figure import Figure

from partwise.plots import Curve, draw_consensus, draw_curves, draw_paths, picture_bytes
from partwise.selection import Consensus, Path, RankEvidence, Selection


def path(values, n_starts):
    rng = np.random.RandomState(0)
    values = np.asarray(values)
    criteria = {name: rng.uniform(size=(len(values), n_starts)) for name in ("connectedness", "silhouette")}
    return Path(
        "graph_strength",
        values,
        criteria,
        np.ones(len(values)),
        ("silhouette",),
        values[1],
        0,
        np.ones((len(values), 1)),
    )


def test_paths_show_every_criterion_and_the_choice():
    figure = draw_paths([path([0.0, 0.1, 1.0, 10.0], 2), path([3, 5, 10], 1)])
    assert [axes.get_title() for axes in figure.axes] == ["connectedness", "silhouette (decides)", "stability"] * 2
    first = figure.axes[0]
    assert len(first.lines) == 3  # two starts, and the choice
    assert first.get_xscale() == "log"
    assert first.lines[2].get_xdata()[0] == 0.1
    assert [label.get_text() for label in first.get_xticklabels()] == ["0", "0.1", "10"]
    assert len(figure.axes[3].lines) == 2
    assert picture_bytes(figure).startswith(b"\x89PNG")


def test_curves_have_error_bars():
    places = np.array([2, 3, 4])
    figure = draw_curves([Curve("loss", places, places / 2, places / 10), Curve("other", places, places)], "k")
    assert [axes.get_title() for axes in figure.axes] == ["loss", "other"]
    assert figure.axes[0].get_xlabel() == "k"
    assert len(figure.axes[0].containers[0].lines[2]) == 1


def test_results_draw_themselves():
    ones = np.ones(2)
    evidence = RankEvidence(np.array([2, 3]), None, ones, ones, ones, ones, ones)
    consensus = Consensus(np.array([[0, 0, 1, 1], [0, 1, 1, 1]]), 2, np.arange(4))
    selection = Selection({"graph_strength": 0.1}, (path([0.0, 0.1, 1.0, 10.0], 2),), 10, 10)
    for result in (evidence, consensus, selection):
        assert isinstance(result.plot(), Figure)


def test_matrix_is_shown_as_it_is():
    matrix = np.array([[1.0, 0.25], [0.25, 1.0]])
    figure = draw_consensus(matrix, 0.9876)
    assert np.array_equal(figure.axes[0].images[0].get_array(), matrix)
    assert "0.988" in figure.axes[0].get_title()

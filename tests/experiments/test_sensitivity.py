"""What finished runs say about grids, and the draw that is displayed."""

from dataclasses import replace

import numpy as np
import pytest
from tiny import PROTOCOL, carry_out

from partwise.experiments import Journal, reproduce
from partwise.experiments.example import example
from partwise.experiments.plan import Place, Plan
from partwise.experiments.protocol import FigurePlan
from partwise.experiments.sensitivity import sensitivities


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    return carry_out(tmp_path_factory.mktemp("runs") / "tiny.csv", repeats=2)


def test_means_over_the_grid(done):
    plan, journal = done
    found = {grid.metric: grid for grid in sensitivities(plan, journal)}
    assert list(found) == ["accuracy", "nmi_max"]
    grid = found["accuracy"]
    assert (grid.method, grid.dataset, grid.values) == ("GNMF", "Digits", {"graph_strength": [1.0, 10.0]})
    method = PROTOCOL.methods["GNMF"]
    for setting in method.settings("Digits"):
        scores = [journal.scores(plan.run(place, method, setting, draw)) for place in plan.places for draw in (0, 1)]
        expected = np.mean([score["accuracy"] for score in scores])
        assert grid.means[(setting["graph_strength"],)] == pytest.approx(expected)


def test_example_is_the_first_draw(done):
    plan, journal = done
    shown = example(plan, journal)
    assert shown.data.name == "Digits, 3 classes"
    assert len(shown.data.class_names) == 3
    place = next(place for place in plan.places if place.n_clusters == 3)
    for outcome in shown.outcomes:
        method = PROTOCOL.methods[outcome.name]
        setting = next(iter(plan.best_settings(journal, place, method).values()))
        measured = journal.scores(plan.run(place, method, setting, 0))
        assert 100 * outcome.accuracy == pytest.approx(measured["accuracy"], abs=1e-3)
    assert {"GNMF", "CNMF", "partwise"} <= {outcome.name for outcome in shown.outcomes}


def test_a_figure_of_the_paper_is_drawn_and_nothing_is_chosen_from_it(tmp_path):
    values = {"graph_strength": [0.0, 100.0], "n_neighbors": [2, 3], "max_iter": 3}
    method = replace(PROTOCOL.methods["GNMF"], figure=FigurePlan(values, {"Digits": [3]}))
    protocol = replace(PROTOCOL, methods={"GNMF": method})
    plan, journal = Plan(protocol, repeats=1), Journal(tmp_path / "tiny.csv")
    reproduce(plan, journal)
    grid, figure = (found for found in sensitivities(plan, journal) if found.metric == "accuracy")
    assert grid.values == {"graph_strength": [1.0, 10.0]}
    assert figure.values == {"graph_strength": [0.0, 100.0], "n_neighbors": [2, 3]}
    assert set(figure.means) == {(0.0, 2), (0.0, 3), (100.0, 2), (100.0, 3)}
    place = Place("Digits", 3)
    run = plan.run(place, method, method.settings("Digits", drawn=True)[-1], 0)
    assert (run.setting["max_iter"], run.setting_text) == (3, "graph_strength=100.0 max_iter=3 n_neighbors=3")
    assert figure.means[(100.0, 3)] == journal.scores(run)["accuracy"]
    assert all(best["graph_strength"] in (1.0, 10.0) for best in plan.best_settings(journal, place, method).values())
    assert not list(Plan(protocol, table="1", repeats=1).figure_runs())

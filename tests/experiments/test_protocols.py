"""Protocols agree with the printed tables, preprocessing with its formulas, verdicts with their definition."""

import math
from dataclasses import fields, replace

import numpy as np
import pytest
import scipy.sparse as sp
from tiny import PROTOCOL, carry_out

from partwise.datasets import CATALOGUE
from partwise.experiments import Journal, compare, load_protocol, paper_names, printed_numbers, read_cells, write_cells
from partwise.experiments.paper_starts import LABELS, STARTS
from partwise.experiments.plan import Place, Plan
from partwise.experiments.preparation import (
    STEPS,
    Sample,
    draw_classes,
    draw_labels,
    occurrence,
    prepare,
    tf_idf,
)
from partwise.experiments.protocol import DataPlan, MethodPlan
from partwise.experiments.runs import is_available
from partwise.experiments.tables import (
    counts,
    counts_line,
    markdown_tables,
    plain_shares,
    plain_tables,
    summary_table,
)
from partwise.experiments.verdicts import Cell, Measured, verdict

PAPERS = list(paper_names())


def test_all_printed_numbers_are_there():
    numbers = [number for paper in paper_names().values() for number in printed_numbers(paper)]
    assert len(numbers) == 1292
    assert len(set(numbers)) == 1292
    assert sum(number.dataset in ("JAFFE", "PIE") for number in numbers) == 112


@pytest.mark.parametrize("paper", PAPERS)
def test_protocols_cover_their_tables(paper):
    protocol = load_protocol(paper)
    assert {number.method for number in protocol.numbers} == set(protocol.methods) - {"partwise"}
    assert {number.dataset for number in protocol.numbers} == set(protocol.datasets)
    assert set(protocol.own_methods) <= set(protocol.methods)
    for name, plan in protocol.datasets.items():
        assert CATALOGUE[plan.data].classes == plan.classes
        assert max(n.n_clusters or 0 for n in protocol.numbers if n.dataset == name) <= plan.classes
        assert set(plan.prepare) <= set(STEPS)
    for method in protocol.methods.values():
        assert method.start in {None, *STARTS}
        assert method.labels in {None, *LABELS}
        assert set(method.on) <= set(protocol.datasets)
        assert set(method.prepare) <= set(STEPS)


@pytest.mark.parametrize("paper", PAPERS)
def test_methods_accept_their_parameters(paper):
    """Of the estimators that exist: all settings are valid."""
    from partwise.experiments.runs import find_estimator

    protocol = load_protocol(paper)
    for method in filter(is_available, protocol.methods.values()):
        for dataset in protocol.datasets:
            for setting in method.settings(dataset):
                model = find_estimator(method.estimator)(**setting)
                model._validate_params()


def test_settings():
    method = MethodPlan("m", "e", {"a": 1, "scale": "none"}, {"b": [1, 2], "c": [3, 4]}, {"D": {"b": 7, "a": [8, 9]}})
    assert method.settings("other") == [{"a": 1, "scale": None, "b": b, "c": c} for b in (1, 2) for c in (3, 4)]
    assert method.settings("D") == [{"a": a, "scale": None, "b": 7, "c": c} for a in (8, 9) for c in (3, 4)]


def test_tf_idf_entry_by_entry():
    counts_ = np.array([[3.0, 0, 1], [1, 0, 0], [2, 0, 5]])
    expected = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            if counts_[i, j]:
                expected[i, j] = (1 + math.log(counts_[i, j])) * math.log(3 / (counts_[:, j] > 0).sum())
    np.testing.assert_allclose(tf_idf(sp.csr_array(counts_)).toarray(), expected)


def test_occurrence_counts_once():
    counts_ = sp.csr_array(np.array([[3.0, 0, 1], [1, 0, 0]]))
    np.testing.assert_array_equal(occurrence(counts_).toarray(), counts_.toarray() > 0)
    assert counts_.max() == 3


def test_every_so_many_samples_of_a_class_and_the_first_ones():
    all_of_them = prepare(DataPlan("d", "digits", 10), ())
    some = prepare(DataPlan("d", "digits", 10, every=10), ())
    for label in range(10):
        members = all_of_them.X[all_of_them.y == label]
        np.testing.assert_array_equal(some.X[some.y == label], members[::10])
    first = prepare(DataPlan("d", "digits", 10, first=50), ("unit maximum",))
    np.testing.assert_array_equal(first.X * 16, all_of_them.X[:50])


def test_draws():
    rng = np.random.RandomState(0)
    X = sp.csr_array(np.kron(np.eye(5), rng.uniform(1, 2, size=(4, 3))))
    sample = Sample(X, np.repeat(np.arange(5), 4))
    drawn = draw_classes(sample, 2, 3)
    assert drawn.X.shape == (8, 6)
    np.testing.assert_array_equal(drawn.y, np.repeat([0, 1], 4))
    with pytest.raises(ValueError, match="6 classes were asked for, but there are 5"):
        draw_classes(sample, 6, 0)
    known = draw_labels(sample.y, 2, 0)
    for label in range(5):
        assert (known == label).sum() == 2
        assert set(sample.y[known == label]) == {label}


def of(mean, error, repeats=10):
    return Measured(mean, error, repeats)


@pytest.mark.parametrize(
    ("printed", "error", "found", "expected"),
    [
        (80.0, 0.3, of(82.9, 0.3), "equal"),
        (80.0, 0.3, of(83.1, 0.3), "better"),
        (80.0, 0.3, of(76.9, 0.3), "short"),
        # Two errors of the difference: 2 √(1.2² + 1.6²) = 4.
        (80.0, 1.2, of(76.1, 1.6), "equal"),
        (80.0, 1.2, of(75.9, 1.6), "short"),
        # … but five points at most.
        (80.0, 4.0, of(84.9, 3.0), "equal"),
        (80.0, 4.0, of(85.1, 3.0), "better"),
        # The error of a printed number may be unknown.
        (80.0, None, of(83.9, 2.0), "equal"),
        (80.0, None, of(84.1, 2.0), "better"),
        (80.0, 5.0, of(80.0, 0.0, 4), "too few runs"),
        # An average of single runs.
        (80.0, 5.0, of(80.0, None, 6), "too few runs"),
        (80.0, None, None, "not run"),
        (None, None, of(1.0, 1.0), ""),
    ],
)
def test_verdicts(printed, error, found, expected):
    assert verdict(printed, error, found) == expected


def test_errors_of_means_and_of_averages(measured):
    """The error of an average is that of a mean over all of its runs."""
    assert Measured.of([1.0, 3.0, 5.0]) == Measured(3.0, pytest.approx(2 / 3**0.5), 3, pytest.approx(2.0))
    assert Measured.of([7.0]).error is None
    cells = {c.n_clusters: c for c in compare(*measured) if (c.method, c.metric) == ("GNMF", "accuracy")}
    two, three, average = cells["2"], cells["3"], cells["Avg"]
    assert three.error == pytest.approx(three.std / 5**0.5, abs=0.01)
    assert average.error == pytest.approx(math.hypot(two.error, three.error) / 2, abs=0.01)
    assert (average.repeats, average.std) == (10, None)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    return carry_out(tmp_path_factory.mktemp("runs") / "runs.csv")


def test_cells_are_means_over_the_best_setting(measured):
    """GNMF, k = 3, accuracy, from the journal by hand."""
    plan, journal = measured
    method = PROTOCOL.methods["GNMF"]
    place = Place("Digits", 3)
    by_setting = {
        strength: [
            journal.scores(plan.run(place, method, {**method.settings("Digits")[0], "graph_strength": strength}, draw))
            for draw in range(5)
        ]
        for strength in (1.0, 10.0)
    }
    best = max(by_setting, key=lambda s: sum(score["accuracy"] for score in by_setting[s][:2]))
    values = [score["accuracy"] for score in by_setting[best]]
    cells = {(c.method, c.metric, c.n_clusters): c for c in compare(plan, journal)}
    cell = cells["GNMF", "accuracy", "3"]
    assert cell.mean == pytest.approx(np.mean(values), abs=0.006)
    assert cell.std == pytest.approx(np.std(values, ddof=1), abs=0.006)
    assert cell.repeats == 5
    average = cells["GNMF", "accuracy", "Avg"]
    assert average.mean == pytest.approx((cell.mean + cells["GNMF", "accuracy", "2"].mean) / 2, abs=0.01)


def test_half_a_grid_is_a_smaller_grid(measured, tmp_path):
    """The first setting on two draws, the second on none, then on one."""
    plan, _ = measured
    method, place, half = PROTOCOL.methods["GNMF"], Place("Digits", 3), Journal(tmp_path / "runs.csv")
    assert plan.best_settings(half, place, method) == {}
    first, second = method.settings("Digits")
    for setting, draw in ((first, 0), (first, 1)):
        run = plan.run(place, method, setting, draw)
        half.add(run, {"accuracy": 50.0 + 40 * draw, "nmi_max": 1.0})
    assert plan.best_settings(half, place, method)["accuracy"] == first
    half.add(plan.run(place, method, second, 0), {"accuracy": 51.0, "nmi_max": 1.0})
    assert plan.best_settings(half, place, method)["accuracy"] == second


def test_cells_beyond_the_paper(measured):
    cells = compare(*measured)
    assert all(c.printed_mean is None and c.verdict == "" for c in cells if c.method == "partwise")
    assert {c.method for c in cells if c.metric == "accuracy_unlabelled"} == {"CNMF"}
    assert {c.verdict for c in cells if c.method == "Unheard"} == {"not run"}
    assert {c.verdict for c in cells if c.method == "CNMF" and c.printed_mean} == {"better"}
    assert sum(counts(cells).values()) == 24


def test_tidy_file_round_trip(measured, tmp_path):
    cells = compare(*measured)
    write_cells(tmp_path / "tiny.csv", cells)
    assert read_cells(tmp_path / "tiny.csv") == cells
    header = (tmp_path / "tiny.csv").read_text().splitlines()[0]
    assert header.split(",") == [field.name for field in fields(Cell)]


def test_tables(measured):
    cells = compare(*measured)
    text = "\n".join(plain_tables(cells))
    assert "\nTable 1, Digits, accuracy, 5 runs per cell" in f"\n{text}"
    assert "\nNot in the paper, beside Table 1, Digits, accuracy_unlabelled, 5 runs per cell" in text
    assert "99.9 / " in text
    assert "50 / not run" in text
    assert "| k | Kmeans | GNMF | CNMF | Unheard | partwise |" in markdown_tables(cells)
    assert "| CNMF | 6 | 6 | 0 | 0 | 0 | 0 | 0 | 100% | 100% | 0% |" in summary_table(cells, "method")
    assert counts_line(cells).startswith(f"{counts(cells)['better']} better, ")


def test_plain_shares_and_numbers_of_runs():
    cells = [
        Cell("p", "1", "d", k, "accuracy", "m", 80.0, None, mean, None, None, repeats, "equal")
        for k, mean, repeats in (("2", 79.5, 10), ("3", 77.5, 10), ("4", 90.0, 3), ("5", 70.0, 10), ("Avg", 79.3, 33))
    ]
    assert plain_shares(cells) == {"≥ printed − 1": 0.6, "≥ printed − 3": 0.8, "within 3": 0.6}
    assert plain_shares(replace(cell, printed_mean=None) for cell in cells) == {}
    (title, _, two, *_), text = plain_tables(cells), "\n".join(plain_tables(cells))
    assert title.endswith("10 runs per cell")
    assert "(10)" not in two
    assert "90.0 (3) =" in text
    assert "79.3 =" in text
    assert "60% ≥ printed − 1, 80% ≥ printed − 3, 60% within 3" in text


def test_draws_of_cells():
    protocol = load_protocol("rls-nmf")
    plan = Plan(protocol)
    some, all_of_them = Place("COIL20", 4), Place("COIL20", 20)
    assert plan.draws(some) == range(10)
    assert plan.grid_draws(some) == range(3)
    assert plan.draws(all_of_them) == range(10)
    assert (plan.printed_repeats(some), plan.printed_repeats(all_of_them)) == (10, 1)
    fresh = Plan(protocol, repeats=4, first_draw=1000)
    assert fresh.draws(some) == range(1000, 1004)
    assert fresh.grid_draws(some) == range(1000, 1003)


def test_a_new_version_of_a_method_makes_new_runs(measured):
    plan, journal = measured
    method, place = PROTOCOL.methods["GNMF"], Place("Digits", 3)
    old, new = (plan.run(place, m, m.settings("Digits")[0], 0) for m in (method, replace(method, version=2)))
    assert old in journal
    assert new not in journal


def test_a_plan_without_data(no_data, tmp_path):
    protocol = load_protocol("rls-nmf")
    plan = Plan(protocol, table="1", repeats=1)
    assert list(plan.absent) == ["JAFFE"]
    assert "Put jaffe.npz" in plan.absent["JAFFE"]
    assert list(plan.grid_runs()) == []

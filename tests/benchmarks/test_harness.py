"""The benchmark harness on tiny workloads: it measures what it says, and names what it cannot measure."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)


def test_a_peer_from_the_same_start():
    from benchmarks import nmf, peers

    rows = nmf.against_peers("digits", 3, np.float64, (peers.CD,), sweeps=8, seeds=(0, 1, 2))
    assert [row.against for row in rows] == ["scikit-learn cd"]
    assert 0.9 < rows[0].our_end / rows[0].their_end < 1.1


def test_missing_and_broken_peers_are_named():
    from benchmarks import nmf, peers

    def broken(X, W, H, sweeps):
        raise RuntimeError("no such luck")

    missing = replace(peers.CD, name="a", package="no_such_package")
    failing = replace(peers.CD, name="b", solve=broken)
    rows = nmf.against_peers("digits", 2, np.float64, (missing, failing), sweeps=2, seeds=(0,))
    assert [(row.against, row.note) for row in rows] == [
        ("a", "no_such_package is not installed: pip install 'partwise[bench]'"),
        ("b", "sklearn does not run here: RuntimeError: no such luck"),
    ]


def test_stepping_a_peer_changes_nothing():
    from benchmarks import peers, problems

    X, _, _ = problems.problem("digits")
    W, H = problems.start(X, 3, 0)
    whole, stepped = peers.CD.run(X, W, H, 6), peers.CD.run(X, W, H, 6, chunk=2)
    assert len(stepped.trace) == 3
    assert stepped.objective == pytest.approx(whole.objective, rel=1e-12)


def test_a_solver_against_the_rules():
    from benchmarks import penalised

    rows = penalised.constrained_nmf("digits", sweeps=(3, 20), seeds=(0,))
    assert [row.against for row in rows] == ["multiplicative"] * 2
    assert all(row.figure > 0 for row in rows)


def test_cauchy_nmf_against_the_rules():
    from benchmarks import penalised

    (row,) = penalised.cauchy_nmf("digits", sweeps=(10,), seeds=(0,))
    assert row.figure > 0
    assert row.our_end <= row.their_end


def test_eigenvectors_of_a_cut():
    from benchmarks import cuts

    (row,) = cuts.against_scikit_learn(400, k=4, repeats=1)
    assert row.our_end == pytest.approx(row.their_end, abs=1e-6)


def test_files_hold_every_row_and_the_verdict(tmp_path, monkeypatch):
    from benchmarks import table

    monkeypatch.setattr(table, "RESULTS", tmp_path)
    rows = [
        table.ratios("a", [1.0, 2.0, 1.0], [4.0, 4.0, 5.0], needed="≥ 4"),
        table.Row("b", figure=1.3, needed="≤ 1.2"),
        table.Row("c", note="not measured, yet", needed="≥ 2"),
    ]
    assert [row.met for row in rows] == ["yes", "no", ""]
    for row in rows:
        row.name = row.case
    table.update(rows, "abc", table.machine("quick"), "quick")
    assert (tmp_path / "quick.csv").read_text().count("\n") == 4
    assert "not measured" in (tmp_path / "quick.md").read_text()
    assert str(Path.home()) not in (tmp_path / "quick.md").read_text()


def test_a_case_that_is_run_again_takes_the_place_of_its_rows(tmp_path, monkeypatch):
    from benchmarks import table

    monkeypatch.setattr(table, "RESULTS", tmp_path)
    info = table.machine("full")
    first = [table.Row("1", figure=1.5, name="a"), table.Row("2", note="x, y", name="b"), table.Row("3", name="gone")]
    table.update(first, ["b", "a", "gone"], info, "full")
    table.update([table.Row("4", figure=0.1, name="b"), table.Row("5", name="b")], ["a", "b"], info, "full")
    assert [(row.name, row.case) for row in table.read("full")] == [("a", "1"), ("b", "4"), ("b", "5")]
    assert table.read("full")[0].figure == 1.5


def test_the_command_lists_its_cases():
    command = [sys.executable, "-m", "benchmarks", "--list", "--only", "graph-*"]
    out = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert "graph-coil20-1" in out.split()


def test_the_page_of_performance_shows_the_committed_results():
    from benchmarks import summary, table

    page = (ROOT / "docs" / "site" / "inside" / "performance.md").read_text("utf-8")
    missing = [line for line in summary.lines(table.read("full")) if line not in page.splitlines()]
    assert not missing


def test_replicates_beside_single_fits():
    from benchmarks import replicates

    (row,) = replicates.against_single_fits("digits", 3, 3)
    assert row.our_end == pytest.approx(row.their_end, rel=1e-4)
    assert row.figure > 0
    assert "product rates allow" in row.note


def test_planted_signatures():
    from benchmarks import replicates

    X, truth = replicates.catalogue(n_tumours=50)
    assert X.shape == (50, 96)
    assert truth.sum(axis=1) == pytest.approx(1)

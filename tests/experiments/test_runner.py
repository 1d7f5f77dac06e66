"""The runner: nothing twice, nothing lost, and results that depend on the run alone."""

import gzip
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tiny import PROTOCOL, carry_out

from partwise.experiments import Journal, JournalInUse, reproduce, runner
from partwise.experiments.plan import Plan
from partwise.experiments.runs import execute

PROGRAM = Path(__file__).parent / "tiny.py"


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    path = tmp_path_factory.mktemp("undisturbed") / "runs.csv"
    carry_out(path)
    return packed(path).read_bytes()


def packed(path):
    """Where the lines are in the end."""
    return path.with_name("runs.csv.gz")


def start(path, jobs):
    return subprocess.Popen(
        [sys.executable, str(PROGRAM), str(path), str(jobs)], stdout=subprocess.PIPE, text=True, process_group=0
    )


def test_all_runs_are_there(undisturbed, tmp_path):
    """2 places × (5 repeats of 3 methods without a grid, 2 settings × 2 draws and at least one more × 2 of GNMF)."""
    (tmp_path / "runs.csv.gz").write_bytes(undisturbed)
    lines = gzip.decompress(undisturbed).decode().splitlines()
    assert len(lines) - 1 >= 2 * (3 * 5 + 2 * 2 + 3)
    plan, journal = Plan(PROTOCOL), Journal(tmp_path / "runs.csv")
    assert all(run in journal for run in [*plan.grid_runs(), *plan.further_runs(journal)])
    assert not any("Unheard" in line for line in lines)


def test_killed_and_started_again(undisturbed, tmp_path):
    """SIGKILL in the middle, a torn line on top of it, then a second start: the same bytes as without all that.

    And as without workers: the undisturbed run was made in one process.
    """
    path = tmp_path / "runs.csv"
    with start(path, 2) as process:
        for line in process.stdout:
            if int(line.split()[0]) >= 5:
                break
        os.kill(process.pid, signal.SIGKILL)
        # Workers hold the other end of the pipe: it is closed when the last of them has left.
        process.stdout.read()
    done = path.read_bytes()
    assert 5 <= done.count(b"\n") - 1 < gzip.decompress(undisturbed).count(b"\n") - 1
    path.write_bytes(done + b"Digits,3,CN")
    with start(path, 2) as process:
        process.communicate(timeout=300)
    assert process.returncode == 0
    assert packed(path).read_bytes() == undisturbed
    assert list(tmp_path.iterdir()) == [packed(path)]


def test_killed_while_packing(undisturbed, tmp_path):
    """The packed file is whole before the other one is removed: lines that stand in both count once."""
    path = tmp_path / "runs.csv"
    packed(path).write_bytes(undisturbed)
    path.write_bytes(gzip.decompress(undisturbed))
    Journal(path).tidy()
    assert packed(path).read_bytes() == undisturbed
    assert list(tmp_path.iterdir()) == [packed(path)]


def test_lines_that_were_never_packed_are_read(undisturbed, tmp_path, monkeypatch):
    path = tmp_path / "runs.csv"
    path.write_bytes(gzip.decompress(undisturbed))
    monkeypatch.setattr(runner, "execute", lambda run: pytest.fail(f"{run} was made already"))
    carry_out(path)
    assert packed(path).read_bytes() == undisturbed


def test_nothing_is_computed_twice(undisturbed, tmp_path, monkeypatch):
    path = tmp_path / "runs.csv"
    packed(path).write_bytes(undisturbed)
    monkeypatch.setattr(runner, "execute", lambda run: pytest.fail(f"{run} was made already"))
    carry_out(path)
    assert packed(path).read_bytes() == undisturbed


def test_part_of_a_plan_leaves_other_lines_alone(undisturbed, tmp_path):
    path = tmp_path / "runs.csv"
    carry_out(path, method="Kmeans", repeats=1)
    assert gzip.decompress(packed(path).read_bytes()).count(b"\n") == 1 + 2
    carry_out(path)
    assert packed(path).read_bytes() == undisturbed


def test_a_run_depends_on_nothing_but_itself():
    runs = list(Plan(PROTOCOL, repeats=1).grid_runs())
    there = {run.digest: execute(run) for run in runs}
    back = {run.digest: execute(run) for run in reversed(runs)}
    assert there == back
    assert len(there) == len(runs)


def test_the_rule_for_clusters_is_part_of_a_run():
    run = next(Plan(PROTOCOL, method="GNMF").grid_runs())
    other = replace(run, method=replace(run.method, labels="one k-means"))
    assert other.digest != run.digest
    assert execute(other) == execute(other)


def test_methods_share_classes_and_settings_share_starts():
    runs = [run for run in Plan(PROTOCOL, repeats=1).grid_runs() if run.n_clusters == 3]
    assert len({run.seeds[0] for run in runs}) == 1
    grid = [run for run in runs if run.method.name == "GNMF"]
    assert len(grid) == 2
    assert len({run.seeds for run in grid}) == 1
    assert len({run.digest for run in grid}) == 2


def test_two_processes_do_not_write_to_one_file(tmp_path):
    journal = Journal(tmp_path / "runs.csv")
    with journal.alone(), pytest.raises(JournalInUse, match="another process is working on"):
        carry_out(tmp_path / "runs.csv")
    assert list(tmp_path.iterdir()) == []


def test_an_interruption_keeps_what_is_done(tmp_path):
    def interrupt(done, total, left):
        assert left is not None
        assert done <= total
        if done == 3:
            raise KeyboardInterrupt

    journal = Journal(tmp_path / "runs.csv")
    with pytest.raises(KeyboardInterrupt):
        reproduce(Plan(PROTOCOL, method="Kmeans"), journal, 1, interrupt)
    assert len((tmp_path / "runs.csv").read_text().splitlines()) == 1 + 3

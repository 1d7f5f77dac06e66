"""Every Python block of the documents a newcomer reads runs as written, and so do shell commands."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from partwise.datasets import load
from partwise.experiments import compare_methods

ROOT = Path(__file__).parents[2]
COMMAND_LINE, PERFORMANCE = "docs/site/guide/command-line.md", "docs/site/inside/performance.md"
# Commands of the README that are not run here, and why.
NOT_RUN = {
    "make test": "it runs this test",
    "pip install .": "it needs a network and changes the environment",
    "pip install '.[cli]'": "it needs a network and changes the environment",
}


@pytest.fixture(autouse=True)
def one_thread():
    """As the command does: small data gains nothing from more, and loses much on a busy machine."""
    with threadpool_limits(1):
        yield


def blocks(name):
    """The Python blocks of a document, each with the line it starts on."""
    text = (ROOT / name).read_text(encoding="utf-8")
    for match in re.finditer(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        yield text[: match.start()].count("\n") + 1, match[1]


def commands(name):
    """The commands of the shell blocks of a document; one that opens a quotation continues to its end."""
    text = (ROOT / name).read_text(encoding="utf-8")
    for block in re.findall(r"^```sh\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        command = ""
        for line in block.splitlines():
            command += line
            try:
                shlex.split(command, comments=True)
            except ValueError:  # no closing quotation
                command += "\n"
                continue
            yield re.sub(r"\s+# .*$", "", command)
            command = ""
        assert not command


def recipe(target):
    """The first command by which make makes a target, without the place of the environment."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    return re.search(rf"^{target}:.*\n\t(.*)$", text, re.MULTILINE)[1].replace("$(BIN)/", "")


def stand_in(folder):
    """Small texts in place of a paper's: 30 classes, each with its own frequent words."""
    rng = np.random.RandomState(0)
    y = np.repeat(np.arange(30), 3)
    counts = sp.csr_array(rng.poisson(8 * rng.gamma(0.2, size=(30, 25))[y]) + np.eye(25, dtype=int)[0])
    parts = {part: getattr(counts, part) for part in ("data", "indices", "indptr", "shape")}
    folder.mkdir()
    np.savez(folder / "reuters.npz", y=y, **parts)
    return folder


def test_shell_commands_run_in_order(tmp_path):
    """Each in its own process, in a folder that is empty before the first."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PARTWISE_DATA": str(stand_in(tmp_path / "data")),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    here = tmp_path / "empty"
    here.mkdir()
    said = {}
    for command in [*commands("README.md"), *commands(COMMAND_LINE)]:
        if command in NOT_RUN:
            continue
        run = recipe(command.removeprefix("make ")) if command.startswith("make ") else command
        ended = subprocess.run(
            run, shell=True, cwd=here, env=environment, capture_output=True, text=True, check=False, timeout=600
        )
        assert ended.returncode == 0, f"{run}: {ended.stderr}"
        assert "Traceback" not in ended.stderr
        said[command] = ended.stdout
    assert len(said) >= 7
    made = {path.name for path in here.iterdir()}
    assert made == {
        *("partwise-digits.html", "digits.npz", "new.csv", "model.npz", "codes.csv", "digits.html", "results"),
    }
    assert (here / "codes.csv").read_text().count("\n") == 101
    assert "(10, 64)\n" in said.values()


def test_all_shell_commands_are_in_blocks_that_are_run():
    text = re.sub(r"^```.*?^```$", "", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    assert not re.findall(r"^ {4}(?:partwise|python|make|pip) .*$", text, re.MULTILINE)
    assert set(NOT_RUN) <= set(commands("README.md"))


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "docs/selection.md"])
def test_blocks_run_in_order(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__main__"}
    found = list(blocks(name))
    assert found
    for line, code in found:
        # Leading newlines make a traceback point at the line of the document.
        exec(compile("\n" * line + code, str(ROOT / name), "exec"), namespace)


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/selection.md"])
def test_links_lead_somewhere(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", text):
        assert ((ROOT / name).parent / target).exists(), f"{name} points to {target}, which is not there."


def test_table_holds_what_the_command_gives():
    text = (ROOT / PERFORMANCE).read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\w-]+) \| ([\d.*]+) \| ([\d.*]+) \| ([\d.*]+) \| ([\d.*]+) \|$", text, re.MULTILINE)
    stated = {name: [float(number.strip("*")) for number in numbers] for name, *numbers in rows}
    outcomes = compare_methods(load("digits")).outcomes
    assert list(stated) == [outcome.name for outcome in outcomes]
    for outcome in outcomes:
        found = [outcome.accuracy, outcome.unlabelled, outcome.nmi, outcome.purity]
        # Other processors round differently, and may lead to other local minima.
        assert found == pytest.approx(stated[outcome.name], abs=0.01)

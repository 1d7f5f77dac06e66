"""Every Python block of the documents a newcomer reads runs as it stands."""

import re
from pathlib import Path

import pytest
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

from partwise.callbacks import Callback
from partwise.datasets import load
from partwise.experiments.comparison import default_methods, run_method
from partwise.experiments.preparation import draw_labels

ROOT = Path(__file__).parents[2]


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


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "docs/selection.md"])
def test_blocks_run_in_order(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__main__"}
    found = list(blocks(name))
    assert len(found) >= 2
    for line, code in found:
        # Leading newlines make a traceback point at the line of the document.
        exec(compile("\n" * line + code, str(ROOT / name), "exec"), namespace)


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/selection.md"])
def test_links_lead_somewhere(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", text):
        assert ((ROOT / name).parent / target).exists(), f"{name} points to {target}, which is not there."


def test_table_holds_what_the_command_gives():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\w-]+) \| ([\d.*]+) \| ([\d.*]+) \| ([\d.*]+) \| ([\d.*]+) \|$", text, re.MULTILINE)
    stated = {name: [float(number.strip("*")) for number in numbers] for name, *numbers in rows}
    data = load("digits")
    X, known = normalize(data.X), draw_labels(data.y, 5, 0)
    methods = default_methods(10, seed=0)
    assert list(stated) == [method.name for method in methods]
    for method in methods:
        outcome = run_method(method, X, data.y, known, Callback())
        found = [outcome.accuracy, outcome.unlabelled, outcome.nmi, outcome.purity]
        # Other processors round differently, and may lead to other local minima.
        assert found == pytest.approx(stated[method.name], abs=0.01)

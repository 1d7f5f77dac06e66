"""The ruler counts what its definitions say, and its page is what was recorded."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

ESTIMATOR = '''\
"""A method."""

from ..core import door


class Method:
    """Minimises

        ‖X − W H‖²

    Parameters
    ----------
    strength : float
    """

    def __init__(self, strength):
        self.strength = strength

    @property
    def terms(self):
        """What it is made of."""
        # A comment.
        def inner():
            return door

        return [
            inner,
        ]
'''


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)


@pytest.fixture
def package(tmp_path):
    files = {
        "__init__.py": "from .estimators import Method\n",
        "core/__init__.py": "",
        "core/door.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ..report import page\n",
        "estimators/__init__.py": '__all__ = ["Method"]\n',
        "estimators/method.py": ESTIMATOR,
        "estimators/base.py": "x = 1\n\n",
        "report.py": "def page():\n    from . import Method, __version__\n",
    }
    for name, text in files.items():
        path = tmp_path / "partwise" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "partwise"


def modules(package):
    from docs.house import Module

    return {path.relative_to(package): Module(path) for path in package.rglob("*.py")}


def test_page_is_up_to_date():
    from docs.house import PAGE, page

    assert PAGE.read_text(encoding="utf-8") == page(), "Run python -m docs.house --record NAME."


def test_functions_are_measured_by_their_code(package):
    functions = modules(package)[Path("estimators/method.py")].functions()
    assert sorted(functions) == [(2, "Method.__init__"), (7, "Method.terms")]


def test_idea_is_the_objective_and_what_methods_do(package):
    from docs.house import estimator_rows

    rows = estimator_rows({path.stem: one for path, one in modules(package).items() if path.parts[0] == "estimators"})
    assert list(rows.values()) == ["28", "9 (32 %)", "19", "3"]


def test_imports_are_those_that_run(package):
    from docs.house import import_rows

    rows = import_rows(package, modules(package))
    assert rows["`estimators` imports"] == "core"
    assert rows["`report` imports"] == " (in functions: estimators)"
    assert "`core` imports" not in rows
    assert rows["cycles with those"] == "none"


@pytest.mark.parametrize(
    ("arrows", "expected"),
    [("ab bc", "none"), ("ab ba", "a ⇄ b"), ("ab bc ca de ed cd", "a ⇄ b ⇄ c; d ⇄ e")],
)
def test_cycles(arrows, expected):
    from docs.house import cycles

    assert cycles({tuple(arrow) for arrow in arrows.split()}) == expected


def test_a_line_of_code_is_no_docstring():
    from docs.house import code_lines

    text = '"""Words."""\n\nx = """\ntext\n"""  # a comment\n# alone\n'
    assert code_lines(text, ast.parse(text)) == {3, 4, 5}


@pytest.mark.parametrize("name", ["NLCF + labels, one line", "NLCF + labels, class", "semi-NMF + graph, class"])
def test_examples_work(name):
    from docs.house import SOURCE, example_lines

    assert int(example_lines(name, SOURCE)) > 0


def test_an_example_that_does_not_work_is_not_counted(tmp_path, monkeypatch):
    from docs import house

    folder = tmp_path / "semi_nmf_graph_class"
    folder.mkdir()
    (folder / "without_graph.py").write_text("from partwise import SemiNMF\n\nmodel = SemiNMF(10)\n")
    monkeypatch.setattr(house, "EXAMPLES", tmp_path)
    assert house.example_lines("semi-NMF + graph, class", house.SOURCE) == "not possible"

"""What type checkers see of the package: every name, its options as literals, and nothing that is not there."""

import ast
import inspect
import json
import os
import re
import subprocess
import sys
import typing
from pathlib import Path

import pytest
from sklearn.utils._param_validation import StrOptions

import partwise
import partwise.estimators
from partwise.testing import all_estimators

SOURCE = Path(partwise.__file__).parent

GOOD = """
import numpy as np

import partwise
from partwise import NMF, GraphNMF, load
from partwise.metrics import clustering_accuracy

X = np.random.default_rng(0).uniform(size=(20, 6))
model = NMF(3, loss="kullback-leibler", solver="multiplicative", init=(X[:, :3], X[:3]), random_state=0)
reveal_type(model)
reveal_type(model.fit(X))
reveal_type(model.n_components_)
graph = GraphNMF(range(2, 5), graph_strength="auto", metric="euclidean", use_labels=True)
reveal_type(graph.predict_classes(X))
accuracy: float = clustering_accuracy([0] * 20, graph.fit_predict(X, [0] * 20))


class Own(NMF):
    strength: float = 1.0


print(Own(3, strength=2.0, loss=1.0).strength + 1)
print(partwise.__version__, partwise.terms.Frobenius(), load("model.npz"), NMF(n_components="auto", loss=0.5))
"""
REVEALED = ("NMF", "NMF", "int", "ndarray")
BAD = """
import partwise
from partwise import NMF, GraphNMF, LocalNMF
from partwise import Nonsense
from partwise.estimators import Nonsense as Other
NMF(los="frobenius")
NMF(solver="cordinate")
NMF(3, assign=5)
GraphNMF(metric="manhattan")
GraphNMF(graph_strength="automatic")
partwise.nonsense
NMF(3, "frobenius")
LocalNMF(scale=None)
"""
# Lines of it that are wrong.
WRONG = set(range(4, 14))


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A folder with the two programs of a user."""
    folder = tmp_path_factory.mktemp("program")
    (folder / "good.py").write_text(GOOD)
    (folder / "bad.py").write_text(BAD)
    return folder


def run(command, folder, **environment):
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )


def check(found):
    """Errors and revealed types, each as (file, line, text)."""
    errors, revealed = found
    assert not [error for error in errors if error[0] == "good.py"], errors
    assert {line for file, line, _ in errors if file == "bad.py"} == WRONG, errors
    assert len(revealed) == len(REVEALED)
    for (_, _, text), name in zip(sorted(revealed), REVEALED, strict=True):
        assert re.search(rf"\b{name}\b", text), revealed
        assert "Any" not in text.split("[")[0], revealed


def test_mypy(program):
    pytest.importorskip("mypy")
    # An installed package is found by itself, and mypy wants it to be.
    path = {} if "site-packages" in SOURCE.parts else {"MYPYPATH": str(SOURCE.parent)}
    options = ("--strict", "--follow-imports=silent", "--cache-dir", str(program / "cache"))
    printed = run(("mypy", *options, "good.py", "bad.py"), program, **path).stdout
    lines = re.findall(r"^(\w+\.py):(\d+): (error|note): (.*)$", printed, re.MULTILINE)
    errors = [(file, int(line), text) for file, line, kind, text in lines if kind == "error"]
    revealed = [(file, int(line), text) for file, line, _, text in lines if text.startswith("Revealed type")]
    check((errors, revealed))


def test_basedpyright(program):
    pytest.importorskip("basedpyright")
    config = {"extraPaths": [str(SOURCE.parent)], "typeCheckingMode": "standard"}
    (program / "pyrightconfig.json").write_text(json.dumps(config))
    command = ("basedpyright", "--outputjson", "--pythonpath", sys.executable, "good.py", "bad.py")
    said = json.loads(run(command, program).stdout)["generalDiagnostics"]
    lines = [
        (entry["severity"], (Path(entry["file"]).name, entry["range"]["start"]["line"] + 1, entry["message"]))
        for entry in said
    ]
    check(tuple([place for severity, place in lines if severity == kind] for kind in ("error", "information")))


def imported_for_type_checkers(module):
    """Names that a module imports under TYPE_CHECKING."""
    names = set()
    for node in ast.parse(Path(module.__file__).read_text("utf-8")).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for line in node.body:
                assert all(alias.asname == alias.name for alias in line.names), "only `as` exports a name"
                names |= {alias.name for alias in line.names}
    return names


def test_type_checkers_see_the_names_that_there_are():
    assert imported_for_type_checkers(partwise) | {"__version__"} == {*partwise.__dir__()}
    assert {*partwise.__all__} == {*partwise.estimators.__all__, "from_anndata", "load", "to_anndata", "__version__"}
    assert imported_for_type_checkers(partwise.estimators) == {*partwise.estimators.__all__}
    assert {*partwise.estimators.HOMES} == {*partwise.estimators.__all__}


def literals(hint):
    """The words among what a type accepts."""
    if typing.get_origin(hint) is typing.Literal:
        return {*typing.get_args(hint)}
    parts = typing.get_args(hint) if not callable(getattr(hint, "mro", None)) else ()
    return set().union(*map(literals, parts)) - {None}


@pytest.mark.parametrize("kind", all_estimators().values(), ids=all_estimators().keys())
def test_options_are_the_words_that_are_accepted(kind):
    """What type checkers accept is what a fit accepts, for every parameter that has words."""
    hints = typing.get_type_hints(kind.__init__)
    assert {*kind._parameter_constraints} == {*inspect.signature(kind).parameters}
    for name, rules in kind._parameter_constraints.items():
        words = set().union(*(rule.options for rule in rules if isinstance(rule, StrOptions)))
        assert literals(hints[name]) == words, name
        assert hints[name] is not str, f"{name} takes words, and does not say which"

"""The map of CONTRIBUTING.md: which rooms of the package import which."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import partwise

PACKAGE = Path(partwise.__file__).parent
CONTRIBUTING = Path(__file__).parents[1] / "CONTRIBUTING.md"
LINE = re.compile(r"^\| (`[^|]+) \| [^|]+ \| ([^|]+) \|$", re.MULTILINE)
NAME = re.compile(r"`([\w.]+?)(?:/|\.py)?`")


def drawn_map():
    """Rooms in the order of the table, and what each imports: rooms, or single modules of them."""
    found = {}
    for rooms, imports in LINE.findall(CONTRIBUTING.read_text(encoding="utf-8")):
        for room in NAME.findall(rooms):
            found[room] = set(NAME.findall(imports))
    return found


def imports(node, folder):
    """Modules of the package that the code imports, dotted, wherever it does; not those for type checkers alone."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        if isinstance(child, ast.Import):
            # The package calls itself by relative names, which this test can follow.
            assert all(alias.name.partition(".")[0] != "partwise" for alias in child.names), ast.unparse(child)
        if isinstance(child, ast.ImportFrom):
            assert child.level or child.module.partition(".")[0] != "partwise", ast.unparse(child)
        if isinstance(child, ast.ImportFrom) and child.level:
            home = (folder / ("../" * (child.level - 1)) / (child.module or "").replace(".", "/")).resolve()
            for alias in child.names:
                inside = home / alias.name
                target = inside if inside.is_dir() or inside.with_suffix(".py").is_file() else home
                yield ".".join(target.relative_to(PACKAGE).parts) or alias.name
        yield from imports(child, folder)


def room(module):
    return module.partition(".")[0]


def imports_of(name):
    """What the files of a room import from others."""
    files = sorted((PACKAGE / name).rglob("*.py")) or [PACKAGE / f"{name}.py"]
    found = {target for file in files for target in imports(ast.parse(file.read_text("utf-8")), file.parent)}
    return {target for target in found if room(target) not in (name, "__version__")}


MAP = drawn_map()


def test_every_room_is_on_the_map():
    there = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    assert set(MAP) == there - {"__init__"}


@pytest.mark.parametrize("name", MAP)
def test_a_room_imports_what_the_map_says(name):
    modules = {entry for entry in MAP[name] if "." in entry}
    assert {target if target in modules else room(target) for target in imports_of(name)} == MAP[name]


def test_rooms_import_from_above_alone():
    place = {name: number for number, name in enumerate(MAP)}
    arrows = [(name, target) for name, targets in MAP.items() for target in targets]
    below = {(name, target) for name, target in arrows if place[room(target)] >= place[name]}
    assert below == {("kernels", "core.types")}


def test_imports_are_found_wherever_they_stand():
    code = """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from ..report import page
from .. import __version__, datasets
from ..core.types import Array
def lazily():
    from ..kernels import descent
"""
    found = set(imports(ast.parse(code), PACKAGE / "terms"))
    assert found == {"__version__", "datasets", "core.types", "kernels.descent"}
    with pytest.raises(AssertionError):
        list(imports(ast.parse("from partwise.core import door"), PACKAGE / "terms"))

"""The ruler of the house: how large partwise is, how it divides, and how its rooms hang together.

    python -m docs.house                        count this checkout, and write docs/house.md
    python -m docs.house --source OTHER/src     count another source tree by the same ruler
    python -m docs.house --record NAME          … and keep the numbers as a column of the page

Definitions
-----------
lines
    Lines of .py files, including blank ones and comments. Code lines contain something other than blanks, comments
    and docstrings.
public estimators, support modules
    The files of `estimators/` in which the classes of its `__all__` are defined; its other files.
idea
    Of the estimators' lines: class docstrings up to their first section (the objective and its paper), without blank
    lines, and the code lines of functions and methods other than `__init__`. All else is not: imports, constructors,
    declared parameters, constraint tables, documentation of parameters and attributes, blank lines.
largest functions
    By code lines; an inner function counts towards the one that contains it.
files and room changes
    As in docs/house_trace.py, which runs the package.
import graph
    Rooms are the folders and modules directly in the package. Its own `__init__` is none: a name that is imported from
    it counts for the room where it lives. An arrow is an import that runs when a module is imported; imports inside
    functions are listed apart, and those for type checkers alone are left out. A cycle is a set of rooms each of which
    reaches the others.
lines for an example
    Code lines of the shortest file in docs/house_examples/NAME that works with the source tree, as
    docs/house_example.py finds it.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import os
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PAGE = HERE / "house.md"
RECORDED = HERE / "measured" / "house.json"
SOURCE = HERE.parent / "src"
EXAMPLES = HERE / "house_examples"
SECTION = re.compile(r"^\s*(\w+)\n\s*-{3,}$", re.MULTILINE)
Function = ast.FunctionDef | ast.AsyncFunctionDef

HEAD = """\
# The house, measured

Written by `python -m docs.house` from what was recorded last; do not edit. The definitions are those of
[house.py](house.py) and [house_trace.py](house_trace.py); every column comes from the same ruler.

"""


def count(source: Path) -> dict[str, str]:
    """Every row of the table for one source tree."""
    package = source / "partwise"
    modules = {path.relative_to(package): Module(path) for path in sorted(package.rglob("*.py"))}
    rows = {"lines of `src/`": f"{sum(module.lines for module in modules.values()):,}"}
    rows |= estimator_rows({path.stem: module for path, module in modules.items() if path.parts[0] == "estimators"})
    functions = [pair for module in modules.values() for pair in module.functions()]
    for rank, (lines, name) in enumerate(sorted(functions, reverse=True)[:5], 1):
        rows[f"largest function, {rank}"] = f"{lines}: `{name}`"
    rows |= trace_rows(source)
    rows |= import_rows(package, modules)
    for example in (
        "NLCF + labels, one line",
        "NLCF + labels, class",
        "semi-NMF + graph, one line",
        "semi-NMF + graph, class",
    ):
        rows[f"lines for {example}"] = example_lines(example, source)
    return rows


class Module:
    """A source file: its syntax tree, and which of its lines are code."""

    def __init__(self, path: Path):
        self.text = path.read_text(encoding="utf-8")
        self.tree = ast.parse(self.text)
        self.lines = len(self.text.splitlines())
        self.code = code_lines(self.text, self.tree)

    def functions(self) -> Iterator[tuple[int, str]]:
        """Code lines and name of every outermost function and method."""
        for function, name in outermost(self.tree):
            yield len(self.code & lines_of(function)), name

    def idea(self) -> int:
        """Lines that say what a method is."""
        said = [
            line
            for node in ast.walk(self.tree)
            if isinstance(node, ast.ClassDef)
            for line in SECTION.split(ast.get_docstring(node) or "")[0].splitlines()
            if line.strip()
        ]
        done = (lines_of(function) for function, name in outermost(self.tree) if not name.endswith("__init__"))
        return len(said) + len(self.code & set().union(*done))


def code_lines(text: str, tree: ast.Module) -> set[int]:
    """Numbers of the lines that hold code."""
    empty = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    code = {line for token in tokens if token.type not in empty for line in range(token.start[0], token.end[0] + 1)}
    for node in ast.walk(tree):
        if isinstance(node, Function | ast.ClassDef | ast.Module) and ast.get_docstring(node) is not None:
            code -= lines_of(node.body[0])
    return code


def outermost(node: ast.AST, prefix: str = "") -> Iterator[tuple[Function, str]]:
    """Functions and methods that no other function holds, with their names."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function):
            yield child, prefix + child.name
        else:
            yield from outermost(child, f"{prefix}{child.name}." if isinstance(child, ast.ClassDef) else prefix)


def lines_of(node: Any) -> set[int]:
    """Numbers of the lines of a statement, decorators included."""
    first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", []))])
    return set(range(first, node.end_lineno + 1))


def estimator_rows(modules: dict[str, Module]) -> dict[str, str]:
    """Lines of the public estimators and of what supports them."""
    listed = next(
        ast.literal_eval(node.value)
        for node in modules["__init__"].tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    )
    names = {
        name: {node.name for node in module.tree.body if isinstance(node, ast.ClassDef)}
        for name, module in modules.items()
    }
    public = {name: module for name, module in modules.items() if names[name] & set(listed)}
    lines, idea = (sum(numbers) for numbers in zip(*((one.lines, one.idea()) for one in public.values()), strict=True))
    support = sum(module.lines for name, module in modules.items() if name not in public)
    return {
        f"lines of the {len(listed)} public estimators": f"{lines:,}",
        "… that are idea": f"{idea:,} ({100 * idea / lines:.0f} %)",
        "… that are not": f"{lines - idea:,}",
        "lines of support modules in `estimators/`": f"{support:,}",
    }


def trace_rows(source: Path) -> dict[str, str]:
    """Files and room changes of a few fits."""
    answer = run([HERE / "house_trace.py"], source, check=True)
    return {
        f"{what}: `{work}`" if "fit" in work else f"{what}: {work}": f"{number:,}"
        for work, numbers in json.loads(answer.stdout).items()
        for what, number in numbers.items()
    }


def run(command: list[Any], source: Path, check: bool = False) -> subprocess.CompletedProcess[str]:
    """A Python process that imports the package from a source tree."""
    environment = {**os.environ, "PYTHONPATH": str(source.resolve()), "OMP_NUM_THREADS": "1"}
    kept = {"stdout": subprocess.PIPE, "stderr": None if check else subprocess.PIPE}
    return subprocess.run([sys.executable, *command], env=environment, check=check, text=True, **kept)


def import_rows(package: Path, modules: dict[Path, Module]) -> dict[str, str]:
    """What every room imports, and the cycles that this makes."""
    face = ast.walk(modules[Path("__init__.py")].tree)
    homes = {alias.name: node.module for node in face if isinstance(node, ast.ImportFrom) for alias in node.names}
    arrows: set[tuple[str, str]] = set()
    late: set[tuple[str, str]] = set()
    for path, module in modules.items():
        for target, inside in imports(module.tree, path, package, homes):
            if target != room(path) and path != Path("__init__.py"):
                (late if inside else arrows).add((room(path), target))
    late -= arrows
    rows = {"arrows between rooms": str(len(arrows)), "cycles": cycles(arrows)}
    rows |= {"arrows inside functions": str(len(late)), "cycles with those": cycles(arrows | late)}
    for start in sorted({start for start, _ in arrows | late}):
        early = ", ".join(sorted(end for origin, end in arrows if origin == start))
        inner = ", ".join(sorted(end for origin, end in late if origin == start))
        rows[f"`{start}` imports"] = early + (f" (in functions: {inner})" if inner else "")
    return rows


def room(path: Path) -> str:
    """The folder or module directly in the package."""
    return path.with_suffix("").parts[0]


def imports(
    node: ast.AST, path: Path, package: Path, homes: dict[str, str | None], inside: bool = False
) -> Iterator[tuple[str, bool]]:
    """Rooms that a file imports from, and whether it does so inside a function."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        if isinstance(child, ast.ImportFrom) and child.level:
            home = path.parents[child.level - 1].joinpath(*(child.module or "").split("."))
            for alias in child.names:
                target = home / alias.name
                if (package / target).is_dir() or (package / target).with_suffix(".py").is_file():
                    yield room(target), inside
                elif home.parts:
                    yield room(home), inside
                elif origin := homes.get(alias.name):
                    yield origin.partition(".")[0], inside
        yield from imports(child, path, package, homes, inside or isinstance(child, Function | ast.Lambda))


def cycles(arrows: set[tuple[str, str]]) -> str:
    """Sets of rooms that reach each other, in words."""
    reach = set(arrows)
    while more := {(a, d) for a, b in reach for c, d in arrows if b == c} - reach:
        reach |= more
    sets = {frozenset(b for b, _ in arrows | reach if (a, b) in reach and (b, a) in reach) for a, _ in arrows}
    return "; ".join(" ⇄ ".join(sorted(rooms)) for rooms in sorted(sets, key=sorted) if rooms) or "none"


def example_lines(name: str, source: Path) -> str:
    """Code lines of the shortest way to an example that works."""
    lengths = []
    for path in sorted((EXAMPLES / re.sub(r"\W+", "_", name.lower())).glob("*.py")):
        if run(["-W", "ignore", HERE / "house_example.py", path], source).returncode == 0:
            text = path.read_text(encoding="utf-8")
            lengths.append(len(code_lines(text, ast.parse(text))))
    return str(min(lengths)) if lengths else "not possible"


def table(columns: dict[str, dict[str, str]]) -> str:
    """Columns side by side, in Markdown."""
    lines = ["| " + " | ".join(["", *columns]) + " |", "|:--" + "|--:" * len(columns) + "|"]
    for row in dict.fromkeys(row for column in columns.values() for row in column):
        lines.append("| " + " | ".join([row, *(column.get(row, "–") for column in columns.values())]) + " |")
    return "\n".join(lines) + "\n"


def page() -> str:
    """The page as text."""
    return HEAD + table(recorded())


def recorded() -> dict[str, dict[str, str]]:
    """What was recorded, by name."""
    return dict(json.loads(RECORDED.read_text(encoding="utf-8"))) if RECORDED.exists() else {}


def main() -> None:
    """Count, print, and keep what is to be kept."""
    parser = argparse.ArgumentParser(prog="python -m docs.house", description="Count what the house is made of.")
    parser.add_argument("--source", type=Path, default=SOURCE, help="the folder that holds `partwise`")
    parser.add_argument("--record", metavar="NAME", help="keep the numbers as a column of docs/house.md")
    options = parser.parse_args()
    rows = count(options.source)
    print(table({options.record or "now": rows}), end="")
    if options.record:
        columns = {**recorded(), options.record: rows}
        RECORDED.write_text(json.dumps(columns, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()

"""Tables of printed and measured numbers, as text and as Markdown, and how often each verdict was given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from .plan import DEFAULTS
from .verdicts import UNLABELLED, Cell

VERDICTS = ("better", "equal", "short", "no data", "not run")
MARKS = {"better": "+", "equal": "=", "short": "-", "no data": "", "not run": "", "": ""}
GAP = "  "
LEGEND = (
    "printed / measured ± std; + better, = equal, - short; partwise: the paper's method with the library's defaults"
)


def counts(cells: Iterable[Cell]) -> dict[str, int]:
    """How often each verdict was given; cells that the paper does not have are not counted."""
    found: Counter[str] = Counter(cell.verdict for cell in cells if cell.verdict)
    return {verdict: found[verdict] for verdict in VERDICTS}


def counts_line(cells: Iterable[Cell]) -> str:
    """The counts in a sentence."""
    found = counts(cells)
    measured = sum(found[verdict] for verdict in VERDICTS[:3])
    good = found["better"] + found["equal"]
    share = f", {good / measured:.0%} of the measured ones better or equal" if measured else ""
    return ", ".join(f"{number} {verdict}" for verdict, number in found.items() if number) + share


def groups(cells: Sequence[Cell]) -> dict[tuple[str, str, str], list[Cell]]:
    """Cells by table, data set and metric: the grids that are shown."""
    found: dict[tuple[str, str, str], list[Cell]] = {}
    for cell in cells:
        found.setdefault((cell.table, cell.dataset, cell.metric), []).append(cell)
    return dict(sorted(found.items(), key=lambda item: item[0][2] == UNLABELLED))


def _text(cell: Cell | None) -> str:
    """The text of a cell."""
    if cell is None:
        return ""
    printed = "" if cell.printed_mean is None else f"{cell.printed_mean:g} / "
    if cell.mean is None:
        return f"{printed}{cell.verdict}"
    std = "" if cell.std is None else f" ± {cell.std:.1f}"
    return f"{printed}{cell.mean:.1f}{std} {MARKS[cell.verdict]}".rstrip()


def _grid(cells: Sequence[Cell]) -> list[list[str]]:
    """Rows are numbers of clusters, columns are methods."""
    methods = list(dict.fromkeys(cell.method for cell in cells))
    rows = list(dict.fromkeys(cell.n_clusters for cell in cells))
    places = {(cell.n_clusters, cell.method): cell for cell in cells}
    body = [[row, *(_text(places.get((row, method))) for method in methods)] for row in rows]
    return [["k", *methods], *body]


def _title(key: tuple[str, str, str], cells: Sequence[Cell]) -> str:
    repeats = sorted({cell.repeats for cell in cells if cell.repeats})
    span = f", {repeats[0]}" + (f" to {repeats[-1]}" if len(repeats) > 1 else "") + " repeats" if repeats else ""
    return f"Table {key[0]}, {key[1]}, {key[2]}{span}"


def plain_tables(cells: Sequence[Cell], width: int | None = None) -> list[str]:
    """Every table as lines of text.

    Parameters
    ----------
    cells : sequence of Cell
    width : int, optional
        Most characters per line; columns that do not fit follow below, with the first column repeated.
    """
    lines = []
    for key, group in groups(cells).items():
        columns = [list(column) for column in zip(*_grid(group), strict=True)]
        lines += [_title(key, group)]
        for part in _parts(columns, width):
            lines += [_padded(row, part) for row in zip(*part, strict=True)]
            lines += [""]
    return lines


def _parts(columns: Sequence[list[str]], width: int | None) -> Iterator[list[list[str]]]:
    """The columns in groups that fit, the first column in front of each."""
    part = [columns[0]]
    for column in columns[1:]:
        if width is not None and len(part) > 1 and _width([*part, column]) > width:
            yield part
            part = [columns[0]]
        part.append(column)
    yield part


def _width(columns: Sequence[Sequence[str]]) -> int:
    return sum(max(map(len, column)) for column in columns) + len(GAP) * (len(columns) - 1)


def _padded(row: Sequence[str], columns: Sequence[Sequence[str]]) -> str:
    return GAP.join(text.ljust(max(map(len, column))) for text, column in zip(row, columns, strict=True)).rstrip()


def markdown_tables(cells: Sequence[Cell]) -> str:
    """Every table in Markdown."""
    lines = []
    for key, group in groups(cells).items():
        head, *body = _grid(group)
        lines += [f"### {_title(key, group)}", ""]
        lines += _markdown(head, body)
        lines += [""]
    return "\n".join(lines)


def _markdown(head: Sequence[str], body: Iterable[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *body)]


def summary_table(cells: Sequence[Cell], by: str) -> str:
    """Verdicts by an attribute of the cells, such as "method", in Markdown."""
    found: dict[str, list[Cell]] = {}
    for cell in cells:
        if cell.verdict and cell.method != DEFAULTS:
            found.setdefault(getattr(cell, by), []).append(cell)
    body = []
    for name, group in found.items():
        number = counts(group)
        measured = sum(number[verdict] for verdict in VERDICTS[:3])
        share = f"{(number['better'] + number['equal']) / measured:.0%}" if measured else ""
        body.append([name, str(len(group)), *(str(number[verdict]) for verdict in VERDICTS), share])
    return "\n".join(_markdown([by, "cells", *VERDICTS, "better or equal"], body))

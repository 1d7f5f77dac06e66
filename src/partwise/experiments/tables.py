"""Tables of printed and measured numbers, as text and as Markdown, and how often each verdict was given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from .plan import DEFAULTS
from .printed import AVERAGE
from .verdicts import UNLABELLED, Cell

GIVEN = ("better", "equal", "short")
VERDICTS = (*GIVEN, "too few runs", "no data", "not run")
MARKS = {"better": "+", "equal": "=", "short": "-", "too few runs": "?"}
# Shares of the measured cells that need no verdict, by what they say of the difference, measured minus printed.
PLAIN = {
    "≥ printed − 1": lambda difference: difference >= -1,
    "≥ printed − 3": lambda difference: difference >= -3,
    "within 3": lambda difference: abs(difference) <= 3,
}
GAP = "  "
LEGEND = (
    "printed / measured ± std; + better, = equal, - short, ? too few runs to say; "
    "partwise: the paper's method with the library's defaults"
)


def counts(cells: Iterable[Cell]) -> dict[str, int]:
    """How often each verdict was given; cells that the paper does not have are not counted."""
    found: Counter[str] = Counter(cell.verdict for cell in cells if cell.verdict)
    return {verdict: found[verdict] for verdict in VERDICTS}


def counts_line(cells: Iterable[Cell]) -> str:
    """The counts in a sentence."""
    found = counts(cells)
    return ", ".join(f"{number} {verdict}" for verdict, number in found.items() if number)


def plain_shares(cells: Iterable[Cell]) -> dict[str, float]:
    """Of the measured cells that the paper has, how many are about as printed, without any rule; empty if none is."""
    differences = [
        cell.mean - cell.printed_mean for cell in cells if cell.mean is not None and cell.printed_mean is not None
    ]
    if not differences:
        return {}
    return {name: sum(map(holds, differences)) / len(differences) for name, holds in PLAIN.items()}


def plain_line(cells: Iterable[Cell]) -> str:
    """The plain shares in a sentence."""
    return ", ".join(f"{share:.0%} {name}" for name, share in plain_shares(cells).items())


def groups(cells: Sequence[Cell]) -> dict[tuple[str, str, str], list[Cell]]:
    """Cells by table, data set and metric: the grids that are shown."""
    found: dict[tuple[str, str, str], list[Cell]] = {}
    for cell in cells:
        found.setdefault((cell.table, cell.dataset, cell.metric), []).append(cell)
    return dict(sorted(found.items(), key=lambda item: item[0][2] == UNLABELLED))


def usual_repeats(cells: Iterable[Cell]) -> int:
    """The runs that most cells of a table have, apart from its averages; 0 if nothing was run."""
    found = Counter(cell.repeats for cell in cells if cell.repeats and cell.n_clusters != AVERAGE)
    return found.most_common(1)[0][0] if found else 0


def _text(cell: Cell | None, repeats: int) -> str:
    """The text of a cell; its number of runs if the title gives another one."""
    if cell is None:
        return ""
    printed = "" if cell.printed_mean is None else f"{cell.printed_mean:g} / "
    if cell.mean is None:
        return f"{printed}{cell.verdict}"
    std = "" if cell.std is None else f" ± {cell.std:.1f}"
    number = "" if cell.repeats == repeats or cell.n_clusters == AVERAGE else f" ({cell.repeats})"
    return f"{printed}{cell.mean:.1f}{std}{number} {MARKS.get(cell.verdict, '')}".rstrip()


def _grid(cells: Sequence[Cell]) -> list[list[str]]:
    """Rows are numbers of clusters, columns are methods."""
    methods = list(dict.fromkeys(cell.method for cell in cells))
    rows = list(dict.fromkeys(cell.n_clusters for cell in cells))
    places = {(cell.n_clusters, cell.method): cell for cell in cells}
    repeats = usual_repeats(cells)
    body = [[row, *(_text(places.get((row, method)), repeats) for method in methods)] for row in rows]
    return [["k", *methods], *body]


def table_name(key: tuple[str, str, str]) -> str:
    """What a grid is called: by the paper's table, if the paper has it."""
    table, _, metric = key
    return f"Not in the paper, beside Table {table}" if metric == UNLABELLED else f"Table {table}"


def _title(key: tuple[str, str, str], cells: Sequence[Cell]) -> str:
    repeats = usual_repeats(cells)
    return f"{table_name(key)}, {key[1]}, {key[2]}" + (f", {repeats} runs per cell" if repeats else "")


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
        if shares := plain_line(group):
            lines += [shares, ""]
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
        lines += markdown(head, body)
        lines += ["", *([f"{shares}.", ""] if (shares := plain_line(group)) else [])]
    return "\n".join(lines)


def markdown(head: Sequence[str], body: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table in Markdown."""
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *body)]


def summary_table(cells: Sequence[Cell], by: str) -> str:
    """Verdicts by an attribute of the cells, such as "method", in Markdown."""
    found: dict[str, list[Cell]] = {}
    for cell in cells:
        if cell.verdict and cell.method != DEFAULTS:
            found.setdefault(getattr(cell, by), []).append(cell)
    body = []
    for name, group in found.items():
        number, shares = counts(group), plain_shares(group)
        plain = [f"{shares[share]:.0%}" if shares else "" for share in PLAIN]
        body.append([name, str(len(group)), *(str(number[verdict]) for verdict in VERDICTS), *plain])
    return "\n".join(markdown([by, "cells", *VERDICTS, *PLAIN], body))

"""The contents of a table's cells, and what separates them."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence

import numpy as np

# What programs write for unknown values, in lower case.
MISSING = frozenset({"", "nan", "na", "n/a", "#n/a", "<na>", "null"})
TRUTH = {"true": 1.0, "false": 0.0}
SEPARATORS = {".csv": ",", ".tsv": "\t"}
_COMMA = re.compile(r"[+-]?\d*,\d+(e[+-]?\d+)?", re.IGNORECASE)
_HINT = re.compile(r'"?sep=(.)"?\s*')


def number(cell: str, decimal: str = ".") -> float | None:
    """The number in a cell: NaN if it is unknown, None if the cell holds text.

    Parameters
    ----------
    cell : str
    decimal : {".", ","}
        Which mark precedes the fraction; with a comma, a cell with a point is text.
    """
    text = cell.strip()
    if decimal == ",":
        if "." in text:
            return None
        text = with_point(text)
    try:
        return float(text)
    except ValueError:
        word = text.lower()
        return np.nan if word in MISSING else TRUTH.get(word)


def with_point(cell: str) -> str:
    """1,5 as 1.5; anything else unchanged."""
    return cell.replace(",", ".") if has_decimal_comma(cell) else cell


def is_whole(cell: str) -> bool:
    """Whether a cell holds digits and nothing else, as programs write counts and positions."""
    text = cell.strip()
    return text.isascii() and text.isdecimal()


def has_decimal_comma(cell: str) -> bool:
    """Whether a cell holds a number such as 1,5."""
    return "," in cell and _COMMA.fullmatch(cell.strip()) is not None


def hinted_separator(line: str) -> str | None:
    """The separator declared by a first line such as ``sep=;``, a hint for spreadsheets."""
    found = _HINT.fullmatch(line)
    return found[1] if found else None


def find_separator(lines: Sequence[str], usual: str) -> str:
    """What separates the cells, judging by the first lines of a table.

    Semicolons come first: where they separate cells, commas occur inside numbers. Blanks separate only numbers, since
    texts contain them.

    Parameters
    ----------
    lines : sequence of str
    usual : str
        What the name of the file suggests.
    """
    for separator in dict.fromkeys((";", usual, ",", "\t", " ")):
        first, *others = [[*row] for row in split(lines, separator) if row and not row[0].startswith("#")] or [[]]
        if len(first) < 2 or (others and len(others[0]) - len(first) not in (0, 1)):
            continue
        if separator != " " or all(number(cell) is not None for cell in (others or [first])[0]):
            return separator
    return usual


def split(lines: Sequence[str], separator: str) -> list[list[str]]:
    """The cells of a few lines, which may end inside a quotation."""
    return list(csv.reader(lines, delimiter=separator, skipinitialspace=separator == " "))

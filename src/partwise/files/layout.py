"""What the columns of a table hold: features, classes, the names of the samples; and whether its first row names them.

Tables come as pandas, R, numpy and spreadsheets write them: with or without names, with or without an index. The first
rows decide everything, and notes say what was inferred.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from .archive import Refused
from .cells import has_decimal_comma, is_whole, number

# Columns that hold classes, texts, or the names of samples, unless the user says otherwise.
LABEL_NAMES, TEXT_NAMES, INDEX_NAMES = ("label", "labels", "class", "target", "y"), ("text",), ("index", "id")
_UNNAMED = re.compile(r"(unnamed: \d+(\.\d+)*(_level_\d+)?)?", re.IGNORECASE)
# A column without a name is an index if it counts this many samples: a single one may just be a zero.
LEAST_COUNT = 3
# A column holds texts, not names or categories, if its cells have this many words on average and few are repeated.
LEAST_WORDS = 4


@dataclass(frozen=True)
class TableOptions:
    """How the user wants a table to be read.

    Attributes
    ----------
    label_column : str, False or None
        The column of the classes; False if there is none.
    drop_columns : sequence of str
    header : bool, optional
        Whether the first row holds the names of the columns.
    text_columns : sequence of str, False or None
        The columns whose words are counted; False if none are.
    encoding : str, optional
        How characters are stored; UTF-8, or UTF-16 with its mark, by default.
    """

    label_column: str | Literal[False] | None = None
    drop_columns: Sequence[str] = ()
    header: bool | None = None
    text_columns: Sequence[str] | Literal[False] | None = None
    encoding: str | None = None


@dataclass(frozen=True)
class Layout:
    """What the columns of a table hold.

    Attributes
    ----------
    names : list of str
        Of all columns; their positions if the table has no names.
    named : bool
        Whether the table has names.
    rows_above : int
        Rows of names above the samples.
    width : int
        Cells of every row below.
    features : list of int
        Columns that hold numbers.
    labels, samples : int, optional
        Columns of the classes, and of the names of the samples.
    texts : list of int
        Columns of texts to be counted; empty if the table holds numbers.
    wordy : list of int
        Features that hold text in the first rows, which a table of numbers must not have.
    decimal : {".", ","}
    notes : tuple of str
    """

    names: list[str]
    named: bool
    rows_above: int
    width: int
    features: list[int]
    labels: int | None
    samples: int | None
    texts: list[int]
    wordy: list[int]
    decimal: str
    notes: tuple[str, ...]

    def refuse_text(self, column: int, cell: str, line: int) -> Refused:
        """Say what to do about text in a column of numbers."""
        name = self.names[column]
        if self.decimal == "," and number(cell) is not None:
            return Refused(
                f"it has decimal commas, but a decimal point in {cell[:30]!r} near line {line}; use one or the other"
            )
        others = [self.names[j] for j in self.wordy if j != column]
        also = f"; so there is in {_listed([repr(other) for other in others], 5)}" if others else ""
        return Refused(
            f"there is text where numbers should be, {cell[:30]!r} near line {line} in column {name!r}{also}; if the "
            f"column holds the classes, name it with label_column (--label-column {name!r}); to leave it out, use "
            f"drop_columns (--drop-column {name!r}); to count its words and use nothing else, text_column "
            f"(--text-column {name!r})"
        )


def lay_out(
    rows: Sequence[Sequence[str]], above: Sequence[str] | None, separator: str, options: TableOptions
) -> Layout:
    """Find out what the columns hold.

    Parameters
    ----------
    rows : sequence of sequence of str
        The first rows of a table.
    above : sequence of str, optional
        Names from a comment above.
    separator : str
    options : TableOptions
    """
    first, below = list(rows[0]), rows[1:]
    width = len(first)
    if below and len(below[0]) == width + 1 and _any_text(first):
        # As R writes it: the names of the samples have no name themselves.
        width, first = width + 1, ["", *first]
    body = [row for row in below if len(row) == width]
    commas = separator != "," and any(has_decimal_comma(cell) for row in rows for cell in row)
    decimal = "," if commas else "."
    names: list[str] | None = None
    rows_above = 0
    if above is not None and len(above) == width:
        names = [name.strip() for name in above]
    elif _Columns(body, decimal).are_named(first) if options.header is None else options.header:
        names, rows_above = [cell.strip() for cell in first], 1
    table = _Columns(body if rows_above else [first, *body], decimal)
    notes = ["numbers have decimal commas"] if commas else []
    shown = [name for name in names or [] if name]
    if rows_above and options.header is None and all(map(is_whole, shown)):
        notes.append(f"the first row, {_listed(shown, 3)}, holds the names of the columns")
    return _assign(table, names, rows_above, width, options, notes)


def _assign(
    table: _Columns, given: list[str] | None, rows_above: int, width: int, options: TableOptions, notes: list[str]
) -> Layout:
    """Give every column its role."""
    names = [str(j) for j in range(width)] if given is None else given
    dropped = {_position(names, name) for name in options.drop_columns} | table.empty_at_the_end(given)
    labels = _find_labels(names, table, options, dropped, notes)
    indices = [] if 0 in {*dropped, labels} else table.indices(given)
    texts = _find_texts(names, table, options, {*dropped, labels}, indices)
    indices = [] if set(texts) & set(indices) else indices
    if indices:
        called = f", {names[0]!r}," if given is not None and names[0] else ""
        notes.append(f"the first column{called} holds the names of the samples")
    features = [j for j in range(width) if j not in {*dropped, labels, *indices}]
    if texts:
        notes.append(_say_texts(names, texts, [j for j in features if j not in texts]))
    return Layout(
        names=names,
        named=given is not None,
        rows_above=rows_above,
        width=width,
        features=features,
        labels=labels,
        samples=indices[0] if indices else None,
        texts=texts,
        wordy=[j for j in features if table.is_text(j)],
        decimal=table.decimal,
        notes=tuple(notes),
    )


class _Columns:
    """The cells of the first rows, by column."""

    def __init__(self, body: Sequence[Sequence[str]], decimal: str):
        self.body = body
        self.decimal = decimal

    def below(self, j: int) -> list[str]:
        return [row[j] for row in self.body]

    def is_text(self, j: int) -> bool:
        """Whether there is text in a column."""
        return _any_text(self.below(j))

    def is_prose(self, j: int) -> bool:
        """Whether a column holds texts of several words, and few of them twice."""
        cells = [cell for cell in self.below(j) if cell.strip()]
        words = sum(len(cell.split()) for cell in cells)
        return self.is_text(j) and words >= LEAST_WORDS * len(cells) and 2 * len(set(cells)) > len(cells)

    def is_empty(self, j: int) -> bool:
        return not any(cell.strip() for cell in self.below(j))

    def are_distinct(self, j: int) -> bool:
        cells = [cell.strip() for cell in self.below(j)]
        return len(set(cells)) == len(cells) and "" not in cells

    def are_named(self, first: Sequence[str]) -> bool:
        """Whether a row above holds the names of the columns.

        It does if it has text over numbers or one of the usual names. Whole numbers may be names too: those that count
        0, 1, 2, …, as pandas names columns; those that rise over numbers with fractions; and distinct ones, if the
        column on the left, an index, has no name.
        """
        texts = [number(cell, self.decimal) is None for cell in first]
        usual = LABEL_NAMES + TEXT_NAMES + INDEX_NAMES
        if any(cell.strip().lower() in usual and cell not in self.below(j) for j, cell in enumerate(first)):
            return True
        if not self.body:
            return any(texts)
        over = [j for j in range(len(first)) if not self.is_text(j) and not self.is_empty(j)]
        if any(texts[j] for j in over):
            return True
        if not over:  # a first row like the texts below is one of them
            return not any(len(cell.split()) >= LEAST_WORDS and self.is_prose(j) for j, cell in enumerate(first))
        unnamed = not first[0].strip()
        over = [j for j in over if j or not unnamed]
        names = [first[j].strip() for j in over]
        return all(map(is_whole, names)) and (
            (_counts(names) and not _counts([first[0], *self.below(0)], LEAST_COUNT))
            or (unnamed and all(cell.strip() for cell in self.below(0)) and len(set(names)) == len(names))
            or (_rises(names) and not any(is_whole(row[j]) for row in self.body for j in over))
        )

    def empty_at_the_end(self, names: Sequence[str] | None) -> set[int]:
        """Empty columns caused by a separator at the end of every line."""
        width = len(self.body[0]) if self.body else 0
        found = set()
        for j in range(width - 1, 0, -1):
            if (names is not None and names[j]) or not self.is_empty(j):
                break
            found.add(j)
        return found

    def indices(self, names: Sequence[str] | None) -> list[int]:
        """Columns on the left that name or count the samples."""
        width = len(self.body[0]) if self.body else 0
        if width < 2:
            return []
        if names is None:
            return [0] if _counts(self.below(0), LEAST_COUNT) or (self.is_text(0) and self.are_distinct(0)) else []
        unnamed = 0
        while unnamed < width - 1 and _UNNAMED.fullmatch(names[unnamed]):
            unnamed += 1
        if unnamed:
            return list(range(unnamed))
        whole = names[0].lower() in INDEX_NAMES and all(map(is_whole, self.below(0)))
        return [0] if (whole or self.is_text(0)) and self.are_distinct(0) else []


def _any_text(cells: Sequence[str]) -> bool:
    """Whether one of the cells is not a number, with either decimal mark."""
    return any(number(cell) is None and not has_decimal_comma(cell) for cell in cells)


def _counts(cells: Sequence[str], least: int = 1) -> bool:
    """Whether cells count 0, 1, 2, …"""
    return len(cells) >= least and [cell.strip() for cell in cells] == [str(i) for i in range(len(cells))]


def _rises(cells: Sequence[str]) -> bool:
    values = [int(cell) for cell in cells]
    return len(values) > 1 and all(a < b for a, b in pairwise(values))


def _listed(names: Sequence[str], most: int) -> str:
    return ", ".join([*names[:most], *(["…"] if len(names) > most else [])])


def _position(names: Sequence[str], name: str) -> int:
    if name not in names:
        raise Refused(f"it has no column named {name!r}; its columns are {_listed([repr(name) for name in names], 10)}")
    return names.index(name)


def _find_labels(
    names: Sequence[str], table: _Columns, options: TableOptions, dropped: set[int], notes: list[str]
) -> int | None:
    """The column of the classes; adds what the user should know about it to the notes."""
    if options.label_column is False:
        return None
    usual = [j for j, name in enumerate(names) if name.lower() in LABEL_NAMES and j not in dropped]
    if options.label_column is not None:
        chosen = _position(names, options.label_column)
        notes += [f"column {names[j]!r} is read as a feature" for j in usual if j != chosen]
        return chosen
    if len(usual) > 1:
        several = " and ".join(repr(names[j]) for j in usual)
        raise Refused(
            f"its columns {several} may all hold the classes; name the one that does with label_column "
            "(--label-column), and those that are not features with drop_columns (--drop-column)"
        )
    if not usual:
        return None
    name = names[usual[0]]
    values = [number(cell, table.decimal) for cell in table.below(usual[0])]
    if any(value is not None and value % 1 > 0 for value in values):
        raise Refused(
            f"its column {name!r} holds fractions, which are not classes; leave it out with drop_columns "
            f"(--drop-column {name!r}), or, if it is a feature, say label_column=False (--label-column none)"
        )
    notes.append(f"column {name!r} holds the classes")
    return usual[0]


def _find_texts(
    names: Sequence[str], table: _Columns, options: TableOptions, taken: set[int | None], indices: Sequence[int]
) -> list[int]:
    """The columns whose words are counted: those the user names, one named text, or the only one that holds prose.

    A table with more columns of numbers than of text is one of numbers, unless the user says otherwise.
    """
    if options.text_columns is not None:
        return [_position(names, name) for name in options.text_columns or ()]
    free = [j for j in range(len(names)) if j not in taken]
    called = [j for j in free if names[j].lower() in TEXT_NAMES]
    if called or not table.body:
        return called[:1]
    prose = [j for j in free if table.is_prose(j)]
    wordy = [j for j in free if table.is_text(j)]
    numbers = set(free) - {*wordy, *indices}
    if len(prose) > 1:
        several = " and ".join(repr(names[j]) for j in prose)
        raise Refused(
            f"its columns {several} hold texts; name the ones whose words are to be counted with text_column "
            f"(--text-column {names[prose[-1]]!r}), or leave them out with drop_columns (--drop-column)"
        )
    return prose if len(numbers) <= len(wordy) else []


def _say_texts(names: Sequence[str], texts: Sequence[int], others: Sequence[int]) -> str:
    """What a table of texts uses, and what it does not."""
    used = " and ".join(repr(names[j]) for j in texts)
    counted = f"the words of column{'s' * (len(texts) > 1)} {used} are counted"
    if not others:
        return counted
    left = _listed([repr(names[j]) for j in others], 5)
    return f"{counted}; {left} {'is' if len(others) == 1 else 'are'} not used"

"""Readers of tables: csv and tsv, of numbers or of texts."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

import numpy as np

from ..core.types import Array
from .archive import Refused
from .cells import SEPARATORS, find_separator, hinted_separator, number, with_point
from .contents import Contents
from .layout import Layout, TableOptions, lay_out
from .texts import StopWords, count_words

# The first lines tell what separates cells, the first rows what the columns hold.
FIRST_LINES, FIRST_ROWS = 20, 256
CHUNK_ROWS = 4096
DEFAULTS = TableOptions()
Row = tuple[int, list[str]]


def read_table(path: Path, options: TableOptions = DEFAULTS, stop_words: StopWords = None) -> Contents:
    """A row per sample; the first may name the columns, one column hold the classes, and the first name the samples.

    A table of texts becomes counts of the words of one of its columns (:func:`partwise.files.layout.lay_out`).

    Parameters
    ----------
    path : Path
    options : TableOptions
    stop_words : {"english"}, sequence of str or None
        Words that are not counted.
    """
    with open(path, encoding=_encoding(path, options.encoding), newline="") as stream:
        try:
            return _read(stream, SEPARATORS[path.suffix.lower()], options, stop_words)
        except UnicodeError:
            if options.encoding is not None:
                raise Refused(f"it is not text in the encoding {options.encoding}") from None
            raise Refused(
                "it is not UTF-8 text; name its encoding with encoding (--encoding cp1252 if Windows wrote it in "
                "western Europe), or save it as such (in spreadsheets, as CSV UTF-8)"
            ) from None
        except csv.Error as error:
            raise Refused(f"its rows cannot be told apart ({error})") from None


def _encoding(path: Path, given: str | None) -> str:
    """The encoding that the user names, or that the first bytes declare."""
    if given is not None:
        try:
            return codecs.lookup(given).name
        except LookupError:
            raise Refused(f"there is no encoding named {given!r}") from None
    with open(path, "rb") as stream:
        return "utf-16" if stream.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8-sig"


def _read(stream: IO[str], usual: str, options: TableOptions, stop_words: StopWords) -> Contents:
    lines = list(islice(stream, FIRST_LINES))
    hinted = hinted_separator(lines[0]) if lines else None
    separator = hinted or find_separator(lines, usual)
    stream.seek(0)
    cells = csv.reader(stream, delimiter=separator, skipinitialspace=separator == " ", strict=True)
    filled: Iterator[Row] = ((number, row) for number, row in enumerate(cells, start=1) if row)
    if hinted:
        next(filled)
    above, filled = _without_comments(filled)
    head = list(islice(filled, FIRST_ROWS))
    if not head:
        raise Refused("it is empty")
    layout = lay_out([row for _, row in head], above, separator, options)
    rows = _checked(chain(head[layout.rows_above :], filled), layout, len(head[0][1]))
    return _texts(rows, layout, stop_words) if layout.texts else _numbers(rows, layout)


def _without_comments(rows: Iterator[Row]) -> tuple[Sequence[str] | None, Iterator[Row]]:
    """The last of the comments at the top, as numpy writes a header, and the rows below."""
    above: Sequence[str] | None = None
    for line, row in rows:
        if not row[0].startswith("#"):
            return above, chain([(line, row)], rows)
        above = [row[0].lstrip("# "), *row[1:]] if row[0].strip("# ") else row[1:]
    return above, rows


def _checked(rows: Iterator[Row], layout: Layout, cells: int) -> Iterator[Row]:
    for line, row in rows:
        if len(row) != layout.width:
            raise Refused(f"line {line} has {len(row)} cells, but the first has {cells}")
        yield line, row


def _numbers(rows: Iterator[Row], layout: Layout) -> Contents:
    blocks: list[Array] = []
    labels: list[str] = []
    samples: list[str] = []
    while chunk := list(islice(rows, CHUNK_ROWS)):
        blocks.append(_block(chunk, layout))
        labels += _column(chunk, layout.labels)
        samples += _column(chunk, layout.samples)
    if not blocks:
        raise Refused("it has a row of names and no samples")
    terms = [layout.names[j] for j in layout.features] if layout.named else None
    return _contents(np.concatenate(blocks), terms, labels, samples, layout)


def _texts(rows: Iterator[Row], layout: Layout, stop_words: StopWords) -> Contents:
    table = list(rows)
    if not table:
        raise Refused("it has a row of names and no samples")
    counted = count_words([" ".join(row[j] for j in layout.texts) for _, row in table], stop_words)
    found = _contents(counted.X, counted.words, _column(table, layout.labels), _column(table, layout.samples), layout)
    return replace(found, notes=(*layout.notes, *counted.notes))


def _contents(X: Any, terms: list[str] | None, labels: list[str], samples: list[str], layout: Layout) -> Contents:
    if layout.decimal == ",":
        labels = [with_point(label) for label in labels]
    return Contents(
        X,
        None if layout.labels is None else np.array(labels, object),
        terms=terms,
        sample_names=None if layout.samples is None else samples,
        notes=layout.notes,
    )


def _column(rows: Sequence[Row], j: int | None) -> list[str]:
    return [] if j is None else [row[j].strip() for _, row in rows]


def _block(rows: Sequence[Row], layout: Layout) -> Array:
    """The features as numbers; unknown ones are NaN."""
    features = layout.features
    picked = [row if len(features) == layout.width else [row[j] for j in features] for _, row in rows]
    if layout.decimal == ".":
        with suppress(ValueError):  # most tables hold numbers and nothing else
            return np.array([[float(cell) for cell in row] for row in picked], np.float64)
    block = np.empty((len(rows), len(features)))
    for i, row in enumerate(picked):
        for j, cell in enumerate(row):
            value = number(cell, layout.decimal)
            if value is None:
                raise layout.refuse_text(features[j], cell, rows[i][0])
            block[i, j] = value
    return block

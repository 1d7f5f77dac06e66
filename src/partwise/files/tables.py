"""Readers of tables: csv and tsv, of numbers or of texts."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from ..core.archive import Refused
from ..core.types import Array
from .contents import Contents
from .texts import count_words

DELIMITERS = {".csv": ",", ".tsv": "\t"}
# Columns that hold classes, or texts, if the user names none.
LABEL_NAMES, TEXT_NAMES = ("label", "class", "y", "target"), ("text",)
CHUNK_ROWS = 4096


def read_table(path: Path, label_column: str | None = None) -> Contents:
    """A row per sample; the first may hold the columns' names, and then one of them the classes.

    A column named "text" makes it a table of texts, which become counts of words.
    """
    with open(path, encoding="utf-8-sig", newline="") as stream:
        try:
            return _read_rows(csv.reader(stream, delimiter=DELIMITERS[path.suffix.lower()], strict=True), label_column)
        except UnicodeDecodeError:
            raise Refused("it is not text in UTF-8") from None
        except csv.Error as error:
            raise Refused(f"its rows cannot be told apart ({error})") from None


def _read_rows(rows: Iterator[list[str]], label_column: str | None) -> Contents:
    filled = ((number, row) for number, row in enumerate(rows, start=1) if row)
    start, first = next(filled, (0, []))
    if not first:
        raise Refused("it is empty")
    header = None if all(map(_is_number, first)) else [cell.strip() for cell in first]
    label = _label_position(header, label_column)
    if header is not None and any(name.lower() in TEXT_NAMES for name in header):
        return _texts(filled, header, label)
    columns = [j for j in range(len(first)) if j != label]
    blocks, labels, chunk = [], [], []
    number = start
    for number, row in filled if header is not None else chain([(start, first)], filled):
        if len(row) != len(first):
            raise Refused(f"line {number} has {len(row)} cells, and the first has {len(first)}")
        if label is not None:
            labels.append(row[label].strip())
        chunk.append([row[j] for j in columns] if label is not None else row)
        if len(chunk) == CHUNK_ROWS:
            blocks.append(_numbers(chunk, number))
            chunk = []
    if chunk:
        blocks.append(_numbers(chunk, number))
    if not blocks:
        raise Refused("it has a row of names and nothing below")
    terms = None if header is None else [header[j] for j in columns]
    return Contents(np.concatenate(blocks), np.array(labels, object) if label is not None else None, terms=terms)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return cell.strip() == ""
    return True


def _label_position(header: Sequence[str] | None, wished: str | None) -> int | None:
    if wished is not None:
        if header is None or wished not in header:
            raise Refused(f"it has no column named {wished!r}")
        return header.index(wished)
    if header is None:
        return None
    found = [j for j, name in enumerate(header) if name.lower() in LABEL_NAMES]
    return found[0] if len(found) == 1 else None


def _numbers(rows: list[list[str]], last: int) -> Array:
    """Cells as numbers; an empty one is unknown."""
    try:
        return np.array([[float(cell) if cell.strip() else np.nan for cell in row] for row in rows], np.float64)
    except ValueError:
        number, cell = next(
            (last - len(rows) + 1 + i, cell) for i, row in enumerate(rows) for cell in row if not _is_number(cell)
        )
        raise Refused(f"there is text where numbers should be, {cell[:30]!r} near line {number}") from None


def _texts(filled: Iterator[tuple[int, list[str]]], header: list[str], label: int | None) -> Contents:
    place = next(j for j, name in enumerate(header) if name.lower() in TEXT_NAMES)
    texts, labels = [], []
    for number, row in filled:
        if len(row) != len(header):
            raise Refused(f"line {number} has {len(row)} cells, and the first has {len(header)}")
        texts.append(row[place])
        labels.append("" if label is None else row[label].strip())
    X, terms = count_words(texts)
    return Contents(X, None if label is None else np.array(labels, object), terms=terms)

"""``partwise apply``: codes and labels of new data, from a saved model."""

from __future__ import annotations

import argparse
import csv
import io
import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ..core.types import Array, IntArray
from ..datasets import DataSet
from ..files import ReadError, align
from ..files.data_set import empty_samples
from ..persistence import load
from .arguments import CommandError, add_columns, check_output, write_whole
from .inputs import read_file
from .lines import say

IF_INTERRUPTED = "no codes were written"
DESCRIPTION = """\
Code the samples of a file or folder with a model saved by `partwise fit`.

Writes a table: the name of every sample, or its number if it has none, its
class if the file knows it, its cluster, and its code. Samples are named by the
files of a folder and by the first column of a table. Tables and texts are
matched to the model by the names of their columns and words.
"""
# A cell that begins with one of these is a formula to spreadsheets.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "＝", "＋", "－", "＠")


def add(parser: argparse.ArgumentParser) -> None:
    """The arguments."""
    parser.add_argument("model", metavar="MODEL", type=Path, help="written by partwise fit")
    parser.add_argument("file", metavar="FILE", type=Path, help="the data")
    parser.add_argument("--output", metavar="CSV", type=Path, required=True, help="where to write the codes")
    add_columns(parser)


def run(options: argparse.Namespace) -> None:
    """Read both, code, write."""
    check_output(options.output, options.model, options.file)
    try:
        model = load(options.model)
        data = read_file(options.file, options)
        if hasattr(model, "feature_names_in_"):
            data = align(data, model.feature_names_in_.tolist())
    except ReadError as error:
        raise CommandError(str(error)) from None
    if not hasattr(model, "transform"):
        raise CommandError(f"{type(model).__name__} embeds the samples it was fitted to and cannot code others.")
    codes, labels = _code(model, data)
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(_rows(data, codes, labels))
    write_whole(options.output, text.getvalue().encode())
    if not _is_standard_output(options.output):
        say(
            *(f"note: {note}" for note in (*data.notes, *empty_samples(data))),
            f"{len(codes)} codes written to {options.output}",
        )


def _code(model: Any, data: DataSet) -> tuple[Array, IntArray]:
    try:
        with warnings.catch_warnings():
            # The columns were matched by name above.
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            return model.transform(data.X), model.predict(data.X)
    except Exception as error:  # a model from anywhere may hold anything; it must not cause a traceback
        raise CommandError(f"the model cannot code {data.name}: {' '.join(str(error).split())}") from None


def _rows(data: DataSet, codes: Array, labels: IntArray) -> Iterator[list[str]]:
    yield ["sample", "class", "label", *(f"code {j}" for j in range(codes.shape[1]))]
    samples = data.sample_names or [str(number) for number in range(len(codes))]
    for sample, code, label, true in zip(samples, codes.tolist(), labels.tolist(), data.y.tolist(), strict=True):
        name = data.class_names[true] if true >= 0 else ""
        yield [*safe_cells([sample, name]), str(label), *map(repr, code)]


def _is_standard_output(path: Path) -> bool:
    """Whether the table goes where messages would, as to /dev/stdout."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(sys.stdout.fileno()))
    except (OSError, ValueError):
        return False


def safe_cells(cells: Iterable[str]) -> Iterator[str]:
    """Texts that no spreadsheet takes for formulas: an apostrophe is put before those it would.

    A line break, which some readers would take for a new line of the table, becomes a space.
    """
    for cell in (" ".join(text.splitlines()) for text in cells):
        yield f"'{cell}" if cell.lstrip(" ").startswith(FORMULA_STARTS) else cell

"""The data of a comparison: a known name, a file or a folder, checked and prepared before any work."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from .. import datasets
from ..core.types import IntArray
from ..datasets import DataSet
from ..experiments.preparation import draw_labels, tf_idf, unit_norm
from ..files import ReadError, read
from .arguments import CommandError

LABELS_PER_CLASS = 5
# What --label-column says if no column holds classes.
NO_LABELS = "none"


def known_or_there(text: str) -> str:
    """The name of a data set, or the path of something that is there."""
    if text not in datasets.names() and not os.path.lexists(text):
        known = ", ".join(datasets.names())
        raise argparse.ArgumentTypeError(
            f"there is no data set {text!r}, known are: {known}; nor is it a file or folder"
        )
    return text


def read_file(path: Path, options: argparse.Namespace) -> DataSet:
    """The data of a file or folder, read as the user says.

    Parameters
    ----------
    path : Path
    options : argparse.Namespace
        label_column, drop_columns, header.
    """
    try:
        return read(
            path,
            label_column=False if options.label_column == NO_LABELS else options.label_column,
            drop_columns=options.drop_columns,
            header=None if options.header is None else options.header == "yes",
        )
    except ReadError as error:
        raise CommandError(str(error)) from None


def describe(data: DataSet) -> list[str]:
    """How much there is, and what the reader has found out by itself."""
    n, m = data.X.shape
    unknown = int((data.y < 0).sum())
    labels = _number(len(data.class_names), "class", "classes") if unknown < n else "no labels"
    if 0 < unknown < n:
        labels += f", {_number(unknown, 'sample', 'samples')} without label"
    size = f"{_number(n, 'sample', 'samples')}, {_number(m, 'feature', 'features')}"
    return [f"{data.name}: {size}, {labels}", *(f"note: {note}" for note in data.notes)]


def _number(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def load(text: str, options: argparse.Namespace) -> DataSet:
    """A data set that all methods accept."""
    try:
        data = datasets.load(text) if text in datasets.names() else read_file(Path(text), options)
    except datasets.DataSetError as error:
        raise CommandError(str(error)) from None
    values = data.X.data if sp.issparse(data.X) else data.X
    if not np.isfinite(values).all():
        raise CommandError(f"{text} has entries that are missing or infinite; all methods must see every entry.")
    if values.size and values.min() < 0:
        raise CommandError(f"{text} has negative entries; non-negative factorisations cannot represent them.")
    if not values.any():
        raise CommandError(f"{text} has no entries but zeros.")
    return data


def prepare(data: DataSet) -> tuple[Any, str]:
    """The samples as methods see them, and what was done, in words."""
    X = data.X
    if not sp.issparse(X):
        return unit_norm(X), "Samples scaled to unit norm"
    counts = sp.csr_array(X, copy=True)
    counts.eliminate_zeros()
    if (counts.data == np.round(counts.data)).all():
        return unit_norm(tf_idf(counts)), "Counts weighted by tf-idf, samples scaled to unit norm"
    return unit_norm(counts), "Samples scaled to unit norm"


def choose_labels(data: DataSet, per_class: int | None, seed: int) -> IntArray:
    """The labels that methods may use: those of a few samples per class, and −1 for all others.

    Unless a number is asked for, classes too small for five labels have fewer, as long as one sample stays hidden.
    """
    known = np.full(len(data.y), -1, np.intp)
    sizes = np.bincount(data.y[data.y >= 0])
    smallest = int(sizes[sizes > 0].min()) if sizes.any() else 0
    if per_class is None:
        per_class = min(LABELS_PER_CLASS, max(smallest - 1, 0))
    elif per_class >= smallest:
        raise CommandError(
            f"--labels-per-class is {per_class}; the smallest class of {data.name} has {smallest} samples, "
            "and some must stay unlabelled."
        )
    if per_class:
        scored = data.y >= 0
        known[scored] = draw_labels(data.y[scored], per_class, seed)
    return known


def choose_components(data: DataSet, asked: int | Literal["auto"] | None) -> int | None:
    """As many as asked for, or as there are classes; None if the data are to decide."""
    if asked == "auto":
        return None
    classes = len(np.unique(data.y[data.y >= 0]))
    k, most = asked or classes, min(data.X.shape)
    if k == 0:
        raise CommandError(
            f"{data.name} has no labels, so the number of components must be given: --components K, or auto."
        )
    if k > most:
        raise CommandError(f"--components is {k}; {data.name} can need {most} at most.")
    return k

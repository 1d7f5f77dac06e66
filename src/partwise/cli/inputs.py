"""The data of a comparison: a known name, a file or a folder, checked and prepared before any work."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from .. import datasets
from ..datasets import DataSet
from ..files import ReadError, read
from .arguments import CommandError

# The value of --label-column if no column holds classes.
NO_LABELS = "none"


def known_or_there(text: str) -> str:
    """The name of a data set, or the path of an existing file or folder."""
    if text not in datasets.names() and not os.path.lexists(text):
        known = ", ".join(datasets.names())
        raise argparse.ArgumentTypeError(
            f"there is no data set {text!r}, the known ones are: {known}; nor is it a file or folder"
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


def load(text: str, options: argparse.Namespace) -> DataSet:
    """A data set that all methods accept."""
    try:
        data = datasets.load(text) if text in datasets.names() else read_file(Path(text), options)
    except datasets.DataSetError as error:
        raise CommandError(str(error)) from None
    values = data.X.data if sp.issparse(data.X) else data.X
    if not np.isfinite(values).all():
        raise CommandError(f"{text} has missing or infinite entries; all methods need every entry.")
    if values.size and values.min() < 0:
        raise CommandError(f"{text} has negative entries; non-negative factorisations cannot represent them.")
    if not values.any():
        raise CommandError(f"{text} has only zeros.")
    return data

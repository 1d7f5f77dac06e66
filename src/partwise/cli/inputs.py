"""The data of a comparison: a known name, a file or a folder, checked and prepared before any work."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Literal

import numpy as np
import scipy.sparse as sp

from .. import datasets
from ..datasets import DataSet
from ..files import ReadError, read
from .arguments import CommandError

# The value of --label-column if no column holds classes, of --text-column if none holds texts, and of --stop-words.
NONE = "none"


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
        label_column, drop_columns, header, text_columns, encoding, and stop_words, if there is such an option.
    """
    texts = options.text_columns
    try:
        return read(
            path,
            label_column=False if options.label_column == NONE else options.label_column,
            text_column=False if texts == [NONE] else texts,
            encoding=options.encoding,
            stop_words=stop_words(options),
            drop_columns=options.drop_columns,
            header=None if options.header is None else options.header == "yes",
        )
    except ReadError as error:
        raise CommandError(str(error)) from None


def stop_words(options: argparse.Namespace) -> Literal["english"] | list[str] | None:
    """The words that are not counted: the English ones, none, or those of a file."""
    text = getattr(options, "stop_words", NONE)  # not an option of every command
    if text in ("english", NONE):
        return "english" if text == "english" else None
    try:
        return Path(text).read_text("utf-8-sig").split()
    except (OSError, UnicodeDecodeError):
        raise CommandError(f"--stop-words {text} is neither english, nor none, nor a file of words in UTF-8.") from None


def load(text: str, options: argparse.Namespace) -> DataSet:
    """A data set that all methods accept."""
    try:
        data = datasets.load(text) if text in datasets.names() else read_file(Path(text), options)
    except datasets.DataSetError as error:
        raise CommandError(str(error)) from None
    values = data.X.data if sp.issparse(data.X) else data.X
    if not np.isfinite(values).all():
        raise CommandError(
            f"{text} has missing or infinite entries; all methods need every entry. Where they are empty cells or NaN, "
            "partwise fit NMF --set missing=nan leaves them out of the fit."
        )
    if values.size and values.min() < 0:
        raise CommandError(f"{text} has negative entries; non-negative factorisations cannot represent them.")
    if not values.any():
        raise CommandError(f"{text} has only zeros.")
    return data

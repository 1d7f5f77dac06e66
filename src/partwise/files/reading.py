"""From a path to a data set."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from ..core.archive import ReadError, Refused, check_file, reading
from ..datasets import DataSet
from .arrays import read_mat, read_mtx, read_npy, read_npz
from .contents import KIND, Contents, as_data_set
from .folders import read_folder
from .tables import DELIMITERS, read_table

Reader = Callable[[Path], Contents]
READERS: dict[str, Reader] = {".npz": read_npz, ".npy": read_npy, ".mat": read_mat, ".mtx": read_mtx}


def read(path: str | os.PathLike[str], *, label_column: str | None = None) -> DataSet:
    """Read data from a file or folder, which may come from anywhere.

    - ``.npz``: `X`, or a sparse matrix as `scipy.sparse.save_npz` writes it (without `format`: `data`, `indices`,
      `indptr` and `shape` of a CSR matrix); also `y`, `classes`, `terms` and `image_shape`. ``.npy``: `X` alone.
    - ``.csv``, ``.tsv``: a row per sample, names in the first row or not. The classes are in the column
      `label_column`, or in one named label, class, y or target. A column named text is counted by words.
    - ``.mtx`` (Matrix Market); ``.mat`` up to version 7, with `X` or `fea` and `y` or `gnd`.
    - a folder of images of one size, or of ``.txt`` files; sub-folders are classes.

    Parameters
    ----------
    path : path-like
    label_column : str, optional
        Of a csv or tsv file.

    Returns
    -------
    data : DataSet
        `y` is −1 where the class is not known.

    Raises
    ------
    ReadError
        A ValueError that says in one sentence why the data cannot be read.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if path.is_dir():
        reader: Reader = read_folder
    elif suffix in DELIMITERS:
        reader = partial(read_table, label_column=label_column)
    elif suffix in READERS:
        reader = READERS[suffix]
    else:
        known = ", ".join([*READERS, *DELIMITERS])
        raise ReadError(f"{path} cannot be read as {KIND}: it is no folder, and its name does not end in {known}.")
    if label_column is not None and suffix not in DELIMITERS:
        raise ReadError(f"{path} cannot be read as {KIND}: only tables have a column {label_column!r}.")
    with reading(path, KIND):
        if not path.is_dir():
            check_file(path)
        return as_data_set(path.stem, reader(path))


def align(data: DataSet, names: Sequence[str]) -> DataSet:
    """The data with the features that a model was fitted with, in their order.

    Words that the model does not know are left out, and words that do not occur are counted as zero. Columns of a table
    must all be there.

    Parameters
    ----------
    data : DataSet
    names : sequence of str
    """
    if data.terms is None or data.terms == tuple(names):
        return data
    place = {name: j for j, name in enumerate(data.terms)}
    absent = [name for name in names if name not in place]
    if absent and not sp.issparse(data.X):
        raise ReadError(f"{data.name} has no column {absent[0]!r}, which the model was fitted with.")
    with reading(data.name, KIND):
        if len(place) != len(data.terms):
            raise Refused("two of its columns have the same name")
        if not absent:
            X = data.X[:, [place[name] for name in names]]
        else:
            wanted = [(place[name], j) for j, name in enumerate(names) if name in place]
            rows, columns = np.array(wanted, np.intp).reshape(-1, 2).T
            ones = np.ones(len(wanted), data.X.dtype)
            X = sp.csr_array(data.X @ sp.csr_array((ones, (rows, columns)), shape=(len(place), len(names))))
    return DataSet(**{**vars(data), "X": X, "terms": tuple(names)})

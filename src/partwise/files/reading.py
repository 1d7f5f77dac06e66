"""From a path to a data set."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
import scipy.sparse as sp

from ..core.door import OPENED
from .archive import ReadError, Refused, check_file, reading
from .arrays import read_mat, read_mtx, read_npy, read_npz
from .cells import SEPARATORS
from .contents import KIND, Contents, as_data_set
from .data_set import DataSet
from .folders import read_folder
from .layout import TableOptions
from .tables import read_table
from .texts import StopWords

Reader = Callable[[Path], Contents]
READERS: dict[str, Reader] = {".npz": read_npz, ".npy": read_npy, ".mat": read_mat, ".mtx": read_mtx}


def read(
    path: str | os.PathLike[str],
    *,
    label_column: str | Literal[False] | None = None,
    drop_columns: Sequence[str] = (),
    header: bool | None = None,
    text_column: str | Sequence[str] | Literal[False] | None = None,
    encoding: str | None = None,
    stop_words: StopWords = None,
) -> DataSet:
    """Read data from a file or folder of any origin.

    - ``.npz``: `X`, or a sparse matrix as `scipy.sparse.save_npz` writes it (without `format`: `data`, `indices`,
      `indptr` and `shape` of a CSR matrix); also `y`, `classes`, `terms` and `image_shape`. ``.npy``: `X` alone.
    - ``.csv``, ``.tsv``: a row per sample, names in the first row or not. The classes are in the column
      `label_column`, or in one named label, labels, class, target or y; −1, NaN and empty cells are unknown. A first
      column of names or numbers of the samples, as pandas and R write it, is not a feature. The column `text_column`,
      one named text, or the only one that holds prose becomes counts of words, and other columns are not used. Commas,
      semicolons, tabs and blanks separate cells; between semicolons, numbers may have decimal commas.
    - ``.mtx`` (Matrix Market); ``.mat`` up to version 7, with `X` or `fea` and `y` or `gnd`.
    - a folder of images of one size, or of ``.txt`` files; sub-folders are classes.

    Parameters
    ----------
    path : path-like
    label_column : str or False, optional
        The column of a table that holds the classes, by its name, or by its position, "0", "1", …, if columns have no
        names; False if none does.
    drop_columns : sequence of str
        Columns of a table to leave out.
    header : bool, optional
        Whether the first row of a table holds the names of the columns; inferred by default.
    text_column : str, sequence of str or False, optional
        The column of a table whose words are counted, or several whose texts are joined; False if the table holds
        numbers.
    encoding : str, optional
        How a table stores characters, such as "cp1252"; UTF-8, or UTF-16 with a byte order mark, by default.
    stop_words : {"english"} or sequence of str, optional
        Words that are not counted: scikit-learn's English ones, or your own. All are counted by default.

    Returns
    -------
    data : DataSet
        `y` is −1 where the class is unknown. `notes` say what was inferred about a table, and what is not used.

    Raises
    ------
    ReadError
        A ValueError that says in one sentence why the data cannot be read.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    texts = [text_column] if isinstance(text_column, str) else text_column
    if suffix in OPENED:
        raise ReadError(f"{path} cannot be read as {KIND} here. Open it, and give estimators {OPENED[suffix]}.")
    if path.is_dir():
        reader: Reader = partial(read_folder, stop_words=stop_words)
    elif suffix in SEPARATORS:
        options = TableOptions(label_column, drop_columns, header, texts, encoding)
        reader = partial(read_table, options=options, stop_words=stop_words)
    elif suffix in READERS:
        reader = READERS[suffix]
    else:
        known = ", ".join([*READERS, *SEPARATORS])
        raise ReadError(f"{path} cannot be read as {KIND}: it is not a folder, and its name does not end in {known}.")
    columns = [*([label_column] if label_column else []), *(texts or []), *drop_columns]
    if columns and suffix not in SEPARATORS:
        raise ReadError(f"{path} cannot be read as {KIND}: only tables have a column {columns[0]!r}.")
    with reading(path, KIND):
        if not path.is_dir():
            check_file(path)
        return as_data_set(path.stem, reader(path))


def align(data: DataSet, names: Sequence[str]) -> DataSet:
    """The data with the features that a model was fitted with, in their order.

    Words unknown to the model are left out, and words that do not occur are counted as zero. All columns of a table
    must be present.

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
    return replace(data, X=X, terms=tuple(names))

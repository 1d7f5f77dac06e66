"""What `fit_batches` is given: batches, and not one table whose rows or columns would be taken for them."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.annotated import is_annotated
from ..core.dask_rows import is_dask, single_chunks
from ..core.sources import as_source

NAME = (
    "batches is {!r}, a name and not batches. Give what reads the file in pieces, for example "
    "pandas.read_csv(name, chunksize=1000)."
)
ONE_TABLE = (
    "batches is a {} that holds all samples, not an iterable of batches. Give its parts, for example "
    "(X[i : i + 1000] for i in range(0, X.shape[0], 1000)), or give it to fit, which reads data on disk in blocks."
)
NOTHING = "batches is {!r}, not an iterable of batches. Give a list or a generator, each item an X or a tuple (X, y)."


def batches_of(given: Any) -> Iterable[Any]:
    """The batches of a stream.

    Parameters
    ----------
    given : iterable or dask array

    Raises
    ------
    TypeError
        If iterating over it gives no batches.
    """
    if is_dask(given):
        return single_chunks(given)
    if isinstance(given, str | bytes | PathLike):
        raise TypeError(NAME.format(given))
    if _is_one_table(given):
        raise TypeError(ONE_TABLE.format(type(given).__name__))
    if not isinstance(given, Iterable):
        raise TypeError(NOTHING.format(given))
    return given


def _is_one_table(given: Any) -> bool:
    """Whether these are samples × features. A stack of arrays, and a source that iterates over batches, are not."""
    if isinstance(given, np.ndarray):
        return given.ndim < 3 and given.dtype != object
    if sp.issparse(given) or is_annotated(given) or (hasattr(given, "columns") and hasattr(given, "shape")):
        return True
    source = as_source(given)
    return source is not None and (source is not given or not isinstance(given, Iterable))

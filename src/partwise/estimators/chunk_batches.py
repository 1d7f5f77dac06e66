"""The chunks of a dask array as batches of a stream: the model goes to where each chunk is."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from ..core.dask_rows import at_chunk, single_chunks


def learn_from_chunks(model: Any, X: Any, y: Any, sample_weight: Any) -> None:
    """Let a model learn from the chunks of a dask array, one after another.

    Parameters
    ----------
    model : StreamingFactorization
    X : dask.array.Array, dask DataFrame or DaskRows
    y, sample_weight : array-like of shape (n_samples,), optional
    """
    callbacks, verbose, begin = model.callbacks, model.verbose, 0
    # Nobody is told about a batch, and what listens here cannot be sent.
    model.callbacks, model.verbose = None, 0
    try:
        for part in single_chunks(X):
            rows = slice(begin, begin + part.shape[0])
            own = [_part(values, rows) for values in (y, sample_weight)]
            model.__dict__.update(at_chunk(part, _learned, model, *own).__dict__)
            begin = rows.stop
    finally:
        model.callbacks, model.verbose = callbacks, verbose


def _learned(X: Any, model: Any, y: Any, sample_weight: Any) -> Any:
    """The model after another batch."""
    model = copy(model)
    model._take(X, y, sample_weight)
    return model


def _part(values: Any, rows: slice) -> Any:
    """Some of the values that samples have; a list may hold names."""
    return values if values is None else values[rows] if isinstance(values, list) else np.asarray(values)[rows]

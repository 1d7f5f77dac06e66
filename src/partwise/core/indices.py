"""Index arrays of sparse matrices: whether they hold together, and those that routines of others can count with."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

MOST = int(np.iinfo(np.int32).max)


def check_pointers(indptr: Any) -> None:
    """Refuse row or column pointers that fall: compiled code would read or write outside the matrix.

    scipy's own check passes over matrices whose last pointer is zero or negative.
    """
    if indptr.size == 0 or indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any():
        raise ValueError("its index pointers do not rise from zero")


def countable(matrix: Any) -> bool:
    """Whether 32 bits suffice for the indices of a matrix, if it is sparse."""
    return not sp.issparse(matrix) or max(matrix.nnz, *matrix.shape) <= MOST


def narrow(matrix: Any, routine: str) -> Any:
    """The same CSR or CSC matrix with indices of 32 bits; refused if they do not suffice.

    Parameters
    ----------
    matrix : sparse matrix
        Its data are shared, and so are its indices if they are narrow already.
    routine : str
        Who needs it, for the message.
    """
    if not countable(matrix):
        raise ValueError(
            f"A sparse matrix of shape {matrix.shape} with {matrix.nnz} entries was given to {routine}, which counts "
            f"up to {MOST}. Take fewer samples, or settings that do without {routine}."
        )
    same = type(matrix)(matrix.shape, dtype=matrix.dtype)
    same.data = matrix.data
    same.indices, same.indptr = (part.astype(np.int32, copy=False) for part in (matrix.indices, matrix.indptr))
    return same

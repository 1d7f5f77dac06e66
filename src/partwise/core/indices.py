"""Index arrays of sparse matrices: whether they are consistent, and narrow ones for other libraries' routines."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

MOST = int(np.iinfo(np.int32).max)


def check_pointers(indptr: Any) -> None:
    """Refuse row or column pointers that fall: compiled code would read or write outside the matrix.

    scipy's own check accepts matrices whose last pointer is zero or negative.
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
        Its data are shared, and so are its indices if they are already narrow.
    routine : str
        Who needs it, for the message.
    """
    if not countable(matrix):
        raise ValueError(
            f"A sparse matrix of shape {matrix.shape} with {matrix.nnz} entries was given to {routine}, which can only "
            f"count to {MOST}. Use fewer samples, or settings that do not need {routine}."
        )
    same = type(matrix)(matrix.shape, dtype=matrix.dtype)
    same.data = matrix.data
    same.indices, same.indptr = (part.astype(np.int32, copy=False) for part in (matrix.indices, matrix.indptr))
    return same

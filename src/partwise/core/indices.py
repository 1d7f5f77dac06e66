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


def canonical_csr(matrix: Any, name: str = "X") -> Any:
    """A sparse matrix or array as `csr_array` with valid, sorted, unique indices; shares memory where possible.

    Broken index arrays are refused: compiled code would read or write outside the matrix.
    """
    if matrix.ndim != 2:
        raise ValueError(
            f"Expected 2D array: the sparse {name} has {matrix.ndim} dimension(s), but samples × features has two."
        )
    if matrix.dtype.kind in "iu":
        # Small integers overflow when entries stored twice are added up.
        matrix = matrix.astype(np.float64)
    try:
        csr = sp.csr_array(_checked(matrix))
        if matrix.format not in ("csr", "csc", "bsr"):
            csr.check_format(full_check=True)
    except (ValueError, IndexError) as error:
        raise ValueError(
            f"{name} is not a valid sparse matrix, its structure is broken ({error}); rebuild it from its entries."
        ) from error
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    return csr


def _checked(matrix: Any) -> Any:
    """A plain scipy matrix over the same memory, its indices checked where conversions would trust them."""
    kinds = {"csr": sp.csr_array, "csc": sp.csc_array, "bsr": sp.bsr_array}
    if matrix.format in kinds:
        check_pointers(matrix.indptr)
        # A second object over the same memory: the check may replace the index arrays of the one it is called on.
        matrix = kinds[matrix.format]((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape)
        matrix.check_format(full_check=True)
    elif matrix.format == "coo" and matrix.nnz:
        for index, length in zip((matrix.row, matrix.col), matrix.shape, strict=True):
            if not 0 <= index.min() <= index.max() < length:
                raise ValueError("indices out of range")
    return matrix

"""The samples as the graph code reads them: dense or CSR, never changed, worked on in blocks of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.door import read_data, values_of
from ..core.operand import Operand
from ..core.storage import as_operand
from ..core.types import Array, IntArray

# A block of rows holds at most this many numbers (16 MB), and two blocks give at most BLOCK_ROWS² products (8 MB).
BLOCK_ENTRIES = 2**21
BLOCK_ROWS = 2**10

# Beyond these sizes, squares leave the range of float64.
SMALLEST, LARGEST = 1e-140, 1e140


def read_samples(X: Any, name: str = "X") -> Any:
    """Validate samples × features: a float32 or float64 array, or a CSR array; copied only to convert."""
    X = read_data(X, name=name)
    values = values_of(X)
    size = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    if size and not SMALLEST < size < LARGEST:
        raise ValueError(
            f"The largest entry of {name} is {size:g} in size, and distances between samples square it. "
            f"It must lie between {SMALLEST:g} and {LARGEST:g}; divide {name} by its largest entry."
        )
    return X


def read_operand(X: Any, name: str = "X") -> Operand:
    """Samples as an operand; data that are not in memory were checked when they were opened."""
    if isinstance(X, Operand):
        return as_operand(read_samples(X.array, name)) if X.in_memory else X
    return as_operand(read_samples(X, name))


def read_new_samples(X_new: Any, X_train: Any) -> tuple[Any, Any]:
    """Validate new samples against the training samples, and hold them in the same kind of array.

    Training samples that are not in memory, an operand, were checked when they were opened.
    """
    X_new, stored = read_samples(X_new, "X_new"), isinstance(X_train, Operand)
    X_train = X_train if stored else read_samples(X_train, "X_train")
    if X_new.shape[1] != X_train.shape[1]:
        raise ValueError(
            f"X_new has {X_new.shape[1]} features and X_train has {X_train.shape[1]}; give new samples with "
            "the features of the training samples."
        )
    if X_train.is_sparse if stored else sp.issparse(X_train):
        return sp.csr_array(X_new), X_train
    return X_new.toarray() if sp.issparse(X_new) else X_new, X_train


def as_read(X: Any) -> Operand:
    """What :func:`read_new_samples` gives, as an operand."""
    return X if isinstance(X, Operand) else as_operand(X)


def block_rows(X: Any) -> int:
    """How many rows of X make a block."""
    width = X.nnz // X.shape[0] if sp.issparse(X) else X.shape[1]
    return int(np.clip(BLOCK_ENTRIES // max(1, width), 1, BLOCK_ROWS))


def blocks_of(n: int, size: int) -> list[slice]:
    """Consecutive slices that cover 0 … n − 1."""
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def row_dots(A: Any, B: Any) -> Array:
    """⟨a_i, b_i⟩ for every row i."""
    if sp.issparse(A):
        return np.asarray(A.multiply(B).sum(axis=1))
    dots: Array = np.einsum("ij,ij->i", A, B)
    return dots


def row_norms(X: Any) -> Array:
    """‖x_i‖ in float64."""
    blocks = (X[rows].astype(np.float64) for rows in blocks_of(X.shape[0], block_rows(X)))
    norms: Array = np.sqrt(np.concatenate([row_dots(block, block) for block in blocks]))
    return norms


def link_sources(links: Any) -> IntArray:
    """Row of every stored entry of a CSR matrix, next to its `indices`."""
    return np.repeat(np.arange(links.shape[0]), np.diff(links.indptr))

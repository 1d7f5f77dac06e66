"""A reader of Matrix Market files: real matrices, dense and sparse.

scipy's reader crashes the process on damaged files, as our fuzzing found. This one leaves the parsing of numbers to
numpy and compares what the file declares with what is there.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from ..core.types import Array
from ..core.warn import quiet
from .archive import Refused
from .plain import check_lengths

FIELDS = ("real", "double", "integer", "unsigned-integer", "pattern")
MIRRORED = {"general": 0, "symmetric": 1, "skew-symmetric": -1}


def matrix_market(path: Path) -> Any:
    """The matrix of a file: an array, or a CSR matrix."""
    with open(path, encoding="latin-1") as stream:
        form, field, symmetry = _kind(stream.readline())
        size = next((line for line in stream if line.strip() and not line.startswith("%")), "")
        lengths = size.split()
        if len(lengths) != (3 if form == "coordinate" else 2) or not all(word.isdecimal() for word in lengths):
            raise Refused("it does not give the size of its matrix")
        rows, columns, *entries = (int(word) for word in lengths)
        check_lengths(rows, columns)
        width = 1 if form == "array" else 2 if field == "pattern" else 3
        body = _body(stream, width)
    if symmetry != "general" and rows != columns:
        raise Refused(f"its matrix is {symmetry} but not square")
    expected = entries[0] if entries else _stored(rows, columns, MIRRORED[symmetry])
    if len(body) != expected:
        raise Refused(f"it declares {expected} entries but holds {len(body)}")
    if form == "array":
        return _dense(body, (rows, columns), MIRRORED[symmetry])
    return _sparse(body, (rows, columns), MIRRORED[symmetry])


def _kind(line: str) -> tuple[str, str, str]:
    """Form, field and symmetry from the first line."""
    words = line.lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"] or words[2] not in ("coordinate", "array"):
        raise Refused("it is not a Matrix Market file")
    form, field, symmetry = words[2:]
    if field not in FIELDS or symmetry not in MIRRORED or (form, field) == ("array", "pattern"):
        raise Refused(f"its entries are {field} and {symmetry}; only real numbers are read")
    return form, field, symmetry


def _body(stream: IO[str], width: int) -> Array:
    # Do not warn about an empty body.
    with quiet():
        body = np.loadtxt(stream, np.float64, comments="%", ndmin=2)
    if not body.size:
        return np.empty((0, width))
    if body.shape[1] != width:
        raise Refused(f"its lines hold {body.shape[1]} numbers but should hold {width}")
    return body


def _stored(rows: int, columns: int, mirrored: int) -> int:
    """Entries of a dense matrix in a file: all, or those below the diagonal and, if symmetric, on it."""
    return rows * (rows + mirrored) // 2 if mirrored else rows * columns


def _dense(body: Array, shape: tuple[int, int], mirrored: int) -> Array:
    if not mirrored:
        return body.reshape(shape, order="F")
    # The columns of the lower triangle are the rows of the upper one.
    upper = np.triu_indices(shape[0], k=0 if mirrored > 0 else 1)
    matrix = np.zeros(shape)
    matrix[upper] = mirrored * body[:, 0]
    matrix.T[upper] = body[:, 0]
    return matrix


def _sparse(body: Array, shape: tuple[int, int], mirrored: int) -> Any:
    places = body[:, :2] - 1
    if not ((places >= 0) & (places < shape) & (places == np.floor(places))).all():
        raise Refused("an entry lies outside its matrix")
    i, j = places.astype(np.int64).T
    values = np.ones(len(body)) if body.shape[1] == 2 else body[:, 2]
    matrix = sp.coo_array((values, (i, j)), shape=shape).tocsr()
    if not mirrored:
        return matrix
    off = i != j
    return matrix + sp.coo_array((mirrored * values[off], (j[off], i[off])), shape=shape).tocsr()

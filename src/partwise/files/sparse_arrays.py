"""Sparse matrices as arrays in an npz file, as `scipy.sparse.save_npz` writes them in each of its formats.

The array `format` names the format; without it, `data`, `indices`, `indptr` and `shape` are those of a CSR matrix.
Files may come from anywhere: indices are checked before compiled code sees them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.types import Array
from .archive import Refused
from .plain import check_lengths, sparse_matrix

Parts = Mapping[str, Array]
COMPRESSED = ("indices", "indptr")


def holds_sparse(arrays: Parts) -> bool:
    """Whether the arrays of a file are those of a sparse matrix, with or without others."""
    return {"data", "shape"} <= arrays.keys() and ("format" in arrays or arrays.keys() >= set(COMPRESSED))


def read_sparse(arrays: Parts) -> sp.csr_array:
    """The sparse matrix by rows, in float32 or float64."""
    shape, kind = arrays["shape"], _format(arrays)
    if shape.size != 2 or shape.dtype.kind not in "iu" or shape.min() < 0:
        raise Refused("the shape of its sparse matrix is not a pair of whole numbers")
    rows, columns = (int(length) for length in shape.ravel())
    check_lengths(rows, columns)
    needed, make = FORMATS[kind]
    if absent := [name for name in needed if name not in arrays]:
        raise Refused(f"its sparse matrix ({kind}) lacks {' and '.join(absent)}")
    parts = {name: _signed(arrays[name]) for name in needed}
    data = arrays["data"]
    if data.dtype.kind not in "biuf":
        raise Refused(f"its sparse matrix is of dtype {data.dtype}, not numbers")
    # Entries at the same place are added, which would wrap around in small integers.
    parts["data"] = data if data.dtype in (np.float32, np.float64) else data.astype(np.float64)
    return sp.csr_array(make(parts, (rows, columns)))


def _format(arrays: Parts) -> str:
    if "format" not in arrays:
        return "csr"
    found = arrays["format"]
    name = found.item() if found.size == 1 else None
    if isinstance(name, bytes):
        name = name.decode("ascii", "replace")
    if name not in FORMATS:
        raise Refused(f"the format of its sparse matrix is {str(name)[:20]!r}, not one of {', '.join(FORMATS)}")
    return str(name)


def _signed(indices: Array) -> Array:
    if indices.dtype.kind not in "iu":
        raise Refused("the parts of its sparse matrix are not what they should be")
    if indices.dtype.kind == "u" and indices.size and int(indices.max()) > np.iinfo(np.int64).max:
        raise Refused("the indices of its sparse matrix are too large")
    return indices.astype(np.int64) if indices.dtype.kind == "u" else indices


def _compressed(kind: Any) -> Callable[[Parts, tuple[int, int]], Any]:
    def make(parts: Parts, shape: tuple[int, int]) -> Any:
        return sparse_matrix([parts["data"], parts["indices"], parts["indptr"]], shape, kind=kind)

    return make


def _blocks(parts: Parts, shape: tuple[int, int]) -> Any:
    data = parts["data"]
    if data.ndim != 3 or 0 in data.shape[1:]:
        raise Refused("the blocks of its sparse matrix are not what they should be")
    # The positions of the blocks form a sparse matrix whose entries are the numbers of the blocks.
    counts = [length // block for length, block in zip(shape, data.shape[1:], strict=True)]
    if tuple(count * block for count, block in zip(counts, data.shape[1:], strict=True)) != shape:
        raise Refused(f"the blocks of its sparse matrix do not fit into shape {shape}")
    sparse_matrix([np.arange(len(data), dtype=np.float64), parts["indices"], parts["indptr"]], counts)
    return sp.bsr_array((data, parts["indices"], parts["indptr"]), shape=shape)


def _coordinates(parts: Parts, shape: tuple[int, int]) -> Any:
    data, places = parts["data"], (parts["row"], parts["col"])
    for place, length in zip(places, shape, strict=True):
        if (
            place.ndim != 1
            or place.shape != data.shape
            or (place.size and not 0 <= place.min() <= place.max() < length)
        ):
            raise Refused(f"the indices of its sparse matrix do not fit shape {shape}")
    return sp.coo_array((data, places), shape=shape)


def _diagonals(parts: Parts, shape: tuple[int, int]) -> Any:
    data, offsets = parts["data"], parts["offsets"]
    if data.ndim != 2 or offsets.shape != data.shape[:1] or len(np.unique(offsets)) != len(offsets):
        raise Refused("the diagonals of its sparse matrix are not what they should be")
    if offsets.size and not -shape[0] < offsets.min() <= offsets.max() < shape[1]:
        raise Refused(f"the diagonals of its sparse matrix lie outside shape {shape}")
    return sp.dia_array((data, offsets), shape=shape)


FORMATS: dict[str, tuple[tuple[str, ...], Callable[[Parts, tuple[int, int]], Any]]] = {
    "csr": (COMPRESSED, _compressed(sp.csr_array)),
    "csc": (COMPRESSED, _compressed(sp.csc_array)),
    "bsr": (COMPRESSED, _blocks),
    "coo": (("row", "col"), _coordinates),
    "dia": (("offsets",), _diagonals),
}

"""A reader of MATLAB files, version 5 to 7: real matrices, dense and sparse, and nothing else.

scipy's reader trusts the lengths that a file declares, and damaged files crash the process (our fuzzing found it within
minutes). This one checks every length and skips what data do not need: cells, structures, objects and functions.

A file is a header of 128 bytes and then elements, each a tag (type, length) and its bytes, filled up to a multiple of
eight. A matrix is an element that holds others: flags, dimensions, name, and values; a sparse one has row indices and
column pointers before its values. Any element may be compressed.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.types import Array
from .archive import Refused, most_bytes
from .plain import check_lengths, sparse_matrix

HEADER_BYTES, WORD = 128, 8
MATRIX, COMPRESSED = 14, 15
# How numbers are stored, by the type of their element, and what they are, by the class of their matrix.
STORED = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
CLASSES = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}
SPARSE = 5
COMPLEX = 0x0800


def matlab_matrices(path: Path) -> dict[str, Any]:
    """The real matrices of a file by name."""
    content = path.read_bytes()
    if content.startswith(b"MATLAB 7.3 MAT-file"):
        raise Refused("it is of version 7.3; save it with -v7")
    order = {b"IM": "<", b"MI": ">"}.get(content[126:128])
    if order is None or content[124:126] not in (b"\x00\x01", b"\x01\x00"):
        raise Refused("it is not a MATLAB file of version 5 to 7")
    found: dict[str, Any] = {}
    left = most_bytes()
    for kind, element in _elements(content[HEADER_BYTES:], order):
        if kind == COMPRESSED:
            inflated = zlib.decompressobj().decompress(element, left)
            left -= len(inflated)
            if left <= 0:
                raise Refused("it unpacks to more than allowed")
            kind, element = next(_elements(inflated, order), (0, b""))
        if kind == MATRIX:
            found.update(_matrix(element, order))
    return found


def _elements(content: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    """Types and bytes of consecutive elements."""
    place = 0
    while place + WORD <= len(content):
        kind, length = (int(number) for number in np.frombuffer(content, f"{order}u4", 2, place))
        start = place + WORD
        if kind >> 16:
            # Up to four bytes are in the tag itself.
            kind, length, start = kind & 0xFFFF, kind >> 16, place + WORD // 2
            if length > WORD // 2:
                raise Refused("one of its elements is longer than its tag")
        if length > len(content) - start:
            raise Refused(f"it declares an element of {length} bytes but holds {len(content) - start}")
        yield kind, content[start : start + length]
        small = start == place + WORD // 2
        place = place + WORD if small else start + (length if kind == COMPRESSED else -(-length // WORD) * WORD)


def _matrix(element: bytes, order: str) -> dict[str, Any]:
    """One matrix by its name; nothing if it is not of real numbers."""
    parts = list(_elements(element, order))
    if len(parts) < 4:
        return {}
    flags = int(_numbers(*parts[0], order)[0])
    shape = tuple(int(length) for length in _numbers(*parts[1], order))
    name = parts[2][1].decode("latin-1")
    kind = flags & 0xFF
    if flags & COMPLEX or (kind != SPARSE and kind not in CLASSES):
        return {}
    if len(shape) < 2 or min(shape) < 0:
        raise Refused(f"its {name} declares the shape {shape}")
    if kind == SPARSE:
        return {name: _sparse(parts[3:], shape, order)}
    values = _numbers(*parts[3], order)
    if len(values) != int(np.prod(shape, dtype=object)):
        raise Refused(f"its {name} declares the shape {shape} but holds {len(values)} numbers")
    return {name: values.reshape(shape, order="F").astype(CLASSES[kind])}


def _sparse(parts: list[tuple[int, bytes]], shape: tuple[int, ...], order: str) -> Any:
    if len(parts) < 3 or len(shape) != 2:
        raise Refused("its sparse matrix is incomplete")
    rows, pointers, values = (_numbers(*part, order) for part in parts[:3])
    if pointers.size == 0 or rows.dtype.kind not in "iu" or pointers.dtype.kind not in "iu":
        raise Refused("the parts of its sparse matrix are not what they should be")
    check_lengths(*shape)
    # Arrays may be longer than what they store.
    stored = int(pointers[-1])
    if not 0 <= stored <= min(len(rows), len(values)):
        raise Refused("the parts of its sparse matrix do not fit together")
    parts_of = [values[:stored].astype(np.float64), rows[:stored].astype(np.int64), pointers.astype(np.int64)]
    return sparse_matrix(parts_of, shape, kind=sp.csc_array)


def _numbers(kind: int, content: bytes, order: str) -> Array:
    """The numbers of an element."""
    if kind not in STORED:
        raise Refused(f"it stores numbers as type {kind}, which is unknown")
    dtype = np.dtype(f"{order}{STORED[kind]}")
    if len(content) % dtype.itemsize:
        raise Refused(f"it holds {len(content)} bytes of numbers of {dtype.itemsize}")
    return np.frombuffer(content, dtype)

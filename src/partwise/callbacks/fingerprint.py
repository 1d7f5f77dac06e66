"""Short texts that identify data and parameters, the same in every process."""

from __future__ import annotations

import hashlib
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.reading import StoredRows
from ..core.types import Array

BLOCK_ROWS = 4096


def fingerprint(value: Any) -> str:
    """A text that differs if the value does: plain values in full, arrays by their contents, functions by name."""
    if value is None or isinstance(value, bool | str | bytes | int | float | np.generic):
        return repr(value.item() if isinstance(value, np.generic) else value)
    if isinstance(value, np.random.RandomState | np.random.Generator):
        # Its state is restored on resuming; it does not distinguish one fit from another.
        return type(value).__name__
    if isinstance(value, np.ndarray):
        return f"array{value.shape} {value.dtype} {_digest(value)}"
    if sp.issparse(value):
        csr = value.tocsr()
        return f"sparse{csr.shape} {csr.dtype} {_digest(csr.data, csr.indices, csr.indptr)}"
    if isinstance(value, StoredRows):
        return f"rows{value.identity()}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{fingerprint(key)}: {fingerprint(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple | range):
        return f"{type(value).__name__}({', '.join(map(fingerprint, value))})"
    if is_dataclass(value) and not isinstance(value, type):
        inside = ", ".join(f"{field.name}={fingerprint(getattr(value, field.name))}" for field in fields(value))
        return f"{type(value).__name__}({inside})"
    if hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    if hasattr(value, "__array__"):
        return fingerprint(np.asarray(value))
    return f"{type(value).__qualname__}({fingerprint(vars(value)) if hasattr(value, '__dict__') else ''})"


def _digest(*arrays: Array) -> str:
    """A hash of the contents, whatever their order in memory; 64-bit indices hash like 32-bit ones."""
    total = hashlib.blake2b(digest_size=16)
    for array in arrays:
        if array.dtype.hasobject:
            total.update(repr(array.tolist()).encode())
            continue
        rows = array.reshape(1, *array.shape) if array.ndim == 0 else array
        for start in range(0, len(rows), BLOCK_ROWS):
            block = np.ascontiguousarray(rows[start : start + BLOCK_ROWS])
            total.update((block.astype(np.int64) if block.dtype.kind == "i" else block).tobytes())
    return total.hexdigest()

"""Readers of binary files of numbers: npz, npy, mat, mtx."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.archive import Refused, most_bytes, read_array, read_arrays
from ..core.plain import sparse_matrix
from ..core.types import Array
from .contents import KIND, Contents

CSR_PARTS = ("data", "indices", "indptr", "shape")
# Under these names files from elsewhere hold their samples and classes.
SAMPLES, LABELS = ("X", "fea", "data", "features", "x"), ("y", "Y", "gnd", "labels", "label", "target")
# Bytes that one entry takes while it is read.
ENTRY_BYTES = 32


def read_npz(path: Path) -> Contents:
    """`X`, or the parts of a CSR matrix; `y`, `classes`, `terms` and `image_shape` where they are."""
    return _of_arrays(read_arrays(path, KIND))


def _of_arrays(arrays: Mapping[str, Array]) -> Contents:
    if all(name in arrays for name in CSR_PARTS):
        parts = [arrays[name] for name in CSR_PARTS[:3]]
        shape = arrays["shape"]
        if shape.size != 2 or shape.dtype.kind not in "iu":
            raise Refused("the shape of its sparse matrix is no pair of whole numbers")
        X: Any = sparse_matrix([parts[0], *(_signed(part) for part in parts[1:])], shape)
    elif "X" in arrays:
        X = arrays["X"]
    else:
        raise Refused(f"it holds neither X nor a sparse matrix ({', '.join(CSR_PARTS)})")
    return Contents(X, *(arrays.get(name) for name in ("y", "classes", "image_shape", "terms")))


def _signed(indices: Array) -> Array:
    if indices.dtype.kind == "u" and indices.size and int(indices.max()) > np.iinfo(np.int64).max:
        raise Refused("the indices of its sparse matrix are too large")
    return indices.astype(np.int64) if indices.dtype.kind == "u" else indices


def read_npy(path: Path) -> Contents:
    """One array of samples × features."""
    with open(path, "rb") as stream:
        return Contents(read_array(stream, os.path.getsize(path)))


def read_mtx(path: Path) -> Contents:
    """A Matrix Market file: samples × features, sparse or dense."""
    from scipy.io import mminfo, mmread

    rows, columns, entries, form, field, _ = mminfo(path)
    if field not in ("real", "integer", "unsigned-integer", "pattern"):
        raise Refused(f"its entries are {field}, not real numbers")
    # Every entry takes a byte and a line's end at least, whatever the first line says.
    if entries > os.path.getsize(path) or rows * 8 + entries * ENTRY_BYTES > most_bytes():
        raise Refused(f"it declares {entries} entries in {rows} rows, more than it can hold or than is allowed")
    if form == "array" and rows * columns > 2 * os.path.getsize(path):
        raise Refused(f"it declares {rows * columns} entries, more than it can hold")
    if max(rows, columns) >= 2**31:
        raise Refused(f"it declares {rows} rows and {columns} columns, more than is read")
    X = mmread(path)
    return Contents(X.tocsr() if sp.issparse(X) else X)


def read_mat(path: Path) -> Contents:
    """A MATLAB file up to version 7: samples under X or fea, classes under y or gnd."""
    from scipy.io import loadmat, whosmat

    with open(path, "rb") as stream:
        if stream.read(19) == b"MATLAB 7.3 MAT-file":
            raise Refused("it is of version 7.3; save it with -v7")
    declared = {name: (shape, form) for name, shape, form in whosmat(str(path))}
    samples, labels = _first(SAMPLES, declared), _first(LABELS, declared)
    if samples is None:
        raise Refused(f"it holds none of {', '.join(SAMPLES)}, but {_listed(declared)}")
    chosen = [name for name in (samples, labels) if name is not None]
    for name in chosen:
        shape, form = declared[name]
        if form not in ("double", "single", "sparse", "logical") and not re.fullmatch(r"u?int\d+", form):
            raise Refused(f"its {name} is of type {form}, not numbers")
        if form != "sparse" and int(np.prod(shape, dtype=object)) * 8 > most_bytes():
            raise Refused(f"its {name} declares the shape {shape}, larger than is allowed")
    found = loadmat(str(path), variable_names=chosen)
    X = found[samples]
    if sp.issparse(X):
        X = sparse_matrix([X.data, X.indices, X.indptr], X.shape, kind=type(X)).tocsr()
    return Contents(X, None if labels is None else found[labels])


def _first(names: Iterable[str], there: Iterable[str]) -> str | None:
    found = set(there)
    return next((name for name in names if name in found), None)


def _listed(names: Iterable[str]) -> str:
    shown = [repr(name) for name in names][:5]
    return ", ".join(shown) if shown else "nothing"

"""Readers of binary files of numbers: npz, npy, mat, mtx."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..core.types import Array
from .archive import Refused, read_array, read_arrays
from .contents import KIND, Contents
from .matlab import matlab_matrices
from .matrix_market import matrix_market
from .sparse_arrays import holds_sparse, read_sparse

# Names under which files from elsewhere hold their samples and classes.
SAMPLES, LABELS = ("X", "fea", "data", "features", "x"), ("y", "Y", "gnd", "labels", "label", "target")


def read_npz(path: Path) -> Contents:
    """`X`, or the parts of a sparse matrix; `y`, `classes`, `terms` and `image_shape` where present."""
    return contents_of(read_arrays(path, KIND))


def contents_of(arrays: Mapping[str, Array]) -> Contents:
    """The parts of a data set among arrays by name."""
    if holds_sparse(arrays):
        X: Any = read_sparse(arrays)
    elif "X" in arrays:
        X = arrays["X"]
    else:
        raise Refused("it holds neither X nor a sparse matrix (data, indices, indptr, shape)")
    others: dict[str, Any] = {name: arrays.get(name) for name in ("classes", "image_shape", "terms")}
    return Contents(X, arrays.get("y"), **others)


def read_npy(path: Path) -> Contents:
    """One array of samples × features."""
    with open(path, "rb") as stream:
        return Contents(read_array(stream, os.path.getsize(path)))


def read_mtx(path: Path) -> Contents:
    """A Matrix Market file: samples × features, sparse or dense."""
    return Contents(matrix_market(path))


def read_mat(path: Path) -> Contents:
    """A MATLAB file up to version 7: samples under X or fea, classes under y or gnd."""
    found = matlab_matrices(path)
    samples, labels = _first(SAMPLES, found), _first(LABELS, found)
    if samples is None:
        there = f"but {_listed(found)}" if found else "nor any other matrix of real numbers"
        raise Refused(f"it holds none of {', '.join(SAMPLES)}, {there}")
    return Contents(found[samples], None if labels is None else found[labels])


def _first(names: Iterable[str], there: Iterable[str]) -> str | None:
    found = set(there)
    return next((name for name in names if name in found), None)


def _listed(names: Iterable[str]) -> str:
    shown = [repr(name) for name in names][:5]
    return ", ".join(shown)

"""Partially known labels: −1 marks a sample of unknown class."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import column_or_1d

from ..core.door import read_links
from ..core.types import Array, IntArray
from .samples import link_sources


def check_labels(y: Any, n_samples: int) -> tuple[IntArray, Array]:
    """Validate labels of which some may be unknown.

    Parameters
    ----------
    y : array-like of shape (n_samples,) or None
        Labels; −1 marks an unknown one, and None means that all are. Integers, floats with integer values, or
        an object array (or list) of integers and strings. Arrays of dtype string or bool are refused,
        because they cannot hold −1.
    n_samples : int
        Number of samples.

    Returns
    -------
    groups : ndarray of shape (n_samples,)
        Index of each sample's class in `classes`, −1 where unknown.
    classes : ndarray of shape (n_classes,)
        The distinct known labels, sorted, numbers before strings.

    Raises
    ------
    ValueError
        If `y` has the wrong shape or holds something that is not a label.
    """
    groups = np.full(n_samples, -1, dtype=np.intp)
    if y is None:
        return groups, np.empty(0, dtype=np.intp)
    # A list of numbers and strings would otherwise become an array of strings, with "-1" among them.
    y = column_or_1d(np.array(y, dtype=object) if isinstance(y, list | tuple) else y, warn=True)
    if y.shape[0] != n_samples:
        raise ValueError(f"y has {y.shape[0]} labels and X has {n_samples} samples; give one label per sample.")
    if y.dtype.kind in "USTb":
        raise ValueError(
            f"y has dtype {y.dtype}, which cannot hold the −1 of unknown samples. Give integers, or an "
            'object array: np.array(["cat", -1, "dog"], dtype=object).'
        )
    mixed = y.dtype.kind == "O"
    for label in y if mixed else np.unique(y):
        _check_label(label)
    known = y != -1
    if not mixed:
        classes, groups[known] = np.unique(y[known], return_inverse=True)
        return groups, classes
    # np.unique cannot sort numbers together with strings.
    ordered = sorted(set(y[known]), key=lambda label: (isinstance(label, str), label))
    index = {label: code for code, label in enumerate(ordered)}
    groups[known] = [index[label] for label in y[known]]
    return groups, np.array(ordered, dtype=object if any(isinstance(label, str) for label in ordered) else None)


def edit_by_labels(graph: Any, y: Any) -> tuple[Any, IntArray]:
    """Remove the edges between labelled samples from a graph.

    Samples with different labels are no longer linked. Samples with the same label count as fully linked,
    which needs no stored edges: `groups` says which they are, and the Laplacian of a class of n_c samples is
    n_c I − 11ᵀ. Edges with an unlabelled sample stay.

    Parameters
    ----------
    graph : {array-like, sparse matrix} of shape (n_samples, n_samples)
        Symmetric edge weights.
    y : array-like of shape (n_samples,) or None
        Labels, −1 where unknown, see :func:`check_labels`.

    Returns
    -------
    edited : csr_array of shape (n_samples, n_samples)
        The remaining edges, a new array.
    groups : ndarray of shape (n_samples,)
        Index of each sample's class, −1 where unknown.
    """
    edited = read_links(graph, "graph").copy()
    groups, _ = check_labels(y, edited.shape[0])
    labelled = groups >= 0
    edited.data[labelled[link_sources(edited)] & labelled[edited.indices]] = 0
    edited.eliminate_zeros()
    return edited, groups


def _check_label(label: Any) -> None:
    if not (isinstance(label, str) or (isinstance(label, Real) and float(label).is_integer())):
        raise ValueError(
            f"Unknown label type: y holds {label!r}, but labels are integers or strings. Mark samples of "
            "unknown class with −1, not with NaN or None; discretise continuous values first."
        )
    if isinstance(label, str) and label == "-1":
        raise ValueError('y holds the string "-1"; mark samples of unknown class with the number −1.')

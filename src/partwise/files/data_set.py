"""A data set: samples, and whatever else is known of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..core.types import IntArray


@dataclass(frozen=True, eq=False)
class DataSet:
    """Samples with their classes, and where they come from.

    Attributes
    ----------
    name : str
    X : ndarray or csr_array of shape (n_samples, n_features)
        Non-negative and as published: scaling is left to the user. Texts are sparse counts of terms.
    y : ndarray of int, shape (n_samples,)
        Class of every sample, an index into `class_names`; −1 if it is not known.
    class_names : tuple of str
    image_shape : tuple of (int, int), optional
        Height and width, if a sample is an image stored row by row.
    licence, citation : str
    terms : tuple of str, optional
        Names of the features, such as words.
    sample_names : tuple of str, optional
        Names of the samples, such as files.
    notes : tuple of str
        What a reader has found out by itself, in sentences: which column holds the classes, for instance.
    """

    name: str
    X: Any
    y: IntArray
    class_names: tuple[str, ...]
    image_shape: tuple[int, int] | None
    licence: str
    citation: str
    terms: tuple[str, ...] | None = None
    sample_names: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()

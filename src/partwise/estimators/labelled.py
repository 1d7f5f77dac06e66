"""Base class for estimators that learn from labels: the classes, and the class of a sample."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

from ..core import Array, IntArray, one_thread
from ..core.dask_rows import brought, computing, is_dask, mapped
from ..graphs import check_labels
from .base import BaseFactorization


class LabelledFactorization(BaseFactorization):
    """A factorisation that may use labels, and then gives classes as well as clusters.

    A subclass says in `_uses_labels` whether it uses labels, and in `_needs_labels` whether it needs them.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes that occur in `y`, after a fit that used labels. `predict_classes` finds them for new samples;
        `predict` and `labels_` give cluster numbers, as for every method.
    transduction_ : ndarray of shape (n_samples,)
        Class of every training sample, after a fit that used labels: the given one or that of the labelled sample with
        the nearest code (see `predict_classes`).
    """

    @abstractmethod
    def _uses_labels(self) -> bool:
        """Whether the fit uses `y`."""

    def _needs_labels(self) -> bool:
        """Whether a fit without `y` is a mistake."""
        return self._uses_labels()

    def _labels(self, y: Any, n_samples: int) -> IntArray | None:
        if not self._uses_labels():
            return None
        if y is None and self._needs_labels():
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None: use_labels=True was given. "
                "Give the class of every sample, −1 where it is unknown, or use_labels=False."
            )
        return check_labels(y, n_samples)[0]

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn codes and components from the data and the labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Non-negative data.
        y : array-like of shape (n_samples,), optional
            Class of every sample, −1 where it is unknown: integers, or a list or object array of strings. Ignored if
            the method has ``use_labels=False``.
        sample_weight : array-like of shape (n_samples,), optional
            How often each sample counts in the fit.

        Returns
        -------
        self
        """
        super().fit(X, y, sample_weight)
        self.__dict__.pop("_known_classes", None)
        if self._uses_labels():
            with computing(X):
                self._known_classes = KnownClasses(*check_labels(y, len(self.embedding_)), self._assignment.codes)
        return self

    @property
    def classes_(self) -> Array:
        """The classes that occur in `y`, sorted; only after a fit that used labels."""
        return self._fitted_classes().classes

    @property
    def transduction_(self) -> Array:
        """Class of every training sample: the given one, or that of the labelled sample with the nearest code.

        See :meth:`predict_classes` for the meaning of nearest.
        """
        known = self._fitted_classes()
        found = known.predict(np.asarray(brought(self._assignment.codes[-len(self.embedding_) :])))
        labelled = known.groups >= 0
        found[labelled] = known.classes[known.groups[labelled]]
        return found

    def predict_classes(self, X: Any) -> Array:
        """Classes of new samples: each gets the class of the labelled training sample with the nearest code.

        The codes are those of `transform`, and the nearest has the largest cosine, so that the norm of a sample does
        not matter. `predict` gives cluster numbers instead, which are unrelated to the names of the classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        classes : ndarray of shape (n_samples,)
            Elements of `classes_`.
        """
        if is_dask(X):
            return mapped(X, self._sendable(X).predict_classes, None, self._fitted_classes().classes.dtype)
        known, new = self._fitted_classes(), self._checked_new(X)
        return known.predict(self._clustered(self._code(new), new))

    def _fitted_classes(self) -> KnownClasses:
        check_is_fitted(self, "embedding_")
        known: KnownClasses | None = self.__dict__.get("_known_classes")
        if known is None or not len(known.classes):
            # hasattr() is then False, as for every attribute that a fit did not set.
            raise AttributeError(
                f"This {type(self).__name__} was fitted without labels, so it knows no classes. Fit it with y"
                f"{' and use_labels=True' if known is None else ''}."
            )
        return known

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._needs_labels()
        return tags


class KnownClasses:
    """The labels of a fit, and the codes of the labelled samples.

    Parameters
    ----------
    groups : ndarray of int, shape (n_samples,)
        Index of each sample's class in `classes`, −1 where unknown.
    classes : ndarray of shape (n_classes,)
    codes : ndarray of shape (n_samples, n_components)
    """

    def __init__(self, groups: IntArray, classes: Array, codes: Array):
        self.groups = groups
        # A list holds names and numbers side by side, and can be saved.
        self._classes: Any = classes.tolist() if classes.dtype == object else classes
        labelled = groups >= 0
        self._groups, self._directions = groups[labelled], np.asarray(codes[labelled])
        if labelled.any():
            # Samples that share class and code need only be compared once.
            rows = np.unique(np.column_stack([self._groups, normalize(self._directions)]), axis=0)
            self._groups, self._directions = rows[:, 0].astype(np.intp), rows[:, 1:].astype(codes.dtype)

    @property
    def classes(self) -> Array:
        """The classes as an array."""
        if isinstance(self._classes, list):
            classes = np.empty(len(self._classes), object)
            classes[:] = self._classes
            return classes
        return self._classes.copy()

    def predict(self, codes: Array) -> Array:
        """The class of the labelled sample whose code has the largest cosine with each of these."""
        from sklearn.metrics import pairwise_distances_argmin

        codes = normalize(codes.astype(self._directions.dtype, copy=False))
        with one_thread():
            nearest = pairwise_distances_argmin(codes, self._directions)
        return self.classes[self._groups[nearest]]

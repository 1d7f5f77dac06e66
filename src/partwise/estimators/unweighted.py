"""Base class for estimators that count every sample once."""

from typing import Any, Self

from ..core import Array, IntArray
from .base import BaseFactorization


class UnweightedFactorization(BaseFactorization):
    """A factorisation without `sample_weight`."""

    def fit(self, X: Any, y: Any = None) -> Self:  # type: ignore[override]
        """Learn the factors from the data.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The data; with ``kernel="precomputed"``, if the method has a kernel, that of all samples, of shape
            (n_samples, n_samples).
        y : array-like of shape (n_samples,), optional
            Class of every sample, −1 where it is unknown; ignored unless the method has ``use_labels=True``.

        Returns
        -------
        self
        """
        return super().fit(X, y)

    def fit_predict(self, X: Any, y: Any = None) -> IntArray:  # type: ignore[override]
        """Fit, and give the cluster of every sample: ``fit(X, y).labels_``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), optional

        Returns
        -------
        labels : ndarray of int, shape (n_samples,)
        """
        return self.fit(X, y).labels_

    def fit_transform(self, X: Any, y: Any = None) -> Array:  # type: ignore[override]
        """Fit, then code the same samples as if they were new.

        This equals ``fit(X).transform(X)``. The codes that the fit itself found are in `embedding_`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), optional

        Returns
        -------
        W : ndarray of shape (n_samples, n_components)
        """
        return self.fit(X, y).transform(X)

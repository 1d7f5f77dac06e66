"""What a model can do because the estimator that it has fitted can do it."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from ..core.types import Array, IntArray


class ByEstimator:
    """Methods and attributes of a fitted `estimator_`."""

    estimator_: Any

    def _fitted(self) -> Any:
        check_is_fitted(self, "estimator_")
        return self.estimator_

    @property
    def embedding_(self) -> Array:
        """The codes of the training samples."""
        codes: Array = self._fitted().embedding_
        return codes

    @property
    def labels_(self) -> IntArray:
        """Cluster of every training sample."""
        labels: IntArray = self._fitted().labels_
        return labels

    def transform(self, X: Any) -> Array:
        """Code new samples with the components.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        W : ndarray of shape (n_samples, n_components)
        """
        codes: Array = self._fitted().transform(X)
        return codes

    def transform_intervals(
        self, X: Any, *, n_resamples: int = 100, level: float = 0.9, random_state: Any = None
    ) -> tuple[Array, Array]:
        """Bootstrap intervals of the codes, over the features, if the estimator gives them (`NMF` does).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        n_resamples : int, default=100
        level : float, default=0.9
        random_state : int, RandomState or None, default=None

        Returns
        -------
        low, high : ndarray of shape (n_samples, n_components)
        """
        model = self._fitted()
        if not hasattr(model, "transform_intervals"):
            raise ValueError(f"{type(model).__name__} gives no intervals of codes. Use NMF.")
        given = {"n_resamples": n_resamples, "level": level, "random_state": random_state}
        intervals: tuple[Array, Array] = model.transform_intervals(X, **given)
        return intervals

    def predict(self, X: Any) -> IntArray:
        """Cluster of every new sample.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of int, shape (n_samples,)
        """
        labels: IntArray = self._fitted().predict(X)
        return labels

    def inverse_transform(self, X: Any) -> Array:
        """W H, for codes W.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)

        Returns
        -------
        X_original : ndarray of shape (n_samples, n_features)
        """
        data: Array = self._fitted().inverse_transform(X)
        return data

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the mean loss of a sample.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : object
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        score : float
        """
        return float(self._fitted().score(X, y, sample_weight))

"""Base classes for clusterings by k-means on an embedding, and for those whose embedding covers only these samples."""

from abc import ABCMeta, abstractmethod
from dataclasses import field
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..clusters import Assignment
from ..core import Array, IntArray, Term, Unit, as_operand
from ..core.dask_rows import refuse_workers
from ..persistence import Persistent
from .options import Count, RandomState
from .parameters import Parametrised
from .sklearn_bases import BaseEstimator, ClusterMixin
from .sklearn_names import ExplainsNames
from .units import chosen_unit
from .validation import check_X


class BaseEmbeddingClustering(ExplainsNames, Persistent, Parametrised, ClusterMixin, BaseEstimator, metaclass=ABCMeta):
    """Embed the samples, then cluster the embedding by the best of 20 runs of k-means.

    Parameters
    ----------
    n_components : int
        Number of clusters.
    random_state : int, RandomState or None
        Source of random numbers; an int makes fits repeatable.

    Attributes
    ----------
    labels_ : ndarray of int, shape (n_samples,)
        Clusters, by the best of 20 runs of k-means on first access.
    n_components_ : int
        Number of clusters.
    n_features_in_ : int
        Number of features of X.
    """

    n_components: Count = field(default=8, kw_only=False)
    random_state: RandomState = None

    def _checked(self, X: Any, min_samples: int = 1) -> tuple[Any, int]:
        """Data with enough samples for the clusters, and the power of two by which they are scaled."""
        self._validate_params()
        refuse_workers(X, type(self).__name__)
        X, exponent = check_X(self, X, None, reset=True, min_samples=min_samples)
        if self.n_components > X.shape[0]:
            raise ValueError(f"n_components={self.n_components} clusters need as many samples; X has {X.shape[0]}.")
        return X, exponent

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class BaseSpectralClustering(BaseEmbeddingClustering):
    """An embedding by eigenvectors, which covers only these samples.

    A subclass names what it minimises in `_term`, and computes the embedding in `_embed`.

    Parameters
    ----------
    n_components : int
        Number of eigenvectors and of clusters, k.
    random_state : int, RandomState or None
        Of k-means; the embedding does not depend on it.
    """

    @abstractmethod
    def _term(self) -> Term:
        """What the embedding minimises."""

    @abstractmethod
    def _embed(self, term: Any) -> Array:
        """The embedding, one row per sample, given the term bound to the data."""

    def _unit_for(self, exponent: int, dtype: Any) -> Unit:
        """An eigenvector has no unit, but parameters may have one."""
        unit = Unit(exponent)
        self._term().in_unit(unit, dtype)
        return unit

    def fit(self, X: Any, y: Any = None) -> Self:
        """Embed the samples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Data of either sign.
        y : ignored

        Returns
        -------
        self
        """
        term = self._term().seeing(X)
        X, exponent = self._checked(X, min_samples=2)
        unit = chosen_unit(self._unit_for, exponent, X)
        rng = check_random_state(self.random_state)
        bound = term.in_unit(unit, X.dtype).bind(as_operand(unit.inside(X)))
        self.embedding_ = np.ascontiguousarray(self._embed(bound), X.dtype)
        self._assignment = Assignment(self.embedding_.copy(), "kmeans", int(rng.randint(np.iinfo(np.int32).max)))
        self.n_components_ = self.n_components
        return self

    @property
    def labels_(self) -> IntArray:
        """Cluster of every sample, computed on first access."""
        check_is_fitted(self, "embedding_")
        return self._assignment.labels

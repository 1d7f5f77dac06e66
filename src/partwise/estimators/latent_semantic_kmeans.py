"""K-means in the latent semantic space."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..clusters import Assignment
from ..core.operand import Operand
from ..core.storage import as_operand
from ..core.types import Array
from ..core.units import Unit
from ..persistence import Persistent
from ..terms import Frobenius
from .fitted import FittedFactorization
from .options import Count, RandomState
from .parameters import Parametrised
from .sklearn_bases import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin
from .sklearn_names import ExplainsNames
from .validation import check_X


class LatentSemanticKMeans(
    ExplainsNames,
    FittedFactorization,
    Persistent,
    Parametrised,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    BaseEstimator,
):
    r"""K-means on the leading singular vectors (LSI + k-means).

    Minimises, over codes W (n × k) and components H (k × m) with orthonormal rows, both of either sign,

        ‖X − W H‖²

    (Deerwester et al., "Indexing by latent semantic analysis", JASIS 1990), that is, W H is the truncated singular
    value decomposition of X, by scikit-learn. K-means on the codes gives the clusters.

    Parameters
    ----------
    n_components : int
        Number of clusters.
    n_dimensions : int
        Number of singular vectors, k; by default as many as clusters.
    random_state : int, RandomState or None
        Source of random numbers; an int makes fits repeatable.

    Attributes
    ----------
    components_ : ndarray of shape (n_dimensions, n_features)
        The right singular vectors, H.
    embedding_ : ndarray of shape (n_samples, n_dimensions)
        The codes W = X Hᵀ.
    labels_ : ndarray of int, shape (n_samples,)
        Clusters, by the best of 20 runs of k-means on first access.
    n_components_ : int
        Number of clusters.
    reconstruction_err_ : float
        ‖X − W H‖.
    n_features_in_ : int
        Number of features of X.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from partwise import LatentSemanticKMeans
    >>> from partwise.metrics import clustering_accuracy
    >>> X, y = load_digits(return_X_y=True)
    >>> model = LatentSemanticKMeans(10, random_state=0).fit(X)
    >>> clustering_accuracy(y, model.labels_) > 0.7
    True
    """

    n_components: Count = field(default=8, kw_only=False)
    n_dimensions: Count | None = None
    random_state: RandomState = None

    _paper = "Deerwester et al. 1990"
    _cost = "once: about 10 T"

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the singular vectors.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Data of either sign.
        y : ignored

        Returns
        -------
        self
        """
        from sklearn.utils.extmath import randomized_svd, svd_flip

        self._validate_params()
        X, exponent = check_X(self, X, None, reset=True)
        n, m = X.shape
        wanted = self.n_components if self.n_dimensions is None else self.n_dimensions
        if self.n_components > n:
            raise ValueError(f"n_components={self.n_components} clusters need as many samples; X has {n}.")
        if self.n_dimensions is not None and wanted > min(n, m):
            raise ValueError(f"n_dimensions={wanted} was given; X of shape {X.shape} has at most {min(n, m)}.")
        unit = Unit(exponent)
        X = unit.inside(X)
        rng = check_random_state(self.random_state)
        seeds = rng.randint(np.iinfo(np.int32).max, size=2)
        # As in TruncatedSVD, except for the shares of variance, which are undefined for constant data.
        U, _, Vt = randomized_svd(X, min(wanted, n, m), n_iter=5, random_state=int(seeds[0]), flip_sign=False)
        _, Vt = svd_flip(U, Vt, u_based_decision=False)
        components = np.ascontiguousarray(Vt, X.dtype)
        codes = np.ascontiguousarray(X @ components.T)
        # Rows of H are orthonormal, so the squares of X are those of W plus those of the residual.
        self._left = float(as_operand(X).row_squared_norms().sum() - as_operand(codes).row_squared_norms().sum())
        self._losses, self._n_clusters = [Frobenius()], self.n_components
        self._assignment = Assignment(codes.copy(), "kmeans", int(seeds[1]), self.n_components)
        self._unit = unit.fitting(codes)
        self.embedding_, self.components_ = self._unit.codes(codes), self._unit.components(components)
        return self

    def _code(self, X: Operand) -> Array:
        return X.dot(self._inner_components(X.dtype))

    def _misfit(self) -> float:
        return self._left

    @property
    def n_components_(self) -> int:
        """Number of clusters."""
        check_is_fitted(self, "embedding_")
        return self._n_clusters

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

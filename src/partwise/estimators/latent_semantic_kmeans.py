"""K-means in the latent semantic space."""

from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..clusters import Assignment
from ..core import Array, Operand, Unit, as_operand
from ..terms import Frobenius
from .fitted import FittedFactorization
from .options import Count
from .sklearn_bases import ClassNamePrefixFeaturesOutMixin
from .spectral import BaseEmbeddingClustering


class LatentSemanticKMeans(FittedFactorization, ClassNamePrefixFeaturesOutMixin, BaseEmbeddingClustering):
    r"""K-means on the leading singular vectors (LSI + k-means).

    Minimises, over codes W (n × k) and components H (k × m) with orthonormal rows, both of either sign,

        ‖X − W H‖²

    (Deerwester et al., "Indexing by latent semantic analysis", JASIS 1990), that is, W H is the truncated singular
    value decomposition of X, by scikit-learn. K-means on the codes gives the clusters.

    Parameters
    ----------
    n_dimensions : int
        Number of singular vectors, k; by default as many as clusters.

    Attributes
    ----------
    components_ : ndarray of shape (n_dimensions, n_features)
        The right singular vectors, H.
    embedding_ : ndarray of shape (n_samples, n_dimensions)
        The codes W = X Hᵀ.
    reconstruction_err_ : float
        ‖X − W H‖.

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

    n_dimensions: Count | None = None

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

        X, exponent = self._checked(X)
        n, m = X.shape
        wanted = self.n_components if self.n_dimensions is None else self.n_dimensions
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
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

"""Local learning clustering."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval

from ..core.operand import Operand
from ..core.types import Array
from ..solvers.spectral import spectral_embedding
from ..terms.local_learning import LocalLearning
from .local_learning_nmf import PREDICTOR_CONSTRAINTS, predictor_units
from .options import LocalKernel, Metric
from .spectral import BaseSpectralClustering
from .units import Units


class LocalLearningClustering(BaseSpectralClustering):
    r"""Spectral clustering in which labels can be predicted from their neighbours (LLC).

    Minimises, over matrices W (n × k) with orthonormal columns and entries of either sign,

        Σ_i ‖w_i − Σ_j g_ij w_j‖² = tr(Wᵀ (I − G)ᵀ(I − G) W)

    (Wu & Schölkopf, "A local learning approach for clustering", NIPS 2006), with the local predictors G of
    :class:`LocalLearningNMF`. The minimum is spanned by the eigenvectors of the smallest eigenvalues; k-means on their
    rows, scaled to unit norm, gives the clusters. There is no `transform`: the embedding is of these samples alone.

    Parameters
    ----------
    n_components : int, default=8
        Number of eigenvectors and of clusters, k.
    n_neighbors, kernel, bandwidth, ridge, metric
        As for :class:`LocalLearningNMF`. On some texts clusters at the default ridge are no better
        than chance; a larger one with more neighbours (0.1, 20) mends that.
    random_state : int, RandomState or None, default=None
        Of k-means; the embedding does not depend on it.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Rows of the eigenvectors, of unit norm; zero for all-zero samples, which have no neighbours.
    labels_ : ndarray of int, shape (n_samples,)
        Clusters, by the best of 20 runs of k-means on first access.
    n_components_ : int
    n_features_in_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from partwise import LocalLearningClustering
    >>> from partwise.metrics import clustering_accuracy
    >>> X, y = load_digits(return_X_y=True)
    >>> model = LocalLearningClustering(10, random_state=0).fit(X)
    >>> clustering_accuracy(y, model.labels_) > 0.8
    True
    """

    _paper = "Wu & Schölkopf 2006"
    _cost = "once: neighbours, and k eigenvectors of a sparse n × n matrix"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PREDICTOR_CONSTRAINTS,
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: int = 8,
        *,
        n_neighbors: int = 10,
        kernel: LocalKernel = "cosine",
        bandwidth: float | None = None,
        ridge: float = 0.01,
        metric: Metric = "cosine",
        random_state: Any = None,
    ):
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.ridge = ridge
        self.metric = metric
        self.random_state = random_state

    def _units(self) -> Units:
        return Units(codes=0, parameters=predictor_units(self))

    def _embed(self, X: Operand) -> Array:
        term = LocalLearning(1.0, self.n_neighbors, self.kernel, self.bandwidth, self.ridge, self.metric)
        bound = term.bind(X)
        bound.consider(self.n_components)
        return spectral_embedding(bound.residual, self.n_components)

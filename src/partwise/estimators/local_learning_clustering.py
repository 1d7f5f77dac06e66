"""Local learning clustering."""

from ..core import Array, Term
from ..solvers import spectral_embedding
from ..terms.local_learning import BoundLocalLearning
from .options import Count
from .predictor_parameters import PredictorParameters
from .spectral import BaseSpectralClustering


class LocalLearningClustering(PredictorParameters, BaseSpectralClustering):
    r"""Spectral clustering in which labels can be predicted from their neighbours (LLC).

    Minimises, over matrices W (n × k) with orthonormal columns and entries of either sign,

        Σ_i ‖w_i − Σ_j g_ij w_j‖² = tr(Wᵀ (I − G)ᵀ(I − G) W)

    (Wu & Schölkopf, "A local learning approach for clustering", NIPS 2006), with the local predictors G of
    :class:`LocalLearningNMF`. The minimum is spanned by the eigenvectors of the smallest eigenvalues; k-means on their
    rows, scaled to unit norm, gives the clusters. There is no `transform`: the embedding covers only these samples.

    Parameters
    ----------
    n_neighbors : int
        Size of a neighbourhood, p.
    ridge : float
        λ > 0 of the regressions, Eq. 4, relative to a kernel that is 1 on its diagonal ("cosine", "rbf"). On some texts
        clusters at the default are no better than chance; a larger one with more neighbours (0.1, 20) helps.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Rows of the eigenvectors, of unit norm; zero for all-zero samples, which have no neighbours.

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

    n_neighbors: Count = 10

    def _term(self) -> Term:
        return self._local_learning(1.0)

    def _embed(self, term: BoundLocalLearning) -> Array:
        term.consider(self.n_components)
        return spectral_embedding(term.residual, self.n_components)

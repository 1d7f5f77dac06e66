"""Robust non-negative matrix factorisation with local similarity learning."""

from typing import cast

import numpy as np

from ..core import KernelMatrix, Operand, Term
from ..solvers import Minimum, Problem, feature_residuals
from ..terms.dual import BoundRobustDualFit, DualFit, LocalSimilarity, RobustDualFit
from ..terms.orthogonality import Orthogonality
from .dual import BaseDualFactorization
from .options import Auto, NonNegative, PositiveOrInfinite

# With outlier_strength="auto", how long the residual of a feature may be before it is down-weighted: this share of the
# typical distance of a feature from its mean.
OUTLIER_SHARE = 0.5


class LocalSimilarityNMF(BaseDualFactorization):
    r"""Robust non-negative matrix factorisation with local similarity (RLS-NMF): components made of samples.

    Minimises, over codes W ≥ 0 and coefficients P ≥ 0 (both n × k) and a matrix E of outliers, with H = Pᵀ X,

        ½‖X − E − W H‖² + outlier_strength · Σ_f ‖e_f‖
            + similarity_strength · tr(Pᵀ D W) + orthogonality/2 · ‖WᵀW − I‖²

    where e_f is a feature (column) of E and D_ij = ‖x_i − x_j‖² (Hou & Peng, "Robust nonnegative matrix factorization
    with local similarity learning", Eq. 6; the paper's G is W here, its W is P, and the ½ is the paper's). The paper
    asks for WᵀW = I, which its rule Eq. 18 does not keep, and rebuilds D from X − E, so that its objective rises; here
    orthogonality is a penalty and D is that of X, and no sweep of either solver raises the objective. The best E for
    given factors is known (Eq. 21), so it is eliminated: the result grows linearly, not quadratically, in the residual
    of a feature once that is longer than `outlier_strength`. Neither E nor D is ever stored, and memory grows linearly
    with the number of samples.

    Every component is a sum of samples that use it, and orthogonal non-negative codes are a clustering.

    Parameters
    ----------
    similarity_strength : float
        The cost of distant samples sharing a component, λ in the paper. It has no unit; for hard clusters the term is
        four times the fit per unit, and values well above 0.1 may leave components empty.
    outlier_strength : float or "auto"
        How long the residual of a feature (over all samples) may be before it is down-weighted, γ > 0 in the paper, in
        the unit of X. "auto" is half the median distance of the features from their means. ``numpy.inf`` down-weights
        nothing. Ignored by kernels without features: "rbf", a function, "precomputed".
    orthogonality : float or "auto"
        How much overlapping codes cost, β, in the unit of ‖X‖². "auto" is ‖X‖² / k. With 0 the columns of W get unit
        norm in the end.
    solver : {"auto", "projected", "multiplicative"}
        "projected", the default, updates codes column by column and coefficients by accelerated projected gradient.
        "multiplicative" is the reference: the codes' ratio has the power ¼, the coefficients' the power 1.
    init : {"auto", "kmeans", "random"} or (W, P)
        "auto" is "kmeans", in which features have the weights of the fit. A random start collapses easily.

    Attributes
    ----------
    outliers_ : ndarray of shape (n_features,) or None
        The share of every feature's residual that E removes, max(0, 1 − outlier_strength/‖residual‖): 0 for a feature
        that counts in full, towards 1 for one that hardly counts. None with kernels without features.

    Notes
    -----
    The stronger the orthogonality, the more the clusters are those of the start: codes that do not overlap can hardly
    move a sample from one to another. Where `similarity_strength` outweighs the fit (large λ, or small γ, which makes
    the fit cheap), the minimum has P = 0: the components are empty, a warning says so, and the codes say nothing beyond
    the start. That is the case in much of the paper's grid.

    `transform` gives new samples the codes that minimise the fit, with features weighted as at the end of training, and
    the similarity to the training samples. Orthogonality concerns all codes together, not a new one. With
    ``kernel="precomputed"`` a new sample is assumed to have the norm of the mean training sample.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from partwise import LocalSimilarityNMF
    >>> from partwise.metrics import clustering_accuracy
    >>> X, y = load_digits(return_X_y=True)
    >>> X[:, [3, 29, 42]] = np.random.RandomState(0).uniform(0, 48, size=(len(X), 3))
    >>> model = LocalSimilarityNMF(10, random_state=0).fit(X)
    >>> sorted(np.argsort(model.outliers_)[-3:].tolist())
    [3, 29, 42]
    >>> clustering_accuracy(y, model.labels_) > 0.65
    True
    """

    similarity_strength: NonNegative = 0.01
    outlier_strength: PositiveOrInfinite | Auto = "auto"
    orthogonality: NonNegative | Auto = "auto"

    def _terms(self) -> list[Term]:
        return [
            RobustDualFit(cast(float, self.outlier_strength)),
            LocalSimilarity(self.similarity_strength),
            Orthogonality(cast(float, self.orthogonality)),
        ]

    def _estimated(self, term: Term, kernel: KernelMatrix) -> Term:
        if not isinstance(term, RobustDualFit):
            return super()._estimated(term, kernel)
        limit = self._outlier_limit(term.outlier_strength, kernel.operand)
        return DualFit(0.5) if limit == np.inf else RobustDualFit(limit)

    def _outlier_limit(self, given: float | str, X: Operand) -> float:
        """How long the residual of a feature may be before it is down-weighted."""
        if not self._map.in_data_space:
            return np.inf
        if not isinstance(given, str):
            return given
        spread = feature_residuals(X, np.zeros(X.shape[0], np.intp))
        varying = spread > np.sqrt(np.finfo(X.dtype).eps) * np.sqrt(X.column_squared_norms())
        return OUTLIER_SHARE * float(np.median(spread[varying])) if varying.any() else np.inf

    def _settle(self, problem: Problem, minimum: Minimum) -> None:
        super()._settle(problem, minimum)
        fit = minimum.terms[0]
        self.outliers_ = 1 - fit.weights(minimum.state) if isinstance(fit, BoundRobustDualFit) else None

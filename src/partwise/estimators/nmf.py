"""Non-negative matrix factorisation."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..core import CODES, COMPONENTS, Array, Missing, Operand, Powers, Term, dot64
from ..solvers import NamedStart
from ..terms import L1, L2, BetaDivergence, Frobenius, Huber, NegativeBinomial
from ..terms.divergence import order, power
from .dispersion import OVERDISPERSED, Dispersion
from .intervals import CodeIntervals
from .known_components import KnownComponents
from .loss_scale import PER_DEVIATION, LossScale
from .options import NonNegative, Weighting
from .streaming import StreamingFactorization


def fit_term(loss: str | float, scale: Any = "auto", dispersion: Any = "auto") -> Term:
    """The fit that a loss names: the squared error, a robust loss, that of overdispersed counts, or a β-divergence."""
    if loss in ("frobenius", 2):
        return Frobenius()
    if loss in PER_DEVIATION:
        return Huber(scale)
    if loss == OVERDISPERSED:
        return NegativeBinomial(dispersion)
    return BetaDivergence(loss)


class NMF(CodeIntervals, KnownComponents, Dispersion, LossScale, StreamingFactorization):
    r"""Non-negative matrix factorisation.

    Minimises, over codes W ≥ 0 (n × k) and components H ≥ 0 (k × m),

        D(X, W H) + l1_codes Σ|W| + l2_codes ‖W‖² + l1_components Σ|H| + l2_components ‖H‖²

    where D is ‖X − W H‖² or a β-divergence (Lee & Seung 1999, 2001; Févotte & Idier 2011), a robust loss, which large
    residuals influence less, or half the deviance of counts that vary more than Poisson ones. Sums, not means; no ½.

    With ``weighting="ncut"`` sample i is seen at the scale c_i = (x_iᵀ Σ_t x_t)^(−1/2) (Xu, Liu & Gong, "Document
    clustering based on non-negative matrix factorization", SIGIR 2003): the fit is D(CX, CWH), C = diag(c). For a
    β-divergence that is a sample weight c_i^β, so `embedding_`, `transform` and `inverse_transform` refer to X as
    always. Clusters come from the codes of the scaled samples, C W, as in the paper.

    Parameters
    ----------
    n_components : int, "auto" or sequence of int
        Number of parts, k. "auto" chooses it without labels, a sequence among its values: by how well the links between
        neighbouring samples stay inside clusters; with missing entries, by how well a fit predicts known entries that
        were hidden from it. For other evidence see :func:`partwise.selection.rank_evidence`.
    loss : {"frobenius", "kullback-leibler", "itakura-saito", "huber", "l1", "negative-binomial"} or float
        D; a number is the β of a β-divergence. 2 is "frobenius", 1 is "kullback-leibler", 0 is "itakura-saito". "huber"
        is the squared error of residuals up to `loss_scale` and linear beyond; "l1" is the same with a scale so small
        that it is nearly the absolute error, times twice the scale. See :class:`CauchyNMF` for a loss that ignores
        outliers. "negative-binomial" is for counts that vary more than Poisson ones, by their `dispersion`; even where
        X is sparse, a sweep then takes time in proportion to n m k, though no more memory.
    l1_codes : float
        Penalty on the entries of W.
    l2_codes : float
        Penalty on the squared entries of W.
    l1_components : float
        Penalty on the entries of H.
    l2_components : float
        Penalty on the squared entries of H.
    weighting : {None, "ncut"}
        "ncut" lets samples that resemble many others count less, as in a normalised cut: each is scaled by
        (XXᵀ1)^(−1/2). It multiplies `sample_weight`.
    missing : {None, "nan", "unstored"}
        Entries of X that are unknown and do not count: none, those that are NaN, or those a sparse X does not store.
        A sample without any known entry, in `fit` or later, has a code of zeros, which fits as well as any other and
        costs no penalty; a feature without any known entry is zero in every component. Both cause a warning. Where
        little is known about a sample its code is poorly determined, and its predictions of unknown entries may be far
        off: small `l2_codes` and `l2_components` keep them in bounds.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from partwise import NMF
    >>> X, y = load_digits(return_X_y=True)
    >>> model = NMF(10, random_state=0).fit(X)
    >>> model.components_.shape
    (10, 64)
    """

    _takes_blocks = True
    _takes_workers = True

    l1_codes: NonNegative = 0.0
    l2_codes: NonNegative = 0.0
    l1_components: NonNegative = 0.0
    l2_components: NonNegative = 0.0
    weighting: Weighting = None
    missing: Missing = None

    def _terms(self) -> list[Term]:
        return [
            fit_term(self.loss, self.loss_scale, self.dispersion),
            L1(self.l1_codes, CODES),
            L2(self.l2_codes, CODES),
            L1(self.l1_components, COMPONENTS),
            L2(self.l2_components, COMPONENTS),
            *self._known_terms(),
        ]

    def _check_streams(self) -> None:
        super()._check_streams()
        if self.weighting is not None:
            raise ValueError("weighting='ncut' compares every sample with all others, which partial_fit cannot see.")
        if self.loss in (*PER_DEVIATION, OVERDISPERSED):
            raise ValueError(
                f"partial_fit needs the squared error or a β-divergence, not loss={self.loss!r}, which has a parameter "
                "that depends on all samples."
            )

    def _powers(self, terms: Sequence[Term]) -> Powers:
        powers = super()._powers(terms)
        # Samples at the scale of a cut have no unit.
        return powers if self.weighting is None else replace(powers, objective=0.0)

    def _weighed(self, X: Operand) -> Operand:
        if self.weighting is None:
            return X
        if self.loss in PER_DEVIATION or self.loss == OVERDISPERSED:
            raise ValueError(f"weighting='ncut' needs the squared error or a β-divergence, not loss={self.loss!r}.")
        if X.missing is not None:
            raise ValueError("weighting='ncut' needs complete data: it compares every sample with all others.")
        weight = np.ones(X.shape[0], X.dtype) if X.sample_weight is None else X.sample_weight
        self._total = X.t_dot(weight[:, None])
        return X.weighed((weight * self._cut_weight(X)).astype(X.dtype))

    def _start(self, shape: tuple[int, int], dtype: Any) -> NamedStart:
        start = super()._start(shape, dtype)
        return start if self.weighting is None else replace(start, seen=self._counted)

    def _counted(self, X: Operand) -> Operand:
        """Weighted data with only the given weights, which say how often a sample occurs and have no unit."""
        return X.weighed((X.sample_weight / self._cut_weight(X)).astype(X.dtype))

    def _cut_weight(self, X: Operand) -> Array:
        """c^β, the effect of scaling samples by c in a β-divergence."""
        return np.asarray(power(self._sample_scale(X), order(self.loss)))

    def _sample_scale(self, X: Operand) -> Array:
        """c = (X Σ_t x_t)^(−1/2) in float64.

        A sample that is zero, or so small compared with the others that c would overflow, has the scale of their sum.
        """
        likeness = X.dot(self._total.astype(X.dtype, copy=False))[:, 0].astype(np.float64)
        whole = dot64(self._total, self._total) or 1.0
        return 1 / np.sqrt(np.where(likeness > float(np.finfo(X.dtype).tiny) ** 0.5 * whole, likeness, whole))

    def _clustered(self, codes: Array, X: Operand) -> Array:
        if self.weighting is None:
            return codes
        return codes * self._sample_scale(X)[:, None].astype(codes.dtype)

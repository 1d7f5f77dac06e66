"""Convex non-negative matrix factorisation."""

from ..core import CODES, COMPONENTS, Term
from ..terms.dual import DualFit
from .dual import BaseDualFactorization


class ConvexNMF(BaseDualFactorization):
    r"""Convex non-negative matrix factorisation (Convex-NMF): every component is a weighted mean of samples.

    Minimises, over codes W ≥ 0 and coefficients P ≥ 0 (both n × k), with H = Pᵀ X,

        ‖X − W Pᵀ X‖² = tr K − 2 tr(Wᵀ K P) + tr(WᵀW Pᵀ K P),   K = X Xᵀ

    (Ding, Li & Jordan, "Convex and semi-nonnegative matrix factorizations", 2010, with W = G, P = W). Data may have
    either sign; codes tend to be sparser than those of :class:`SemiNMF`, and components lie among the samples. Only K
    matters, so samples can be seen through any kernel. K is never formed: memory grows linearly with the samples.

    Parameters
    ----------
    solver : {"auto", "projected", "multiplicative"}
        "projected", the default, uses coordinate descent for codes and accelerated projected gradient for coefficients.
        "multiplicative" is the paper's pair of rules, with their square roots. Neither raises the objective.
    init : {"auto", "kmeans", "random"} or (W, P)
        "auto" is "kmeans", the paper's start: codes at the clusters with 0.2 added, components at their means.

    Notes
    -----
    A sweep costs two products with X for the codes and two per step on the coefficients, at most ten steps. Where K has
    negative entries, the paper's rules split it into K⁺ − K⁻ entry by entry, which needs all n × n of them. Here X is
    split into X⁺ − X⁻ and products do the rest; with ``kernel="precomputed"`` the entries of K are known and are split
    as printed.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from partwise import ConvexNMF
    >>> from partwise.metrics import clustering_accuracy
    >>> X, y = load_digits(return_X_y=True)
    >>> model = ConvexNMF(10, random_state=0).fit(X)
    >>> clustering_accuracy(y, model.labels_) > 0.65
    True
    >>> bool((ConvexNMF(10, random_state=0).fit(X - X.mean(axis=0)).dual_components_ >= 0).all())
    True
    """

    scale = "auto"
    _signed_data = True
    _printed_powers = {CODES: 0.5, COMPONENTS: 0.5}  # noqa: RUF012

    def _terms(self) -> list[Term]:
        return [DualFit()]

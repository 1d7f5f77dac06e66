"""Local non-negative matrix factorisation."""

from dataclasses import field
from typing import Literal

from ..core import COMPONENTS, Factor, Term
from ..core.domains import Domain, Simplex
from ..terms import BetaDivergence, Localness
from .base import BaseFactorization


class LocalNMF(BaseFactorization):
    r"""Local non-negative matrix factorisation (LNMF): components that overlap little.

    Minimises, over codes W ≥ 0 (n × k) and components H ≥ 0 (k × m) that each sum to one,

        Σ_ij (x_ij ln(x_ij / (W H)_ij) − x_ij + (W H)_ij) + Σ_ij (w_ij² / 2 − w_ij)

    (Li, Hou, Zhang & Cheng, "Learning spatially localized, parts-based representation", CVPR 2001). The paper writes
    Σ(HHᵀ) with a weight α and −tr(WᵀW) with a weight β next to the divergence (Eq. 8), which has no lower bound, and
    then gives rules without α and β (Eq. 12-14). The objective above is the one that these rules minimise, and they
    never raise it: as Σ_f h_jf = 1, all that remains of the codes is half their squares. A sample then uses several
    components a little rather than one a lot, and these divide the features among them.

    Parameters
    ----------
    solver : {"auto", "newton", "multiplicative"}
        "auto" is "newton"; the multiplicative solver makes the paper's steps.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The parts, H; each sums to one.
    scale_ : None
        The sums of the components settle the scale.

    Notes
    -----
    The unit of X matters: where it is large, ½w² outweighs the rest, and codes become more equal.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from partwise import LocalNMF
    >>> X, _ = load_digits(return_X_y=True)
    >>> model = LocalNMF(10, random_state=0, max_iter=100, tol=0).fit(X)
    >>> bool(abs(model.components_.sum(axis=1) - 1).max() < 1e-12)
    True
    """

    _takes_blocks = True

    solver: Literal["auto", "newton", "multiplicative"] = "auto"
    # The sums of the components settle the scale.
    scale: None = field(default=None, init=False)

    def _terms(self) -> list[Term]:
        return [BetaDivergence("kullback-leibler"), Localness()]

    def _domains(self) -> dict[Factor, Domain]:
        return {COMPONENTS: Simplex()}

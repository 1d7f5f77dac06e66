"""Non-negative matrix factorisation with sparseness constraints."""

from dataclasses import field
from typing import Literal

from ..core import CODES, COMPONENTS, Factor, Term
from ..core.domains import NON_NEGATIVE, Domain, Sparse
from ..terms import Frobenius
from .base import BaseFactorization
from .options import Share


class SparsenessNMF(BaseFactorization):
    r"""Non-negative matrix factorisation whose components, codes or both have a given sparseness (NMF-SC).

    Minimises, over codes W ≥ 0 (n × k) and components H ≥ 0 (k × m),

        ‖X − W H‖²   subject to   sparseness(h_j) = components_sparseness,   sparseness(w_j) = codes_sparseness

    for every component h_j (row of H) and its use by the samples w_j (column of W), where for a vector of n entries

        sparseness(f) = (√n − ‖f‖₁ / ‖f‖₂) / (√n − 1)

    (Hoyer, "Non-negative matrix factorization with sparseness constraints", JMLR 2004, Eq. 3-5). The paper makes
    gradient steps, projects them and searches for a length at which the error falls. With all other columns fixed the
    best column is the projection of a known point, so here every step is that exact minimum: the objective cannot rise
    and there is no step length. Sparseness is exact after every sweep, up to rounding.

    Parameters
    ----------
    components_sparseness : float in [0, 1] or None
        Sparseness of every component; 0 is flat, 1 a single feature, None leaves it free.
    codes_sparseness : float in [0, 1] or None
        Sparseness of every component's codes over the samples. `sample_weight` is then refused: this sparseness counts
        every sample once.
    init : {"auto", "random", "nndsvd", "nndsvda", "kmeans", "sampled"} or (W, H)
        Start, which is projected first. "auto" is "nndsvda".

    Notes
    -----
    `transform` gives new samples the codes of least error: the sparseness of codes concerns a component over all
    samples of the fit, not a single new one.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from partwise import SparsenessNMF
    >>> from partwise.metrics import sparseness
    >>> X, _ = load_digits(return_X_y=True)
    >>> model = SparsenessNMF(10, components_sparseness=0.7, random_state=0, max_iter=50, tol=0).fit(X)
    >>> sparseness(model.components_).round(6).tolist()
    [0.7, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7]
    """

    _takes_blocks = True

    components_sparseness: Share | None = 0.6
    codes_sparseness: Share | None = None
    # Stretching a column does not change its sparseness: components get unit norm in the end.
    scale: Literal["auto"] = field(default="auto", init=False)
    solver: Literal["auto"] = field(default="auto", init=False)

    def _terms(self) -> list[Term]:
        return [Frobenius()]

    def _domains(self) -> dict[Factor, Domain]:
        wanted: dict[Factor, float | None] = {CODES: self.codes_sparseness, COMPONENTS: self.components_sparseness}
        return {factor: NON_NEGATIVE if value is None else Sparse(value) for factor, value in wanted.items()}

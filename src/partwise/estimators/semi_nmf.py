"""Semi-non-negative matrix factorisation."""

from dataclasses import field
from typing import Any, ClassVar, Literal

from ..core import CODES, COMPONENTS, Factor, Term
from ..core.domains import Domain, Free
from ..solvers import FreeStart, Start
from ..terms import Frobenius
from .base import BaseFactorization
from .options import ClusterInit, NonNegative


class SemiNMF(BaseFactorization):
    r"""Semi-non-negative matrix factorisation (Semi-NMF): non-negative codes of data with entries of either sign.

    Minimises, over codes W ≥ 0 (n × k) and components H of either sign (k × m),

        ‖X − W H‖²

    (Ding, Li & Jordan, "Convex and semi-nonnegative matrix factorizations", 2010, with W = G, H = Fᵀ). For given codes
    the best components are known, H = (WᵀW)⁻¹ WᵀX (Eq. 10). It is k-means with soft memberships: if every row of W
    had one entry 1 and zeros elsewhere, H would be the means of the clusters.

    Parameters
    ----------
    solver : {"auto", "coordinate", "multiplicative"}
        "auto" is "multiplicative": the paper's rule for the codes, Eq. 11 with its square root. "coordinate" finds them
        by coordinate descent, and fits better in fewer sweeps; see the notes for why that is not always desirable. Both
        solve for the components in every sweep, and neither raises the objective.
    init : {"auto", "kmeans", "random"} or (W, H)
        Where the codes start: clusters of k-means with 0.2 added, as in the paper, or uniform numbers; components at
        the least-squares solution. "auto" is "kmeans" if there are enough samples. Of given arrays H may have either
        sign.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        H, every component at unit norm.

    Notes
    -----
    X may be dense or sparse, with entries of either sign. A sweep costs two products with X and (n + m) k² operations.
    Linearly dependent codes leave the components undetermined; the shortest ones are taken.

    Non-negative codes alone are a weak constraint: where the data spread around zero (centred data), the error of the
    best rank-k approximation of any sign can be approached by long codes of nearly parallel components that cancel each
    other (Gillis & Kumar, "Exact and heuristic algorithms for semi-nonnegative matrix factorization", 2015). Such codes
    say nothing about clusters. The paper's rule does not get there in reasonable time; coordinate descent does.

    Examples
    --------
    >>> import numpy as np
    >>> from partwise import SemiNMF
    >>> rng = np.random.RandomState(0)
    >>> X = rng.uniform(size=(50, 2)) @ rng.standard_normal((2, 6))
    >>> model = SemiNMF(2, random_state=0).fit(X)
    >>> bool((X < 0).any() and (model.embedding_ >= 0).all())
    True
    >>> bool(model.objective_ < 0.01 * (X**2).sum())
    True
    """

    _takes_blocks = True
    _takes_workers = True

    # Components get unit norm in the end.
    scale: Literal["auto"] = field(default="auto", init=False)
    init: ClusterInit = "auto"
    tol: NonNegative = 1e-4

    _printed_powers: ClassVar[dict[Factor, float] | None] = {CODES: 0.5}
    _auto_init = "kmeans"
    _auto_solver = "multiplicative"

    def _terms(self) -> list[Term]:
        return [Frobenius()]

    def _domains(self) -> dict[Factor, Domain]:
        return {COMPONENTS: Free()}

    def _start(self, shape: tuple[int, int], dtype: Any) -> Start:
        return FreeStart(**self._start_fields(shape, dtype))

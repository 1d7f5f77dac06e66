"""Non-negative matrix factorisation with sparseness constraints."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from ..core.domains import NON_NEGATIVE, Domain, Sparse
from ..core.operand import Operand
from ..core.term import Term
from ..core.types import CODES, COMPONENTS, Factor, IntArray
from ..terms import Frobenius
from .base import BaseFactorization
from .options import Assign, Init
from .units import Units


class SparsenessNMF(BaseFactorization):
    r"""Non-negative matrix factorisation whose components, codes or both have a given sparseness (NMF-SC).

    Minimises, over codes W ≥ 0 (n × k) and components H ≥ 0 (k × m),

        ‖X − W H‖²   subject to   sparseness(h_j) = components_sparseness,   sparseness(w_j) = codes_sparseness

    for every component h_j (row of H) and its use by the samples w_j (column of W), where for a vector of n entries

        sparseness(f) = (√n − ‖f‖₁ / ‖f‖₂) / (√n − 1)

    (Hoyer, "Non-negative matrix factorization with sparseness constraints", JMLR 2004, Eq. 3-5). The paper takes
    gradient steps, projects them and searches for a length at which the error falls. With all other columns fixed the
    best column is the projection of a known point, so here every step is that exact minimum: the objective cannot rise
    and there is no step length. Sparseness is exact at every sweep, to rounding.

    Parameters
    ----------
    n_components : int, default=8
        Number of parts, k.
    components_sparseness : float in [0, 1] or None, default=0.6
        Sparseness of every component; 0 is flat, 1 a single feature, None leaves it free.
    codes_sparseness : float in [0, 1] or None, default=None
        Sparseness with which every component is used over the samples. `sample_weight` is then refused: this sparseness
        counts every sample once.
    init, max_iter, tol, n_init, warm_start, assign, random_state, verbose, callbacks
        As for :class:`NMF`. A start is projected first. A fit has converged when a sweep lowers the objective by less
        than `tol` of it.

    Attributes
    ----------
    components_, embedding_, labels_, objective_, history_, n_iter_, solver_, stop_reason_, scale_, n_features_in_
        As for :class:`NMF`.

    Notes
    -----
    `transform` gives new samples the codes of least error: the sparseness of codes is said of a component over all
    samples of the fit, and of a new sample nothing.

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

    _paper = "Hoyer 2004"
    _cost = "2 T + 8 (n + m) k² + sorting"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{
            name: rule
            for name, rule in BaseFactorization._parameter_constraints.items()
            if name not in ("scale", "solver")
        },
        "components_sparseness": [Interval(Real, 0, 1, closed="both"), None],
        "codes_sparseness": [Interval(Real, 0, 1, closed="both"), None],
    }

    # Stretching a column does not change its sparseness: components get unit norm in the end.
    scale = "auto"
    solver = "auto"

    def __init__(
        self,
        n_components: int = 8,
        *,
        components_sparseness: float | None = 0.6,
        codes_sparseness: float | None = None,
        init: Init = "auto",
        max_iter: int = 500,
        tol: float = 1e-5,
        n_init: int = 1,
        warm_start: bool = False,
        assign: Assign = "kmeans",
        random_state: Any = None,
        verbose: int = 0,
        callbacks: Any = None,
    ):
        self.n_components = n_components
        self.components_sparseness = components_sparseness
        self.codes_sparseness = codes_sparseness
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.warm_start = warm_start
        self.assign = assign
        self.random_state = random_state
        self.verbose = verbose
        self.callbacks = callbacks

    def _units(self) -> Units:
        return Units()

    def _terms(self) -> list[Term]:
        return [Frobenius()]

    def _domains(self) -> dict[Factor, Domain]:
        wanted: dict[Factor, float | None] = {CODES: self.codes_sparseness, COMPONENTS: self.components_sparseness}
        return {factor: NON_NEGATIVE if value is None else Sparse(value) for factor, value in wanted.items()}

    def _fit_operand(
        self,
        X: Operand,
        y: IntArray | None,
        callbacks: list[Any],
        rng: np.random.RandomState,
    ) -> None:
        if X.sample_weight is not None and self.codes_sparseness is not None:
            raise ValueError(
                "sample_weight was given with codes_sparseness, which counts every sample once. Give no weights, or "
                "codes_sparseness=None."
            )
        super()._fit_operand(X, y, callbacks, rng)

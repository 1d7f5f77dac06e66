"""Non-negative matrix factorisation."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from ..core.operand import Missing, Operand
from ..core.storage import as_operand
from ..core.term import Term
from ..core.types import CODES, COMPONENTS, Array, dot64
from ..selection.grids import RANKS, Grid
from ..terms import L1, L2, BetaDivergence, Frobenius
from ..terms.divergence import order, power
from .base import OPEN, BaseFactorization
from .options import Assign, Init, Loss, OpenInt, Scale, Solver, Weighting
from .units import Units, codes_unit

LOSSES = ("frobenius", "kullback-leibler", "itakura-saito")


def fit_term(loss: str | float) -> Term:
    """The fit that a loss names: the squared error, or a β-divergence."""
    if loss in ("frobenius", 2):
        return Frobenius()
    return BetaDivergence(loss)


class NMF(BaseFactorization):
    r"""Non-negative matrix factorisation.

    Minimises, over codes W ≥ 0 (n × k) and components H ≥ 0 (k × m),

        D(X, W H) + l1_codes Σ|W| + l2_codes ‖W‖² + l1_components Σ|H| + l2_components ‖H‖²

    where D is ‖X − W H‖² or a β-divergence (Lee & Seung 1999, 2001; Févotte & Idier 2011). Sums, not means; no ½.

    With ``weighting="ncut"`` sample i is seen at the scale c_i = (x_iᵀ Σ_t x_t)^(−1/2) (Xu, Liu & Gong, "Document
    clustering based on non-negative matrix factorization", SIGIR 2003): the fit is D(CX, CWH), C = diag(c). For a
    β-divergence that is a sample weight c_i^β, so `embedding_`, `transform` and `inverse_transform` speak of X as they
    always do. Clusters are read off the codes of the scaled samples, C W, as in the paper.

    Parameters
    ----------
    n_components : int, "auto" or sequence of int, default=8
        Number of parts, k. "auto" chooses it without labels, a sequence among its values: by how well the links between
        neighbouring samples stay inside clusters; with missing entries, by how well known entries are predicted that
        were hidden from a fit. What other evidence says: :func:`partwise.selection.rank_evidence`.
    loss : {"frobenius", "kullback-leibler", "itakura-saito"} or float, default="frobenius"
        D; a number is the β of a β-divergence. 2 is "frobenius", 1 is "kullback-leibler", 0 is "itakura-saito".
    l1_codes, l2_codes, l1_components, l2_components : float, default=0.0
        Penalties on the entries and squared entries of the factors.
    weighting : {None, "ncut"}, default=None
        "ncut" lets samples that resemble many others count less, as in a normalised cut: each is scaled by
        (XXᵀ1)^(−1/2). It multiplies `sample_weight`.
    missing : {None, "nan", "unstored"}, default=None
        Entries of X that are unknown and do not count: none, those that are NaN, or those a sparse X does not store.
        A sample of which nothing is known, in `fit` or later, has a code of zeros, which fits as well as any other and
        costs no penalty; a feature of which nothing is known is zero in every component. Both are warned about.
    scale : {"auto", "components", None}, default="auto"
        Who carries the scale. "auto": penalties on the codes alone are measured where components have unit norm (and
        the other way round), so that no rescaling can cheat them; without penalties components get unit norm in the
        end; with penalties on both factors these settle it. None: whatever the sweeps give.
    solver : {"auto", "coordinate", "newton", "multiplicative"}, default="auto"
        "auto" takes coordinate descent for the Frobenius loss on complete data, Newton steps for the Kullback–Leibler
        divergence, and multiplicative rules otherwise.
    init : {"auto", "random", "nndsvd", "nndsvda", "kmeans", "sampled"} or (W, H), default="auto"
        Start. "auto" is "nndsvda", or "random" with missing entries. "sampled" first fits an eighth of the samples,
        which pays on large data.
    max_iter : int, default=500
        Most sweeps; a sweep is the codes, then the components.
    tol : float, default=1e-6
        Stop when a sweep lowers the objective by less than this share of it and the optimality measure is below it too.
        0 runs exactly `max_iter` sweeps.
    n_init : int, default=1
        Number of starts; all are run for a tenth of `max_iter` and the best is continued. Starts from singular vectors
        are always the same, so one is made.
    warm_start : bool, default=False
        Start from the last solution if the shapes agree.
    assign : {"kmeans", "argmax"}, default="kmeans"
        How `labels_` and `predict` read clusters off the codes: the best of 20 runs of k-means, or the largest entry (a
        sample whose code is zero then gets the label of the first component).
    random_state : int, RandomState or None, default=None
    verbose : int, default=0
        1 prints every tenth sweep, 2 every one; either also prints a line for every value that "auto" tries.
    callbacks : callable, Callback or list of these, default=None
        Called after every sweep, see `partwise.callbacks`.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The parts, H.
    embedding_ : ndarray of shape (n_samples, n_components)
        The codes of the training samples, W.
    labels_ : ndarray of int, shape (n_samples,)
        Clusters of the training samples.
    n_components_ : int
        Number of components, also where "auto" chose it.
    objective_ : float
        The objective at the end.
    reconstruction_err_ : float
        The fit's share of it as a distance, as in scikit-learn: ‖X − W H‖, or √(2 D) for another β-divergence D.
        Samples count by their weights, missing entries do not count, and penalties do not enter.
    history_ : dict of list
        "objective", every term by its name, and "time" (seconds) after each sweep; entry 0 is the start.
    n_iter_ : int
        Sweeps made.
    solver_ : str
        The solver that was used.
    stop_reason_ : {"converged", "max_iter", "interrupted", "callback"}
    scale_ : {"components", "codes", None}
        The factor whose columns (rows of H) have unit norm.
    selection_ : partwise.selection.Selection
        If `n_components` was open: the numbers that were tried, what each was worth, and the choice.
    n_features_in_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from partwise import NMF
    >>> X, y = load_digits(return_X_y=True)
    >>> model = NMF(10, random_state=0).fit(X)
    >>> model.components_.shape
    (10, 64)
    """

    _paper = "Lee & Seung 1999, 2001; Févotte & Idier 2011; Xu, Liu & Gong 2003 (weighting)"
    _cost = "2 T (4 T entry by entry: divergences, missing entries)"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseFactorization._parameter_constraints,
        "n_components": [Interval(Integral, 1, None, closed="left"), *OPEN],
        "loss": [StrOptions(set(LOSSES)), Interval(Real, None, None, closed="neither")],
        "l1_codes": [Interval(Real, 0, None, closed="left")],
        "l2_codes": [Interval(Real, 0, None, closed="left")],
        "l1_components": [Interval(Real, 0, None, closed="left")],
        "l2_components": [Interval(Real, 0, None, closed="left")],
        "weighting": [StrOptions({"ncut"}), None],
        "missing": [StrOptions({"nan", "unstored"}), None],
    }

    _selectable: ClassVar[dict[str, Grid]] = {"n_components": RANKS}

    def __init__(
        self,
        n_components: OpenInt = 8,
        *,
        loss: Loss = "frobenius",
        l1_codes: float = 0.0,
        l2_codes: float = 0.0,
        l1_components: float = 0.0,
        l2_components: float = 0.0,
        weighting: Weighting = None,
        missing: Missing = None,
        scale: Scale = "auto",
        solver: Solver = "auto",
        init: Init = "auto",
        max_iter: int = 500,
        tol: float = 1e-6,
        n_init: int = 1,
        warm_start: bool = False,
        assign: Assign = "kmeans",
        random_state: Any = None,
        verbose: int = 0,
        callbacks: Any = None,
    ):
        self.n_components: Any = n_components
        self.loss = loss
        self.l1_codes = l1_codes
        self.l2_codes = l2_codes
        self.l1_components = l1_components
        self.l2_components = l2_components
        self.weighting = weighting
        self.missing = missing
        self.scale = scale
        self.solver = solver
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.warm_start = warm_start
        self.assign = assign
        self.random_state = random_state
        self.verbose = verbose
        self.callbacks = callbacks

    def _terms(self) -> list[Term]:
        penalties = [
            L1(self.l1_codes, CODES),
            L2(self.l2_codes, CODES),
            L1(self.l1_components, COMPONENTS),
            L2(self.l2_components, COMPONENTS),
        ]
        return [fit_term(self.loss), *(penalty for penalty in penalties if penalty.strength > 0)]

    def _units(self) -> Units:
        # Samples at the scale of a cut have no unit.
        fit = 0.0 if self.weighting == "ncut" else order(self.loss)
        on_codes, on_components = self.l1_codes + self.l2_codes > 0, self.l1_components + self.l2_components > 0
        scale: str | None = self.scale
        if scale == "auto" and on_components:
            # Penalties on both factors settle the scale, and the start where: nothing else fixes it.
            scale = None if on_codes else CODES
        codes = codes_unit(scale)
        components = 1 - codes
        strengths = {
            "l1_codes": fit - codes,
            "l2_codes": fit - 2 * codes,
            "l1_components": fit - components,
            "l2_components": fit - 2 * components,
        }
        return Units(codes, components, fit, strengths)

    def _weighed(self, X: Operand) -> Operand:
        if self.weighting is None:
            return X
        if X.missing is not None:
            raise ValueError("weighting='ncut' needs complete data: it compares every sample with all others.")
        weight = np.ones(X.shape[0], X.dtype) if X.sample_weight is None else X.sample_weight
        self._total = X.t_dot(weight[:, None])
        return as_operand(X.array, X.missing, (weight * self._cut_weight(X)).astype(X.dtype))

    def _counted(self, X: Operand) -> Operand:
        if self.weighting is None:
            return X
        return as_operand(X.array, X.missing, (X.sample_weight / self._cut_weight(X)).astype(X.dtype))

    def _cut_weight(self, X: Operand) -> Array:
        """c^β, what scaling samples by c amounts to in a β-divergence."""
        return np.asarray(power(self._sample_scale(X), order(self.loss)))

    def _sample_scale(self, X: Operand) -> Array:
        """c = (X Σ_t x_t)^(−1/2) in float64.

        A sample that is zero, or so small beside the others that c would be no number, has the scale of their sum.
        """
        likeness = X.dot(self._total.astype(X.dtype, copy=False))[:, 0].astype(np.float64)
        whole = dot64(self._total, self._total) or 1.0
        return 1 / np.sqrt(np.where(likeness > float(np.finfo(X.dtype).tiny) ** 0.5 * whole, likeness, whole))

    def _clustered(self, codes: Array, X: Operand) -> Array:
        if self.weighting is None:
            return codes
        return codes * self._sample_scale(X)[:, None].astype(codes.dtype)

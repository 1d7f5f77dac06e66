"""Non-negative matrix factorisation with element weights."""

from __future__ import annotations

from copy import copy
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import Interval

from ..core.operand import Missing, Operand
from ..core.term import Term
from ..core.types import IntArray
from ..selection.grids import RANKS, Grid
from ..terms import BetaDivergence, Frobenius
from ..terms.divergence import order
from ..terms.entries import check_weights, known_counts, restrict
from .base import OPEN, BaseFactorization
from .nmf import NMF
from .options import Assign, Init, Loss, OpenInt, Scale, Solver
from .units import Units, codes_unit, no_functions


class WeightedNMF(BaseFactorization):
    r"""Non-negative matrix factorisation in which every entry of X counts as much as its weight says (WNMF).

    Minimises, over codes W ≥ 0 (n × k) and components H ≥ 0 (k × m),

        Σ_ij v_ij d(x_ij, (W H)_ij),   v ≥ 0 the weights

    with d the squared error (Kim & Choi, "Weighted nonnegative matrix factorization", ICASSP 2009, Eq. 2) or a
    β-divergence. Entries of weight zero, and missing ones, do not count: what stands there does not matter.

    Parameters
    ----------
    n_components : int, "auto" or sequence of int, default=8
        Number of parts, k. "auto" chooses it, a sequence among its values: with weights or missing entries by how well
        known entries are predicted that were hidden from a fit, otherwise as :class:`NMF` does.
    weights : array or sparse matrix of shape (n_samples, n_features) or callable, default=None
        How much each entry counts, or a function that says so of X. What a sparse matrix does not store counts nothing,
        and memory is in proportion to what it stores. None: every known entry counts once, which is :class:`NMF`.
    loss : {"frobenius", "kullback-leibler", "itakura-saito"} or float, default="frobenius"
        d; a number is the β of a β-divergence.
    missing : {None, "nan", "unstored"}, default=None
        Entries of X that are unknown, besides those of weight zero: none, those that are NaN, or those that a sparse X
        does not store. It holds for new samples as well.
    scale, solver, init, max_iter, tol, n_init, warm_start, assign, random_state, verbose, callbacks
        As for :class:`NMF`. With weights the solver is "multiplicative", which makes the paper's steps; with hidden or
        missing entries the start is "random".

    Attributes
    ----------
    components_, embedding_, labels_, objective_, history_, n_iter_, solver_, stop_reason_, scale_, n_features_in_,
    selection_
        As for :class:`NMF`. A sample of which nothing is observed has a code of zeros, a feature that is observed in no
        sample has zeros in every component, and both are warned about.

    Notes
    -----
    `transform` counts every known entry of a new sample once: weights belong to the samples of the fit.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from partwise import WeightedNMF
    >>> X, _ = load_digits(return_X_y=True)
    >>> seen = np.random.RandomState(0).uniform(size=X.shape) < 0.7
    >>> model = WeightedNMF(8, weights=seen, random_state=0, max_iter=100, tol=0).fit(X)
    >>> filled = model.inverse_transform(model.embedding_)
    >>> bool(((filled - X)[~seen] ** 2).mean() < 0.5 * X[~seen].var())
    True
    """

    _paper = "Kim & Choi 2009"
    _cost = "4 T over the entries that count (2 T without weights)"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseFactorization._parameter_constraints,
        "n_components": [Interval(Integral, 1, None, closed="left"), *OPEN],
        "weights": ["array-like", "sparse matrix", callable, None],
        "loss": NMF._parameter_constraints["loss"],
        "missing": NMF._parameter_constraints["missing"],
    }

    _selectable: ClassVar[dict[str, Grid]] = {"n_components": RANKS}

    def __init__(
        self,
        n_components: OpenInt = 8,
        *,
        weights: Any = None,
        loss: Loss = "frobenius",
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
        self.weights = weights
        self.loss = loss
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

    def _units(self) -> Units:
        no_functions(self, "weights")
        codes = codes_unit(self.scale)
        return Units(codes, 1 - codes, order(self.loss))

    def _terms(self) -> list[Term]:
        beta = order(self.loss)
        weights = getattr(self, "_bound_weights", self.weights)
        return [Frobenius(weights) if beta == 2 else BetaDivergence(beta, weights)]

    def _restricted(self, X: Operand) -> tuple[Operand, Any]:
        """The data without what does not count, and the weights of the rest."""
        weights = None
        if self.weights is not None:
            weights = check_weights(self.weights(X.array) if callable(self.weights) else self.weights, X)
            X, weights = restrict(X, weights)
            if not known_counts(X)[0].any():
                raise ValueError("Nothing of X is observed: all entries are missing or have weight zero.")
        return X, weights

    def _observed(self, X: Operand) -> tuple[Self, Operand]:
        recipe = copy(self)
        X, recipe._bound_weights = self._restricted(X)
        return recipe, X

    def _fit_operand(
        self,
        X: Operand,
        y: IntArray | None,
        callbacks: list[Any],
        rng: np.random.RandomState,
    ) -> None:
        X, self._bound_weights = self._restricted(X)
        try:
            with X.at_work():
                super()._fit_operand(X, y, callbacks, rng)
        finally:
            # They are as large as the data and new samples have none.
            del self._bound_weights

"""Hidden entries: known values that a fit does not see, and how well it predicts them.

Unknown entries are never hidden and never count. This serves data with missing entries, in which samples have no
neighbours by which to judge clusters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.operand import Operand
from ..core.state import State
from ..core.storage import as_operand
from ..core.types import CODES, COMPONENTS, Array
from ..core.warn import quiet
from ..solvers.loop import Options
from ..solvers.problem import Problem, solve
from ..terms.entries import known_counts
from ..terms.penalties import L2

# Share of the known entries that is hidden, how often, and how long a fit to the others runs.
SHARE, SPLITS = 0.1, 3
SWEEPS, TOLERANCE = 200, 1e-4
# Starts of such a fit. A bad minimum, with a component for a single feature, leaves codes open that predict nonsense.
STARTS = 3
# Strength of the penalty on both factors, as a share of the weight of the fit. Where few entries of a sample are
# known, its code is poorly determined, and without a penalty some predictions are off by orders of magnitude.
RIDGE = 0.01
# Share of the means in predictions by divergences that are infinite, or all but infinite, where a count is predicted to
# be zero: components have many zeros, and a few such entries would decide everything.
BLEND = 0.01
# As bad as any; some divergences are infinite where a non-zero entry is predicted to be zero.
WORST = -1e6


def hide(X: Operand, share: float, rng: np.random.RandomState) -> tuple[Any, Operand]:
    """Hide a share of the known entries.

    In a sparse X whose unstored entries are zeros, as many unstored as stored entries are hidden.

    Parameters
    ----------
    X : Operand
    share : float
        Of the known entries; in a sparse X, of the stored ones.
    rng : numpy.random.RandomState

    Returns
    -------
    hidden : csr_array
        The hidden entries, each with the number of entries it represents.
    known : Operand
        X without them.

    Raises
    ------
    ValueError
        If the share is less than one entry.
    """
    data = X.array
    if not sp.issparse(data):
        hidden = _drawn(~np.isnan(data), share, rng)
        return sp.csr_array(hidden.astype(X.dtype)), _operand(np.where(hidden, np.nan, data), "nan", X)
    stored = sp.coo_array(data)
    seen = _drawn(~np.isnan(stored.data), share, rng)
    rows, columns = stored.row, stored.col
    at, counts = (rows[seen], columns[seen]), np.ones(int(seen.sum()))
    if X.missing == "unstored":
        known = sp.csr_array((stored.data[~seen], (rows[~seen], columns[~seen])), shape=X.shape)
        return _sparse(counts, at, X), _operand(known, "unstored", X)
    zeros = _unstored(stored, len(counts), rng)
    each = share * (X.shape[0] * X.shape[1] - stored.nnz) / max(len(zeros[0]), 1)
    hidden = _sparse(
        np.concatenate([counts, np.full(len(zeros[0]), each)]),
        (np.concatenate([at[0], zeros[0]]), np.concatenate([at[1], zeros[1]])),
        X,
    )
    values = np.concatenate([np.where(seen, np.nan, stored.data), np.full(len(zeros[0]), np.nan)])
    where = np.concatenate([rows, zeros[0]]), np.concatenate([columns, zeros[1]])
    return hidden, _operand(_sparse(values, where, X), "nan", X)


def _drawn(known: Array, share: float, rng: np.random.RandomState) -> Array:
    """A share of the known entries at random, at least one.

    A number is drawn for every known entry, not for every entry: otherwise users who mask entries with the same random
    numbers would have none left to hide.
    """
    count = int(known.sum())
    if count * share < 1:
        raise ValueError(
            f"Only {count} entries of X are known, too few to hide a share of {share:g} of them and to predict it: "
            "choose n_components yourself."
        )
    numbers = rng.uniform(size=count)
    drawn = np.zeros_like(known)
    drawn[known] = numbers <= max(share, numbers.min())
    return drawn


def _unstored(stored: Any, count: int, rng: np.random.RandomState) -> tuple[Array, Array]:
    """Rows and columns of at most `count` entries that are not stored."""
    n, m = stored.shape
    count = min(count, n * m - stored.nnz)
    places = np.unique(rng.randint(n * m, size=2 * count, dtype=np.int64)) if count else np.empty(0, np.int64)
    taken = stored.row.astype(np.int64) * m + stored.col
    rows, columns = np.divmod(rng.permutation(np.setdiff1d(places, taken))[:count], m)
    return rows, columns


def _sparse(values: Array, where: tuple[Array, Array], X: Operand) -> Any:
    return sp.csr_array((values.astype(X.dtype), where), shape=X.shape)


def _operand(data: Any, missing: Any, X: Operand) -> Operand:
    return as_operand(data, missing, X.sample_weight)


def hidden_loss(fits: Sequence[Any], X: Operand, hidden: Any, W: Array, Ht: Array) -> float:
    """Mean loss of the hidden entries, each with its weight in the fit.

    Parameters
    ----------
    fits : sequence of Frobenius or BetaDivergence
        How predictions are compared with X.
    X : Operand
        With the hidden entries.
    hidden : csr_array
        From :func:`hide`.
    W, Ht : ndarray
        The factors.
    """
    state, loss = State(X, W, Ht), 0.0
    for fit in fits:
        weights = hidden if fit.weights is None else sp.csr_array(hidden.multiply(fit.weights))
        rows = weights.sum(axis=1, dtype=np.float64)
        count = float(rows.sum() if X.sample_weight is None else rows @ X.sample_weight)
        if not count:
            raise ValueError(
                "The hidden entries of X all have weight zero, so that their predictions say nothing: "
                "give n_components a number."
            )
        loss += replace(fit, weights=weights).bind(X, sample_weight=X.sample_weight).value(state) / count
    return loss


@dataclass(frozen=True, eq=False)
class Predictions:
    """How well a problem with some number of components predicts hidden entries of its data.

    Attributes
    ----------
    problem : Problem
        Entries of its data that do not count are missing.
    splits : sequence of (csr_array, Operand, int)
        Hidden entries, the data without them, and a seed.
    options : Options
        Of the fit that the choice is for.
    """

    problem: Problem
    splits: Sequence[tuple[Any, Operand, int]]
    options: Options

    @classmethod
    def of(cls, problem: Problem, options: Options, n_splits: int = SPLITS) -> Predictions:
        """With entries hidden at random."""
        rng = problem.rng
        splits = [(*hide(problem.X, SHARE, rng), int(rng.randint(np.iinfo(np.int32).max))) for _ in range(n_splits)]
        return cls(problem, splits, options)

    def __call__(self, n_components: int) -> Array:
        """By what share the model reduces the loss of predicting the mean, for every split: at most 1."""
        return np.maximum(WORST, 1 - self.losses(n_components) / np.maximum(self._without, np.finfo(np.float64).tiny))

    def losses(self, n_components: int) -> Array:
        """Mean loss of a hidden entry, for every split."""
        problem = replace(self.problem.with_components(n_components), scale=None)
        problem = problem.from_start(replace(problem.start, n_init=max(STARTS, problem.start.n_init)))
        with quiet():
            return np.array([self._loss(problem, *split) for split in self.splits])

    @cached_property
    def _without(self) -> Array:
        """The same, with the mean of the known entries for a prediction."""
        fits, X = self.problem.fits, self.problem.X
        means = [[np.full((F, 1), np.sqrt(known.mean()), X.dtype) for F in X.shape] for _, known, _ in self.splits]
        return np.array([hidden_loss(fits, X, self.splits[i][0], *mean) for i, mean in enumerate(means)])

    def _loss(self, problem: Problem, hidden: Any, known: Operand, seed: int) -> float:
        seen = problem.on(known, problem.labels, np.random.RandomState(seed))
        seen = seen.with_terms([*problem.terms, *_ridge(problem.fits, known)])
        state = solve(seen, self.options.inside(SWEEPS, TOLERANCE)).state
        W, Ht = state.W, state.Ht
        if any(fit.order < 2 for fit in problem.fits):
            W, Ht = _never_zero(W, Ht, known)
        return hidden_loss(problem.fits, problem.X, hidden, W, Ht)


def _never_zero(W: Array, Ht: Array, X: Operand) -> tuple[Array, Array]:
    """(1 − ε) W H + ε r cᵀ / mean, as factors; r and c are the means of the samples and features, ε is `BLEND`."""
    shown = X.known()
    totals = shown.dot(np.ones((X.shape[1], 1), X.dtype)), shown.t_dot(np.ones((X.shape[0], 1), X.dtype))
    counts = (np.maximum(n, 1)[:, None] for n in known_counts(X))
    rows, columns = (total / n for total, n in zip(totals, counts, strict=True))
    share = BLEND / (X.mean() or 1.0)
    return np.hstack([(1 - BLEND) * W, share * rows]).astype(X.dtype), np.hstack([Ht, columns]).astype(X.dtype)


def _ridge(fits: Sequence[Any], X: Operand) -> list[L2]:
    """Mild penalties on both factors, in the unit of the fit on these data."""
    n_known = float(known_counts(X)[0].sum())
    unit = X.mean() ** (fits[0].order - 1) if X.mean() > 0 else 0.0
    strength = RIDGE * unit * n_known / sum(X.shape)
    return [L2(strength, CODES), L2(strength, COMPONENTS)] if strength > 0 else []


def smallest_good(worth: Array) -> int:
    """Which number of components to take: the first that is no worse than the best, up to chance.

    Parameters
    ----------
    worth : ndarray of shape (n_numbers, n_splits)
        Larger is better. All numbers were tried on the same splits, so differences are compared.
    """
    lost = worth[worth.mean(axis=1).argmax()] - worth
    return int(np.flatnonzero(lost.mean(axis=1) <= lost.std(axis=1, ddof=1) / np.sqrt(worth.shape[1]))[0])

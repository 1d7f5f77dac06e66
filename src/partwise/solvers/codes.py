"""Codes of new samples for fixed components."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np
import scipy.sparse as sp

from ..core.domains import NON_NEGATIVE, Domain, Free, OneEntry, Simplex
from ..core.objective import Objective
from ..core.operand import Operand
from ..core.projections import onto_simplex
from ..core.scratch import Scratch
from ..core.state import State
from ..core.term import BoundTerm, Term
from ..core.types import CODES, Array
from .coordinate import Coordinate
from .entry_steps import EntrySteps
from .free import best_free
from .gradient import descend_each
from .multiplicative import Multiplicative, lifted
from .newton import Newton
from .one_entry import step_rows
from .row_coordinate import RowCoordinate

MAX_PASSES = 2000
# Passes over a row with each of the terms through which another one is approached.
EASY_PASSES = 50
# The first steps from equal codes are gentle.
GENTLE_STEPS = 4


def coding_terms(terms: Iterable[BoundTerm], state: State) -> list[Term]:
    """The terms by which new samples are coded, given the terms of a fit and where it ended."""
    return [new for term in terms if (new := term.for_new(state)) is not None]


def code_samples(
    terms: Iterable[Term], X: Operand, Ht: Array, codes: Domain = NON_NEGATIVE, max_passes: int = MAX_PASSES
) -> Array:
    """Minimise the objective over the codes of new samples, each row separately and to convergence.

    Parameters
    ----------
    terms : iterable of Term
        Those of :func:`coding_terms`.
    X : Operand
        New samples.
    Ht : ndarray of shape (n_features, n_components)
    codes : Domain, default=NON_NEGATIVE
        What the code of a sample may be.
    max_passes : int, default=2000
        Most passes over a row.
    """
    terms = list(terms)
    return X.by_pieces(partial(_coded, terms, Ht, codes, max_passes), Ht.shape[1])


def _coded(terms: list[Term], Ht: Array, codes: Domain, max_passes: int, X: Operand) -> Array:
    """The same for samples in memory."""
    start = None
    with X.at_work():
        bound = [term.bind(X) for term in terms]
        for hard, own in zip(terms, bound, strict=True):
            for easy in hard.easier if codes == NON_NEGATIVE else ():
                stage = Objective([easy.bind(X) if term is own else term for term in bound])
                start = code_rows(stage, X, Ht, min(EASY_PASSES, max_passes), start, roughly=True)
        return code_rows(Objective(bound, codes=codes), X, Ht, max_passes, start)


def code_rows(
    objective: Objective,
    X: Operand,
    Ht: Array,
    max_passes: int = MAX_PASSES,
    start: Array | None = None,
    *,
    roughly: bool = False,
) -> Array:
    """Minimise an objective that does not couple samples over their codes, each row separately and to convergence.

    Parameters
    ----------
    objective : Objective
        Of the codes of these samples.
    X : Operand
    Ht : ndarray of shape (n_features, n_components)
    max_passes : int, default=2000
        Most passes over a row.
    start : ndarray of shape (n_samples, n_components), optional
        Where to begin, for objectives that are not convex; by default all entries are equal.
    roughly : bool, default=False
        Whether a few digits are enough.
    """
    k = Ht.shape[1]
    tolerance = float(np.finfo(X.dtype).eps) ** (0.25 if roughly else 1)
    domain = objective.domains[CODES]
    if domain != NON_NEGATIVE:
        return _code_in(domain, objective, State(X, np.full((X.shape[0], k), 1 / k, X.dtype), Ht), max_passes)
    if objective.has_entrywise:
        state = State(X, _level(X, Ht) if start is None else start, Ht)
        steps = EntrySteps(objective, state, CODES, Scratch(), own_grams=True)
        steps.repeat(max_passes, tolerance, GENTLE_STEPS if start is None else 0)
        return steps.F
    if objective.has_logarithms:
        state = State(X, _level(X, Ht) if start is None else start, Ht)
        return Newton(objective).code(state, max_passes, tolerance)
    if objective.without_quadratic() and not objective.has_row_squares:
        state = lifted(State(X, _level(X, Ht) if start is None else start, Ht), CODES)
        return Multiplicative(objective).code(state, max_passes, tolerance**0.5)
    # A pass gains the square of its steps: eps² would be below what steps can resolve.
    state = State(X, np.zeros((X.shape[0], k), X.dtype) if start is None else start, Ht)
    solver = RowCoordinate(objective) if objective.has_row_squares else Coordinate(objective)
    return solver.code(state, max_passes, tolerance**1.5)


def _code_in(domain: Domain, objective: Objective, state: State, max_passes: int) -> Array:
    """Codes in a domain that applies to each sample separately."""
    tolerance = float(np.finfo(state.W.dtype).eps)
    if isinstance(domain, Simplex) and objective.has_logarithms:
        return Newton(objective).code(state, max_passes, tolerance)
    if objective.without_quadratic():
        if isinstance(domain, Simplex):
            return Multiplicative(objective).code(state, max_passes, tolerance**0.5)
        raise ValueError(f"Codes {domain.words} need samples with all entries known; some are missing.")
    if isinstance(domain, Free):
        return best_free(objective, state, CODES)
    if isinstance(domain, OneEntry):
        return step_rows(state.W, *objective.quadratic(state, CODES))
    for _ in range(max_passes if objective.majorised else 1):
        before = state.W
        W = descend_each(
            before, *objective.quadratic(state, CODES), max_passes, tolerance**0.75, partial(onto_simplex, axis=1)
        )
        state = state.replace(CODES, W)
        if np.abs(W - before).max(initial=0.0) <= tolerance**0.5:
            break
    return state.W


def _level(X: Operand, Ht: Array) -> Array:
    """Equal codes that give every sample its sum."""
    mass = X.dot(np.ones((X.shape[1], 1), X.dtype)) if X.missing is None else _known_mass(X)
    level = mass / max(float(Ht.sum(dtype=np.float64)), np.finfo(X.dtype).tiny)
    return np.repeat(level, Ht.shape[1], axis=1).astype(X.dtype)


def _known_mass(X: Operand) -> Array:
    """Sum of the known entries of every sample, as a column."""
    sums = []
    for _, x in X.row_blocks():
        if sp.issparse(x):
            x = sp.csr_array((np.nan_to_num(x.data), x.indices, x.indptr), shape=x.shape)
        sums.append(np.asarray(x.sum(axis=1) if sp.issparse(x) else np.nansum(x, axis=1)).reshape(-1, 1))
    return np.concatenate(sums)

"""One batch of a stream: its samples beside what is left of earlier ones.

The past is a term of the components (`core.past`), so a batch is a problem like any other: the solvers of a fit
minimise the sum of its terms and those of the past over the batch's codes and the components. Where the past is not a
quadratic, codes make the steps of a fit, and components multiplicative ones.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..core.objective import Objective
from ..core.operand import Operand
from ..core.past import Past, remembered
from ..core.state import State
from ..core.storage import as_operand
from ..core.stream import Stream, joined
from ..core.term import BoundTerm
from ..core.types import CODES, COMPONENTS, Array, Factor, IntArray
from .codes import code_rows
from .loop import Options, Result
from .multiplicative import Multiplicative
from .problem import Minimum, Problem, solve
from .scale import Domains, apply_scale, held_columns, rescaled
from .search import minimise

# Passes over the codes of a batch before its first sweep, which components should not meet unprepared.
FIRST_PASSES = 20
# Sweeps over a batch, and with multiplicative steps of the components, which gain less.
SWEEPS, RULE_SWEEPS = 3, 7
# Steps of the codes in a sweep whose components make multiplicative ones.
CODE_PASSES = 2
# What the first samples say of a feature is mixed with what as many samples like their mean would say.
MEAN_SAMPLES = 3


def take_batch(problem: Problem, stream: Stream, standing: IntArray) -> tuple[Minimum, Stream]:
    """Minimise over the codes of a batch and the components, and remember the batch.

    Parameters
    ----------
    problem : Problem
        Whose data are the batch, with weights that count beside the past.
    stream : Stream
        Of earlier batches, faded.
    standing : ndarray of int
        Rows that will come again with the next batch, and are therefore not remembered.
    """
    X = problem.X
    terms, unit, domains = _streamed(problem)
    batch = Objective(terms, **domains)
    objective = Objective([*terms, *stream.pasts], **domains)

    def begin() -> State:
        return problem.state(code_rows(batch, X, stream.Ht, FIRST_PASSES), stream.Ht)

    if all(past.offers_quadratic for past in stream.pasts):
        result = minimise(objective, problem.new_solver(objective), [begin], Options(SWEEPS, 0.0, inner=True))
    else:
        result = _by_rules(objective, batch, begin())
    state = result.state
    pasts = joined(tuple(past.seen_from(state) for past in stream.pasts), _kept(problem, terms, state, standing))
    if unit == COMPONENTS:
        lengths = _lengths(state, domains)
        state, pasts = rescaled(state, unit, lengths), tuple(past.rescaled(lengths) for past in pasts)
    return Minimum(state, result, terms, unit), replace(stream, Ht=state.Ht, pasts=pasts)


def _by_rules(objective: Objective, batch: Objective, state: State) -> Result:
    """Sweeps with multiplicative steps of the components, which fit every past; only the last one is evaluated."""
    rules = Multiplicative(objective)
    state = rules.prepare(state)
    for _ in range(RULE_SWEEPS):
        state = state.replace(CODES, code_rows(batch, state.X, state.Ht, CODE_PASSES, state.W))
        state = rules.step(state, COMPONENTS)
    values = objective.values(state)
    total = sum(values.values())
    history = {"objective": [total], **{name: [value] for name, value in values.items()}, "time": [0.0]}
    return Result(state, total, history, RULE_SWEEPS, "stream", "max_iter")


def fit_anew(problem: Problem, Ht: Array | None, options: Options) -> Minimum:
    """The better of two fits: from a fresh start, and from the components of earlier samples, if there are any."""
    fresh = solve(problem, options)
    if Ht is None:
        return fresh
    objective = Objective(_streamed(problem)[0])
    continued = solve(problem.begun((code_rows(objective, problem.X, Ht, FIRST_PASSES), Ht)), options)
    return min(fresh, continued, key=lambda minimum: minimum.result.objective)


def check_streams(problem: Problem) -> None:
    """Refuse, before any work, what batches cannot be fitted one by one."""
    _streamed(problem)


def _streamed(problem: Problem) -> tuple[list[BoundTerm], Factor | None, Domains]:
    terms, unit, domains = apply_scale(problem.bound, problem.scale, problem.bound_domains)
    coupled = [term.name for term in problem.bound if term.couples_samples]
    if coupled:
        raise ValueError(
            f"The term {coupled[0]!r} ties the codes of samples to each other, so batches cannot be fitted one by one. "
            "Use fit, or leave the term out."
        )
    if unit == CODES:
        raise ValueError(
            "Penalties on the components alone are measured where the codes of all samples have unit norm, which a "
            "batch cannot know. Penalise the codes as well, or use scale=None."
        )
    return terms, unit, domains


def begin_stream(problem: Problem, minimum: Minimum, seen: float, standing: IntArray) -> Stream:
    """The stream that begins with a fit to its first samples, so many; for `standing` see :func:`take_batch`."""
    state = minimum.state
    pasts = _kept(problem, minimum.terms, state, standing)
    if not any(past.keeps_zeros for past in pasts):
        return Stream.begun(state.Ht, pasts, seen)
    # Most features of sparse data are in few of the first samples, and zero in most of their components.
    mixed = _with_the_mean(problem.X, state.Ht)
    mixed = problem.bound_domains[COMPONENTS].entered(mixed, COMPONENTS)[0]
    return Stream.begun(mixed, tuple(past.resting(mixed) for past in pasts), seen)


def _with_the_mean(X: Operand, Ht: Array) -> Array:
    """Components mixed, feature by feature, with the mean sample: the more, the fewer samples have the feature."""
    weight = np.ones(X.shape[0], X.dtype) if X.sample_weight is None else X.sample_weight
    totals, having = X.known().t_dot(weight[:, None])[:, 0].astype(np.float64), np.zeros(X.shape[1])
    for rows, block in X.row_blocks():
        having += (block > 0).T @ weight[rows]
    if not totals.any():
        return Ht
    # One more sample, with all features alike, is none that has no feature of later ones.
    mean = totals + totals.mean() / X.shape[0]
    share = (MEAN_SAMPLES / (MEAN_SAMPLES + having))[:, None]
    mixed = (1 - share) * Ht + share * np.outer(mean / mean.sum(), Ht.sum(axis=0, dtype=np.float64))
    return np.ascontiguousarray(mixed, Ht.dtype)


def _kept(problem: Problem, terms: list[BoundTerm], state: State, standing: IntArray) -> tuple[Past, ...]:
    """What to remember of the rows that do not come again."""
    if len(standing):
        X = problem.X
        others = np.delete(np.arange(X.shape[0]), standing)
        if not len(others):
            return ()
        weight = None if X.sample_weight is None else X.sample_weight[others]
        problem = problem.on(as_operand(X.take(others).array, X.missing, weight), None)
        terms = _streamed(problem)[0]
        state = problem.state(state.W[others], state.Ht)
    return joined((), tuple(past for term in terms if (past := remembered(term, state)) is not None))


def _lengths(state: State, domains: Domains) -> Array:
    """The norms of the components, and one where they cannot be stretched."""
    norms, held = state.norms(COMPONENTS), held_columns(state, COMPONENTS, domains)
    return np.where((norms > 0) & ~held, norms, 1)

"""Losses other than the squared error on data that are not in memory: one pass for both factors, and one for the value.

While a piece of the data is there, the codes of its samples make a few of the steps that they would make in memory, and
the piece adds its share to what a step of the components needs: their models (`solvers.row_models`) or, at first and
for losses whose models do not add up, the gradient of a multiplicative step. Both factors are extrapolated. Links
between samples are replaced by a bound that touches at the present codes. No step can raise the objective.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..core.forms import Quadratic, Split, merge
from ..core.objective import Objective
from ..core.operand import Operand
from ..core.piece_pass import PiecePass
from ..core.scratch import Scratch
from ..core.state import State
from ..core.term import BoundTerm, Term
from ..core.types import CODES, COMPONENTS, Array, Factor
from ..terms.pieces import BoundPieces
from .codes import code_rows
from .extrapolation import Extrapolating
from .multiplicative import Multiplicative
from .newton import LEAST_SHARE, is_swept
from .row_models import RowModels, models_of
from .steps import Steps, wanted
from .systems import system_of

# As in memory, where multiplicative sweeps at first lead to better minima.
GENTLE_SWEEPS = 10
# Steps on the codes of a piece, while it is in memory.
PASSES = 3
# Models may take this much memory. If those of all components take more, they get them by turns.
MODEL_BYTES = 2**27


def goes_in_pieces(objective: Objective) -> bool:
    """Whether one term is a fit to pieces, and the others are quadratics."""
    others = [term for term in objective.terms if not isinstance(term, BoundPieces)]
    if len(others) != len(objective.terms) - 1 or not is_swept(objective):
        return False
    return all(term.offers_quadratic and not term.orthogonality for term in others)


class Piecewise(Extrapolating):
    """The default solver for losses other than the squared error on data that are not in memory.

    Parameters
    ----------
    objective : Objective
    """

    name = "piecewise"
    least_share = LEAST_SHARE
    reaches_optimum = False
    remembers = (*Extrapolating.remembers, "_turn")

    def __init__(self, objective: Objective):
        super().__init__(objective)
        self._rules = Multiplicative(objective)
        self._fit = next(term for term in objective.terms if isinstance(term, BoundPieces))
        others = [term for term in objective.terms if term is not self._fit]
        self._others = Objective(others, codes=objective.domains[CODES], components=objective.domains[COMPONENTS])
        # Which components have models in the next sweep, if not all have; and what the present one has found.
        self._turn = 0
        self._modelled: slice | None = None
        self._share: _Share | None = None

    def prepare(self, state: State) -> State:
        """Lift zeros, which no multiplication could leave."""
        return self._rules.prepare(state)

    def _is_gentle(self, sweep: int) -> bool:
        return sweep <= GENTLE_SWEEPS

    def _code(self, state: State, beta: float) -> Steps[tuple[State, Array]]:
        """The codes, and on the way what the components need."""
        yield wanted(self._objective, state, CODES)
        last, k = self._last.get(CODES) if beta else None, state.Ht.shape[1]
        others, arrays = _apart(self._objective, self._fit, state)
        self._modelled = self._next_modelled(state)
        run = PiecePass(
            _Improvement(
                self._fit.term,
                others,
                self._is_gentle(self._sweeps),
                None if last is None else beta,
                self.least_share,
                self._modelled,
            ),
            state.Ht,
            (state.W, *(() if last is None else (last,)), *arrays),
            (k,) if last is None else (k, k),
            _joined,
            lambda: self._memory(state, last),
        )
        results = state.X.pass_over(run).results
        self._share = run.share
        return state.replace(CODES, results[-1]), results[0]

    def _next_modelled(self, state: State) -> slice | None:
        """The components that have models in this sweep; None if no one has."""
        linked = any(part.couples_rows for part in self._others.quadratics(state, COMPONENTS))
        if self._is_gentle(self._sweeps) or not self._fit.adds_up or linked:
            return None
        m, k = state.Ht.shape
        height = max(1, MODEL_BYTES // (k * (k + 1) * state.Ht.itemsize))
        if height >= m:
            return slice(0, m)
        start = self._turn if self._turn < m else 0
        self._turn = min(start + height, m)
        return slice(start, self._turn)

    def _improve_components(self, state: State) -> Steps[State]:
        yield wanted(self._objective, state, COMPONENTS)
        rows, share = self._modelled, self._share
        assert share is not None  # of the codes' pass
        new = state
        if share.split is not None:
            self._fit.remember_split(state, share.split)
            new = self._rules.step(state, COMPONENTS)
        if rows is None or share.models is None:
            return new
        system = system_of(self._others, state, COMPONENTS, closed=True).of(rows)
        n_held = self._objective.domains[COMPONENTS].n_held(COMPONENTS)
        Ht = np.array(new.Ht, order="C")
        Ht[rows] = share.models.improved(np.ascontiguousarray(state.Ht[rows]), system, n_held)
        return state.replace(COMPONENTS, Ht)

    def _size(self, state: State) -> float:
        return abs(self._fit.value(state))


@dataclass(frozen=True, eq=False)
class _Share:
    """What pieces add up to for the components: the gradient, unless all have models, and the models."""

    split: Split | None
    models: RowModels | None


def _joined(shares: list[_Share]) -> _Share:
    first, *rest = shares
    for share in rest:
        split = None if first.split is None or share.split is None else merge((first.split, share.split))
        models = None if first.models is None or share.models is None else first.models.plus(share.models)
        first = _Share(split, models)
    return first


@dataclass(frozen=True, eq=False)
class _Improvement:
    """Better codes of a piece, a step further in the same direction, and what the components need of these.

    Attributes
    ----------
    term : Term
        The fit.
    others : tuple of (Quadratic, tuple of str)
        The quadratics of the other terms, and which of their parts come with the rows.
    gentle : bool
        Whether the step is one of the first.
    beta : float or None
        How far to extrapolate; None: not at all.
    least_share : float
        An extrapolated entry keeps at least this share of its value.
    modelled : slice or None
        The components that have models.
    """

    term: Term
    others: tuple[tuple[Quadratic, tuple[str, ...]], ...]
    gentle: bool
    beta: float | None
    least_share: float
    modelled: slice | None

    def __call__(
        self, piece: Operand, rows: slice, given: tuple[Array, ...], Ht: Array
    ) -> tuple[tuple[Array, ...], _Share]:
        """The codes to start from, those of the last sweep if there is extrapolation, and parts of quadratics."""
        from ..kernels.descent import step_further

        n_codes = 1 if self.beta is None else 2
        parts = iter(given[n_codes:])
        others = [_with(form.of_rows(rows), {name: next(parts) for name in names}) for form, names in self.others]
        bound = self.term.bind(piece, sample_weight=piece.sample_weight)
        F = self._stepped(Objective([bound, *map(_Rows, others)]), piece, given[0], Ht)
        W = F
        if self.beta is not None:
            W = np.empty_like(F)
            step_further(F, np.ascontiguousarray(given[1]), self.beta, self.least_share, W)
        state, own = State(piece, W, Ht), self.modelled
        models = None if own is None else models_of(bound, state, own, Scratch())
        share = _Share(None if own == slice(0, len(Ht)) else bound.split(state, COMPONENTS), models)
        return ((F,) if self.beta is None else (F, W)), share

    def _stepped(self, local: Objective, piece: Operand, W: Array, Ht: Array) -> Array:
        if self.gentle:
            return Multiplicative(local).code(State(piece, W, Ht), 1, 0.0)
        return code_rows(local, piece, Ht, PASSES, W)

    def of(self, rows: slice) -> _Improvement:
        """The same on some of the rows."""
        return replace(self, others=tuple((form.of_rows(rows), names) for form, names in self.others))


def _apart(
    objective: Objective, fit: BoundPieces, state: State
) -> tuple[tuple[tuple[Quadratic, tuple[str, ...]], ...], tuple[Array, ...]]:
    """The quadratics of the terms beside the fit, none of which couples samples any more.

    And their parts that have a row for every sample, by name.
    """
    others, arrays = [], []
    for term in objective.terms:
        whole = None if term is fit else term.quadratic(state, CODES)
        if whole is None:
            continue
        form = whole.uncoupled(state.W)
        names = tuple(name for name in ("attract", "repel") if np.shape(getattr(form, name)) == state.W.shape)
        arrays += [getattr(form, name) for name in names]
        others.append((_with(form, dict.fromkeys(names)), names))
    return tuple(others), tuple(arrays)


def _with(form: Quadratic, parts: dict[str, Any]) -> Quadratic:
    return replace(form, **parts)


class _Rows(BoundTerm):
    """The quadratic of the codes of some rows, at which a piece of the data is fitted."""

    name = "others"

    def __init__(self, form: Quadratic):
        self._form = form

    def value(self, state: State) -> float:
        """Up to a constant."""
        return self._form.value(state.W, lambda: state.product(CODES))

    def quadratic(self, state: State, factor: Factor) -> Quadratic | None:
        """Only of the codes."""
        return self._form if factor == CODES else None

    def for_new(self, state: State) -> Term | None:
        """It lives for one step."""
        return None

"""Quadratic models of the rows of a factor that can be added up over samples, and steps on them that cannot rise.

A sum of functions of y = f · g lies, along a step d of a row f that changes y to y (1 + t), below its tangent plus
Σ bent · R(t) + firm · Q(t), see `core.forms.Entrywise`. With C = d (Σ bent/y² g gᵀ) dᵀ = Σ bent t², the first sum is at
most C times the R(t) / t² of the smallest t, if R grows slowly. As a sum of f_j g_j no y falls by a larger share than
the entry of f that falls most, nor by more than Σ_j −d_j max g_j / y over the entries that fall. So a gradient, two
Gram matrices and these maxima of every row tell how far it can go, and no sample is needed again: where data are read
piece by piece, one pass over them is enough.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..core.forms import Entrywise
from ..core.scratch import Scratch
from ..core.state import State
from ..core.term import BoundTerm
from ..core.types import COMPONENTS, Array
from .entry_steps import packed_grams, respond, summed
from .multilevel import NO_LINKS
from .systems import RowSystem

# Passes over the models, which need not be solved more exactly than they hold.
MODEL_PASSES, MODEL_TOLERANCE = 10, 1e-3


@dataclass(frozen=True, eq=False)
class RowModels:
    """Models of some rows of a factor.

    Attributes
    ----------
    gradient : ndarray of shape (rows, k)
    bent, firm : ndarray of shape (rows, k (k + 1) / 2), or None
        Gram matrices weighted by the two curvatures, packed; None is zero.
    most : ndarray of shape (rows, k)
        The largest g_j / y where y is bent.
    growth, slow : float
        Of R and Q; neither is positive.
    """

    gradient: Array
    bent: Array | None
    firm: Array | None
    most: Array
    growth: float
    slow: float

    def plus(self, other: RowModels) -> RowModels:
        """Together with other samples."""
        return replace(
            self,
            gradient=self.gradient + other.gradient,
            bent=_sum(self.bent, other.bent),
            firm=_sum(self.firm, other.firm),
            most=np.maximum(self.most, other.most),
        )

    def improved(self, F: Array, system: RowSystem, n_held: int) -> Array:
        """Better rows, given the quadratics beside the models; the first entries may be held."""
        from ..kernels.added_models import model_lengths
        from ..kernels.own_grams import descend_own, unpack

        (n, k), dtype = F.shape, F.dtype
        curvatures = _sum(self.bent, self.firm)
        assert curvatures is not None  # something is always curved
        grams, common = np.empty((n, k, k), dtype), np.broadcast_to(system.weight, n)[:, None, None] * system.B
        D, push = (np.ascontiguousarray(np.broadcast_to(part, F.shape)) for part in (system.D, system.push))
        with np.errstate(over="ignore", invalid="ignore"):
            unpack(dtype.type(0.5) * curvatures, grams)
            pull = push - dtype.type(0.5) * self.gradient + _dots(grams, F)
            grams += common
            new, zero = np.array(F, order="C"), np.zeros((1, k), dtype)
            links = (*NO_LINKS, np.zeros(0, dtype), np.zeros(0, np.intp), np.zeros((0, 0), dtype), 0.0)
            given = (zero, D, zero[0], *links, 0, MODEL_PASSES, MODEL_TOLERANCE, n_held)
            descend_own(grams, pull, *given, new, np.empty(0))
        # A row whose system is too large for its type stays where it is.
        lost = ~np.isfinite(new).all(axis=1)
        new[lost] = F[lost]
        d = new - F
        penalties = D * F - push + _dots(common, F)
        promised = -np.einsum("ij,ij->i", self.gradient + 2 * penalties, d, dtype=np.float64)
        kept = np.einsum("ij,ij->i", D * d + _dots(common, d), d, dtype=np.float64)
        none, lengths = np.empty((0, 0), dtype), np.empty(n)
        bent, firm = (none if part is None else part for part in (self.bent, self.firm))
        model_lengths(bent, firm, self.most, F, d, promised, kept, self.growth, self.slow, lengths)
        return np.where(lengths[:, None] < 1, np.maximum(F + lengths[:, None].astype(dtype) * d, 0), new)


def models_of(term: BoundTerm, state: State, rows: slice, scratch: Scratch) -> RowModels:
    """The models of some components, for a term whose models add up."""
    if term.offers_row_squares:
        return _of_squares(term, state, rows)
    if term.offers_entrywise and (term.fits_in_blocks or not term.offers_logarithms):
        return _of_entries(term.entrywise(), state, rows, scratch)
    return _of_logarithms(term, state, rows)


def _of_squares(term: BoundTerm, state: State, rows: slice) -> RowModels:
    """Of a squared error in which every row has its own Gram matrix: exact."""
    F, k = state.Ht[rows], state.Ht.shape[1]
    gradient, firm = np.empty_like(F), np.empty((len(F), k * (k + 1) // 2), F.dtype)
    lower = np.tril_indices(k)
    for part in term.row_squares().squares.blocks(state, COMPONENTS)(rows):
        own = slice(part.rows.start - rows.start, part.rows.stop - rows.start)
        gradient[own] = 2 * (_dots(part.grams, F[own]) - part.pulls)
        firm[own] = 2 * part.grams[:, *lower]
    return RowModels(gradient, None, firm, np.zeros_like(F), 0.0, 0.0)


def _of_logarithms(term: BoundTerm, state: State, rows: slice) -> RowModels:
    """Of a Poisson likelihood: from its positive counts only."""
    from ..kernels.added_models import log_models

    form, G = term.logarithmic(state, COMPONENTS), np.ascontiguousarray(state.W)
    F, k = np.ascontiguousarray(state.Ht[rows]), state.Ht.shape[1]
    pulls, most, bent = np.empty_like(F), np.empty_like(F), np.empty((len(F), k * (k + 1) // 2), F.dtype)
    for block in form.counts.blocks(COMPONENTS, rows):
        own = slice(block.rows.start - rows.start, block.rows.stop - rows.start)
        log_models(*block.entries[:3], G, form.floor, F[own], pulls[own], bent[own], most[own])
    linear = form.linear if len(form.linear) == 1 else form.linear[rows]
    return RowModels(linear - pulls, bent, None, most, -2.0, 0.0)


def _of_entries(form: Entrywise, state: State, rows: slice, scratch: Scratch) -> RowModels:
    """Of a sum over entries."""
    from ..kernels.added_models import most_of

    F, W, k = state.Ht, np.ascontiguousarray(state.W), state.Ht.shape[1]
    n, dtype = rows.stop - rows.start, F.dtype
    gradient, most = np.empty((n, k), dtype), np.empty((n, k), dtype)
    grams = {name: np.empty((n, k * (k + 1) // 2), dtype) for name in ("bent", "firm")}
    for block in form.tiles.blocks(COMPONENTS, rows, k, wide=True):
        own = np.arange(block.start, block.stop) if isinstance(block, slice) else block
        own, entries = own - rows.start, form.rows(COMPONENTS, block)
        G = W if entries.columns is None else W[entries.columns]
        shape = len(own), G.shape[-2]
        y, slope, bent = (scratch.get(name, shape, dtype) for name in ("y", "slope", "bent"))
        firm = scratch.get("firm", shape if form.slow is not None else (0, 0), dtype)
        respond(np.ascontiguousarray(F[block]), G, y)
        np.maximum(y, dtype.type(form.floor), out=y)
        entries.derive(y, slope, bent, firm)
        gradient[own] = summed(slope, G)
        reach = np.empty((len(own), k), dtype)
        most_of(G if G.ndim == 3 else G[None], bent, y, reach)
        most[own] = reach
        with np.errstate(over="ignore", invalid="ignore"):
            for name, curvatures in (("bent", bent), ("firm", firm)):
                if curvatures.size:
                    curvatures /= y
                    curvatures /= y
                    grams[name][own] = packed_grams(curvatures, G, scratch)
    firm_grams = None if form.slow is None else grams["firm"]
    bent_grams = grams["bent"] if grams["bent"].any() else None
    return RowModels(gradient, bent_grams, firm_grams, most, form.growth, form.slow or 0.0)


def _dots(grams: Array, F: Array) -> Array:
    """Q_i f_i of every row."""
    return np.asarray(np.matmul(grams, F[:, :, None])[:, :, 0])


def _sum(a: Array | None, b: Array | None) -> Array | None:
    return b if a is None else a if b is None else a + b

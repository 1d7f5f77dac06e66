"""The approximate search: candidates from cells, ranked exactly, with as many as a test on some samples demands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.storage import as_operand
from ..core.threads import Workers
from ..core.types import Array, IntArray
from .cells import COMPARED_ROWS, SEED, Cells, build_cells, nearest_centres
from .pairs import held_rows, over_pairs, products
from .samples import blocks_of
from .searches import Lists, Query, scaled

# What the search is to find of the nearest samples; half of the others may be missed by cells, half by projections.
TARGET = 0.993
# Samples on which the search is tuned, and as many on which its recall is measured.
TEST_ROWS = 256
# Cells to look into, as a share of all, and candidates to compare in full: with more the exact search is as fast.
MOST_CELLS, MOST_CANDIDATES = 0.5, 512
# At most this many candidates are ranked at a time, if the data are in memory.
RANKED = 2**22


@dataclass(frozen=True)
class Plan:
    """How to search.

    Attributes
    ----------
    cells : Cells
    n_probes : int
        Cells that every sample looks into.
    size : int
        Candidates of each sample that are compared in full.
    reached : bool
        Whether these suffice for the recall that the search aims at.
    tested : ndarray of int
        Samples that were searched exactly and not used for tuning.
    limits : ndarray
        Scores of the farthest of their nearest samples.
    """

    cells: Cells
    n_probes: int
    size: int
    reached: bool
    tested: IntArray
    limits: Array


def make_plan(query: Query) -> Plan:
    """Divide the training samples into cells and find out how many of them to look into.

    Parameters
    ----------
    query : Query
        The training samples' own neighbours.
    """
    rng = np.random.RandomState(SEED)
    X, alive = query.X_train, np.flatnonzero(np.isfinite(query.half))
    with X.at_work():
        cells = build_cells(X, query.train_scales, alive, query.unit, max(1, int(len(alive) ** 0.5)), rng)
    chosen = alive[rng.permutation(len(alive))[: 2 * TEST_ROWS]]
    truth, scores = _exact_sample(query, chosen)
    tuning, tested = chosen[::2], chosen[1::2]
    n_probes, size, reached = _tune(cells, tuning, truth[::2])
    return Plan(cells, n_probes, size, reached, tested, scores[1::2, -1])


def search_cells(query: Query, plan: Plan) -> IntArray:
    """Approximate, for many samples: those of the nearest cells, ranked by projections and then exactly."""
    found = np.full((query.X.shape[0], query.p), -1, np.intp)
    workers, cells = Workers(), plan.cells
    with workers.open():
        for rows, A in held_rows(query.X):
            points = cells.points[rows] if query.within else cells.project(as_operand(A), query.scales[rows])
            # Samples of one cell look into the same cells, so they are searched together.
            order = np.argsort(nearest_centres(points, cells.centres, np.arange(len(points))), kind="stable")
            # If rows are read from where they are stored, they are read once for all that are held.
            step = max(COMPARED_ROWS, RANKED // plan.size) if query.X_train.in_memory else len(order)
            for part in blocks_of(len(order), step):
                own, samples = order[part], rows.start + order[part]
                found[samples] = _search(query, plan, A, points, own, samples, workers)
    found[query.norms == 0] = -1
    return found


def _search(
    query: Query, plan: Plan, A: Any, points: Array, own: IntArray, samples: IntArray, workers: Workers
) -> IntArray:
    """The neighbours of some samples; those whose cells have too few members look into all cells."""
    found = np.full((len(own), query.p), -1, np.intp)
    rest = np.arange(len(own))
    for n_probes in (plan.n_probes, plan.cells.n_cells):
        itself = samples[rest] if query.within else None
        candidates = _candidates(plan, n_probes, points[own[rest]], itself, workers)
        found[rest] = _nearest(query, A, own[rest], samples[rest], candidates, workers)[0]
        rest = np.flatnonzero((found[:, -1] < 0) & (query.norms[samples] > 0))
        if not len(rest):
            break
    return found


def measured_recall(query: Query, plan: Plan, found: IntArray) -> float:
    """The share of the found neighbours that are as near as the true ones, over the tested samples."""
    A, own = query.X.take(plan.tested).array, np.arange(len(plan.tested))
    scores = _nearest(query, A, own, plan.tested, found[plan.tested], Workers())[1]
    return float((scores <= plan.limits[:, None]).mean()) if len(own) else 1.0


def _exact_sample(query: Query, samples: IntArray) -> tuple[IntArray, Array]:
    """The p nearest of some training samples and their scores, from one pass over all."""
    from ..kernels.neighbors import offer_columns

    A = query.X_train.take(samples).array
    rough = scaled(A.toarray() if sp.issparse(A) else A, query.train_scales[samples], np.float32)
    lists = Lists.empty(len(samples), 2 * query.p + 8, np.float32)
    half = query.half.astype(np.float32)
    for rows, B in query.X_train.row_blocks():
        B = scaled(B, query.train_scales[rows], np.float32)
        block = np.ascontiguousarray((B @ rough.T).T) if sp.issparse(B) else rough @ B.T
        offer_columns(block, half[rows], lists.best, lists.nearest, samples, rows.start, True, False)
    return _nearest(query, A, np.arange(len(samples)), samples, lists.nearest, Workers())


def _tune(cells: Cells, samples: IntArray, truth: IntArray) -> tuple[int, int, bool]:
    """Cells to look into and candidates to compare in full, and whether these are enough for the target."""
    points = cells.points[samples]
    distances, is_link = cells.distances(points), truth >= 0
    of_truth = np.take_along_axis(distances, cells.cell_of(truth), axis=1)
    cell_ranks = np.stack([(distances < column[:, None]).sum(axis=1) for column in of_truth.T], axis=1)
    needed = _enough(cell_ranks[is_link], (1 + TARGET) / 2)
    n_probes = min(needed, max(1, int(MOST_CELLS * cells.n_cells)))
    most = max(MOST_CANDIDATES, 2 * truth.shape[1])
    candidates = cells.candidates(points, n_probes, most, samples)
    places = np.stack([_place(candidates, column) for column in truth.T], axis=1)
    size = _enough(places[is_link], TARGET)
    return n_probes, min(max(size, truth.shape[1]), most), needed <= n_probes and size <= most


def _enough(ranks: IntArray, share: float) -> int:
    """How many places contain this share of the ranks."""
    return 1 + int(np.quantile(ranks, share, method="higher")) if len(ranks) else 1


def _place(candidates: IntArray, wanted: IntArray) -> IntArray:
    """Where a sample is among the candidates of each row; beyond the end if it is not."""
    equal = candidates == wanted[:, None]
    return np.where(equal.any(axis=1), equal.argmax(axis=1), candidates.shape[1])


def _candidates(plan: Plan, n_probes: int, points: Array, own: IntArray | None, workers: Workers) -> IntArray:
    def task(part: slice) -> IntArray:
        return plan.cells.candidates(points[part], n_probes, plan.size, None if own is None else own[part])

    return np.concatenate(workers.map(task, blocks_of(len(points), COMPARED_ROWS)))


def _nearest(
    query: Query, A: Any, own: IntArray, samples: IntArray, candidates: IntArray, workers: Workers
) -> tuple[IntArray, Array]:
    """The p nearest among candidates, by exact scores, and these scores.

    Parameters
    ----------
    query : Query
    A : ndarray or csr_array
        Some rows of query.X.
    own, samples : ndarray of int, shape (n,)
        The rows of A to search for, and which samples they are.
    candidates : ndarray of shape (n, size)
    workers : Workers
    """
    from ..kernels.neighbors import rank_candidates

    is_one = candidates >= 0
    first, second = np.repeat(own, is_one.sum(axis=1)), candidates[is_one]
    values = over_pairs(products, A, query.X_train, first, second, workers)
    scores = np.full(candidates.shape, np.inf)
    scales = np.repeat(query.scales[samples], is_one.sum(axis=1)) * query.train_scales[second]
    scores[is_one] = query.half[second] - values / scales
    best, found = np.full((len(own), query.p), np.inf), np.full((len(own), query.p), -1, np.intp)
    rank_candidates(scores, candidates, best, found)
    return found, best

"""Aggregates of linked samples across the blocks of a cluster, moved as a whole before blocks move by themselves.

Blocks learn of each other once in a step, so that a neighbourhood that spans several of them moves slowly where links
outweigh the data. Some thousand aggregates of linked samples are a small problem of the same form, see
`solvers.multilevel`: blocks add up what it is made of, it is solved here, and every sample moves with its aggregate.
The objective cannot rise.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.linked_pass import LinkedPass
from ..core.spread import Leaf, SpreadRows, arrived
from ..core.spread_parts import joined_rows
from ..core.types import Array, IntArray
from .multilevel import Level, RowQuadratic

# Samples are joined until there are no more aggregates than this.
MOST_AGGREGATES = 2000


class SpreadAggregates:
    """The aggregates of all samples.

    Parameters
    ----------
    off : csr_array of shape (n_samples, n_samples)
        The links: S without its diagonal.
    """

    def __init__(self, off: Any):
        level, owner = Level(off), np.arange(off.shape[0])
        while level.off.shape[0] > MOST_AGGREGATES and level._coarser is not None:
            owner, level = level._aggregates[owner], level._coarser[0]
        self._owner, self._level, self._n = owner, level, level.off.shape[0]
        gather = sp.csr_array((np.ones(len(owner), off.dtype), (owner, np.arange(len(owner)))))
        # Links inside an aggregate belong to its diagonal.
        self._inside = np.asarray((gather @ off @ gather.T).diagonal())

    def moved(self, run: LinkedPass, descent: Any, F: Any) -> SpreadRows:
        """The codes after a step of all aggregates.

        Parameters
        ----------
        run : LinkedPass
        descent : RowStep
            With the quadratic of the codes.
        F : SpreadRows
        """
        rows, cluster = run.parts, run.parts.cluster
        leaf, owners = rows.leaf(F), [self._owner[part] for part in rows.slices]
        steps = [descent.of(part) for part in rows.slices]
        given = (steps, run.products, run.links(F), leaf.futures, owners)
        parts = cluster.each("aggregates", _gathered, *given, item=leaf.item, n_aggregates=self._n)
        pulls, weight, D = cluster.total(cluster.each("sums", _first, parts))
        lowest = cluster.extreme("minimum", cluster.each("lowest", _second, parts))
        system = descent.system
        D = D + np.multiply.outer(self._inside, system.scale)
        A = pulls + weight[:, None] * (lowest @ system.B) + D * lowest + system.scale * (self._level.off @ lowest)
        moved = lowest.copy()
        self._level.cycle(moved, RowQuadratic(A, system.B, weight, D, system.scale))
        futures = cluster.each("moved", _moved, leaf.futures, owners, item=leaf.item, by=moved - lowest)
        return SpreadRows(rows, Leaf(futures, None, leaf.width, leaf.dtype))


def _gathered(
    step: Any, products: list[Any], links: list[Any], F: Any, owner: IntArray, item: int | None, n_aggregates: int
) -> tuple[tuple[Array, Array, Array], Array]:
    """What a block adds to the problem of the aggregates, and the lowest entries of its members."""
    from ..kernels.links import group_minima

    F, system = arrived(F, item), step.system
    weight = np.broadcast_to(system.weight, len(F)).astype(F.dtype)
    pull = system.pull(joined_rows(products)) - weight[:, None] * (F @ system.B) - system.D * F
    D = np.broadcast_to(system.D, F.shape)
    for part, others in links:
        up, down = part.halves(F, others)
        pull = pull - system.scale * (up - down)
        D = D + np.multiply.outer(part.stiffness - part.extra, system.scale)
    gather = sp.csr_array((np.ones(len(F), F.dtype), (owner, np.arange(len(F)))), shape=(n_aggregates, len(F)))
    lowest = np.empty((n_aggregates, F.shape[1]), F.dtype)
    group_minima(owner, np.ascontiguousarray(F), lowest)
    return (gather @ pull, gather @ weight, gather @ D), lowest


def _first(parts: tuple[Any, Any]) -> Any:
    return parts[0]


def _second(parts: tuple[Any, Any]) -> Any:
    return parts[1]


def _moved(F: Any, owner: IntArray, item: int | None, by: Array) -> Array:
    F = arrived(F, item)
    return np.maximum(F + by[owner], 0)

"""Entries of an array that are NaN where they are unknown: one pass over them while they are in the cache."""

from __future__ import annotations

from ..core.types import Array
from .options import compiled


@compiled(nogil=True)
def zero_unknown(x: Array, out: Array) -> None:
    """out = x with zeros for NaN."""
    none = x.dtype.type(0)
    for i in range(x.shape[0]):
        row, known = x[i], out[i]
        for j in range(len(row)):
            value = row[j]
            known[j] = value if value == value else none


@compiled(nogil=True)
def weigh(x: Array, weights: Array, row_weights: Array, v: Array, weighed: Array) -> None:
    """v, the weights with zeros where x is NaN, and v x; empty weights are all one."""
    one, none = x.dtype.type(1), x.dtype.type(0)
    for i in range(x.shape[0]):
        row, own_v, own_weighed = x[i], v[i], weighed[i]
        own = row_weights[i] if len(row_weights) > 0 else one
        if len(weights) > 0:
            given = weights[i]
            for j in range(len(row)):
                value, weight = row[j], own * given[j]
                own_v[j] = weight if value == value else none
                own_weighed[j] = weight * value if value == value else none
        else:
            for j in range(len(row)):
                value = row[j]
                own_v[j] = own if value == value else none
                own_weighed[j] = own * value if value == value else none


@compiled(nogil=True)
def mark_known(x: Array, weights: Array, row_weights: Array, v: Array) -> None:
    """v alone, as `weigh` gives it."""
    one, none = x.dtype.type(1), x.dtype.type(0)
    for i in range(x.shape[0]):
        row, own_v = x[i], v[i]
        own = row_weights[i] if len(row_weights) > 0 else one
        if len(weights) > 0:
            given = weights[i]
            for j in range(len(row)):
                own_v[j] = own * given[j] if row[j] == row[j] else none
        else:
            for j in range(len(row)):
                own_v[j] = own if row[j] == row[j] else none

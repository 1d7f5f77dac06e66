"""Means of groups of samples on workers, beside the samples that are groups of their own; and codes the way back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .spread_rows import ClusterRows
from .types import Array, IntArray


def spread_means(rows: ClusterRows, groups: IntArray, share: Array, n_means: int, chosen: IntArray) -> ClusterRows:
    """Rows of a smaller problem: the means of the first groups as one block, then what is chosen of every block.

    Parameters
    ----------
    rows : ClusterRows
    groups : ndarray of int, shape (n_samples,)
    share : ndarray of shape (n_samples,)
        Of every sample in the mean of its group.
    n_means : int
    chosen : ndarray of int
        Samples that stay as they are, in rising order.
    """
    cluster = rows.cluster
    own = [np.where(groups[part] < n_means, groups[part], -1) for part in rows.slices]
    shares = [share[part].astype(rows.dtype) for part in rows.slices]
    means = cluster.total(cluster.each("means", _means, rows.blocks, own, shares, n_means=n_means))[0]
    kept = [chosen[slice(*np.searchsorted(chosen, [part.start, part.stop]))] - part.start for part in rows.slices]
    some = [(block, places) for block, places in zip(rows.blocks, kept, strict=True) if len(places)]
    blocks = cluster.each("mean_rows", _as_rows, [means], sparse=rows.facts.sparse)
    if some:
        blocks += cluster.each("chosen", _chosen, *zip(*some, strict=True))
    sizes = [n_means, *(len(places) for _, places in some)]
    ends = np.cumsum(sizes)
    other: ClusterRows = object.__new__(ClusterRows)
    other.__dict__.update(vars(rows))
    other.shape, other.blocks = (int(ends[-1]), rows.shape[1]), blocks
    other.slices = [slice(int(end - size), int(end)) for end, size in zip(ends, sizes, strict=True)]
    other._facts = replace(rows.facts, nnz=rows.facts.nnz * other.shape[0] // rows.shape[0])
    return other


def codes_of_members(codes: Any, groups: IntArray, n_means: int, slices: list[slice]) -> Any:
    """The code of every sample as a dask array, given those of the means and of the other samples.

    Parameters
    ----------
    codes : dask.array.Array of shape (n_groups, n_components)
        With the chunks of :func:`spread_means`.
    groups : ndarray of int, shape (n_samples,)
    n_means : int
    slices : list of slice
        The rows of every block of all samples.
    """
    import dask
    import dask.array as da

    shared, alone = codes[:n_means].compute(), iter(codes.to_delayed(optimize_graph=False).ravel()[1:])
    parts = []
    for part in slices:
        own = groups[part]
        rest = next(alone) if (own >= n_means).any() else None
        shape = (part.stop - part.start, codes.shape[1])
        parts.append(da.from_delayed(dask.delayed(_joined)(rest, own, shared), shape, codes.dtype))
    return da.concatenate(parts)


def _means(block: Any, groups: IntArray, share: Array, n_means: int) -> tuple[Array]:
    """The block's share of the means."""
    members = np.flatnonzero(groups >= 0)
    averaging = sp.csr_array((share[members], (groups[members], members)), shape=(n_means, len(groups)))
    means = averaging @ block
    return (means.toarray() if sp.issparse(means) else np.asarray(means),)


def _as_rows(means: Array, sparse: bool) -> Any:
    return sp.csr_array(means) if sparse else np.array(means)


def _chosen(block: Any, places: IntArray) -> Any:
    return block[places]


def _joined(rest: Any, groups: IntArray, shared: Array) -> Array:
    """Codes of the samples of a block."""
    out = np.empty((len(groups), shared.shape[1]), shared.dtype)
    members = groups < len(shared)
    out[members] = shared[groups[members]]
    if rest is not None:
        out[~members] = rest
    return out

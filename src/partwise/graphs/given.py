"""A graph given by the user: what it must be, and whether it is in one piece."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ..core.door import read_links, readable
from ..core.types import IntArray
from ..core.warn import warn
from .distances import INSTEAD
from .samples import link_sources

SYMMETRY_TOLERANCE = 1e-10
PART_OF_THE_SAMPLES = (
    " If X holds only some of the graph's samples, as in a cross-validation or a grid search, give "
    "partwise.graphs.SampleGraph(X, graph) with all of them; it finds their rows."
)


def check_graph(graph: Any, n_samples: int) -> Any:
    """Validate a matrix of edge weights.

    Parameters
    ----------
    graph : {array-like, sparse matrix} of shape (n_samples, n_samples)
        Symmetric (to 1e-10 of its largest entry), finite, non-negative; similarities, larger for samples that
        belong together. The diagonal is dropped: a sample's link to itself has no effect.
    n_samples : int
        Number of samples.

    Returns
    -------
    graph : csr_array of shape (n_samples, n_samples)
        A new array: float64, exactly symmetric, with an empty diagonal, sorted indices and no stored zeros.

    Raises
    ------
    ValueError
        If the graph lacks one of these properties; the message names it.
    """
    graph = readable(graph, "The graph")
    matrix = graph if sp.issparse(graph) else np.asarray(graph)
    if matrix.shape != (n_samples, n_samples):
        whole = matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1] > n_samples
        raise ValueError(
            f"The graph has shape {matrix.shape}; for {n_samples} samples it must be square, of shape "
            f"({n_samples}, {n_samples}), with the edge weight of samples i and j at (i, j)."
            + (PART_OF_THE_SAMPLES if whole else "")
        )
    if matrix.dtype.kind not in "buif":
        raise ValueError(f"The graph has dtype {matrix.dtype}; edge weights must be real numbers.")
    edges = read_links(matrix, "graph").astype(np.float64)
    if not np.isfinite(edges.data).all():
        raise ValueError("The graph holds NaN or infinity; every edge weight must be finite.")
    if (edges.data < 0).any():
        raise ValueError(
            f"The graph holds negative edge weights, down to {edges.data.min():g}; none may be negative. "
            "Give the edge weights themselves, not their Laplacian."
        )
    asymmetry, largest = np.abs((edges - edges.T).data).max(initial=0.0), edges.data.max(initial=0.0)
    if asymmetry > SYMMETRY_TOLERANCE * largest:
        raise ValueError(
            f"The graph is not symmetric: the weights at (i, j) and (j, i) differ by up to {asymmetry:g}. "
            "If they are similarities, give graph.maximum(graph.T), which links two samples if either is linked to the "
            f"other. If they are distances (mode='distance', obsp['distances']), convert them first. {INSTEAD}"
        )
    edges = edges.maximum(edges.T)
    edges.data[link_sources(edges) == edges.indices] = 0.0
    edges.eliminate_zeros()
    return edges


def warn_if_scattered(graph: Any, n_components: int, *, groups: IntArray | None = None) -> None:
    """Warn if the graph falls into more pieces than there are components.

    A strong graph penalty makes the codes constant on every connected piece, and more pieces than components
    cannot all be told apart. Samples without any edge are not counted: the graph says nothing about them.

    Parameters
    ----------
    graph : {array-like, sparse matrix} of shape (n_samples, n_samples)
        Symmetric edge weights.
    n_components : int
        Number of components of the factorisation.
    groups : ndarray of shape (n_samples,), default=None
        Class of each sample, −1 for none, as from :func:`edit_by_labels`; samples of a class count as linked.
    """
    graph = read_links(graph, "graph")
    if groups is not None:
        chains = _chains(groups)
        graph = graph + chains + chains.T
    n_pieces, _ = connected_components(graph, directed=False)
    n_pieces -= np.count_nonzero(np.diff(graph.indptr) == 0)
    if n_pieces > n_components:
        warn(
            f"The graph of the samples falls into {n_pieces} unconnected pieces, and "
            f"n_components={n_components} cannot tell that many apart. Raise n_neighbors, or n_components.",
        )


def _chains(groups: IntArray) -> Any:
    """Link each sample to the next of its class: connected like the clique, without its many edges."""
    order = np.argsort(groups, kind="stable")
    first, second = order[:-1], order[1:]
    linked = (groups[first] == groups[second]) & (groups[first] >= 0)
    ends = first[linked], second[linked]
    return sp.csr_array((np.ones(ends[0].size), ends), shape=(groups.size, groups.size))

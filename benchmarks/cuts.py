"""The eigenvectors of normalised cuts against scikit-learn's."""

from __future__ import annotations

import numpy as np
from sklearn.manifold import spectral_embedding

from partwise.core.indices import narrow
from partwise.graphs import neighbor_graph
from partwise.solvers.cuts import cut_vectors

from .measure import clock
from .table import ratios


def against_scikit_learn(n, m=200, k=20, repeats=3, needed=""):
    """Row: CPU time for the eigenvectors of a graph of clusters that overlap, which has no narrow places."""
    rng = np.random.RandomState(0)
    centres = rng.gamma(1.0, size=(k, m))
    graph = neighbor_graph(0.35 * centres[rng.randint(k, size=n)] + rng.gamma(1.0, size=(n, m)))
    ours, theirs, ends = [], [], []
    for _ in range(repeats):
        begin = clock()
        W = cut_vectors(graph, k)
        middle = clock()
        others = spectral_embedding(narrow(graph, "a peer"), n_components=k, random_state=0, drop_first=False)
        theirs.append(clock() - middle)
        ours.append(middle - begin)
        ends = [_cut(graph, vectors) for vectors in (W, others)]
    data = f"made-up {n} × {m}, {k} clusters that overlap"
    kept = {"data": data, "against": "scikit-learn", "needed": needed, "our_end": ends[0], "their_end": ends[1]}
    return [ratios("eigenvectors of a cut", ours, theirs, **kept, note="end: the sum of the eigenvalues")]


def _cut(graph, vectors):
    """Σ_{i<j} e_ij ‖w_i − w_j‖² over the columns of W, each brought to wᵀ D w = 1."""
    degrees = graph.sum(axis=1)
    energy = degrees @ vectors**2
    return float(len(energy) - (np.einsum("ij,ij->j", vectors, graph @ vectors) / energy).sum())

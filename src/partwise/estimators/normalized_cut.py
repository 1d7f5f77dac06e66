"""Normalised cuts."""

from dataclasses import field
from typing import Literal

from ..core import Array, Term
from ..graphs import warn_if_scattered
from ..solvers import cut_embedding
from ..terms.graph import BoundNeighborGraph
from .graph_parameters import GraphParameters
from .options import Count
from .spectral import BaseSpectralClustering


class NormalizedCut(GraphParameters, BaseSpectralClustering):
    r"""Spectral clustering by normalised cuts of the graph of neighbours (NC).

    Minimises, over matrices W (n × k) with Wᵀ diag(d) W = I and entries of either sign,

        Σ_{i<j} e_ij ‖w_i − w_j‖²,   d = E 1

    (Shi & Malik, "Normalized cuts and image segmentation", PAMI 2000, Eq. 10-11), the relaxation of the cut that leaves
    the clusters most of their own edges. E is the graph of :class:`GraphNMF`, or your own. K-means on the embedding
    gives the clusters. There is no `transform`: the embedding covers only these samples.

    Parameters
    ----------
    n_neighbors : int
        Neighbours of each sample in the graph.
    graph : sparse matrix of shape (n_samples, n_samples), callable or str
        Symmetric non-negative edge weights to use instead, larger for samples that are closer (not distances), or a
        function that computes them from X, or their name in ``obsp`` of an AnnData.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Rows of the eigenvectors, as in scikit-learn's `spectral_embedding`; zero for samples without neighbours, and
        for those in small pieces of a graph of more than k pieces.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from partwise import NormalizedCut
    >>> from partwise.metrics import clustering_accuracy
    >>> X, y = load_digits(return_X_y=True)
    >>> model = NormalizedCut(10, random_state=0).fit(X)
    >>> clustering_accuracy(y, model.labels_) > 0.7
    True
    """

    n_neighbors: Count = 5
    # Classes would link all their samples: as many edges as pairs.
    use_labels: Literal[False] = field(default=False, init=False)

    def _term(self) -> Term:
        return self._neighbor_graph(1.0)

    def _embed(self, term: BoundNeighborGraph) -> Array:
        edges = term.edges
        warn_if_scattered(edges, self.n_components)
        return cut_embedding(edges, self.n_components)

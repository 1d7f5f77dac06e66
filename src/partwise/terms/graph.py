"""Smoothness over a graph of neighbours: strength · Σ_edges e_ij ‖w_i − w_j‖²."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from ..core.annotated import links_of
from ..core.forms import Coupling, Quadratic
from ..core.operand import Operand
from ..core.reading import AbsentRows, StoredRows
from ..core.rows import Cliques, Diagonal, Links, RowMatrix
from ..core.state import State
from ..core.storage import as_operand
from ..core.term import BoundTerm, Term
from ..core.types import CODES, Array, Factor, IntArray
from ..core.units import Powers, no_function
from ..graphs import (
    check_graph,
    choose_search,
    edit_by_labels,
    find_neighbors,
    heat_bandwidth,
    new_sample_links,
    plan_search,
    shared_neighbors,
    warn_if_distances,
    warn_if_scattered,
    weigh_links,
)
from ..graphs.neighbors import Search
from ..graphs.projected import Compared, compared, seen_along
from .gauge import Gauged
from .new_codes import BoundNewCodes
from .penalties import check_strength
from .smoothness import BoundSmoothness

# How new samples are linked: n_neighbors, metric, edge_weights, bandwidth, neighbors_method.
Linking = tuple[int, Any, Any, float | None, Any]

# At least this share of the samples must have a neighbour with which they share enough known features.
LEAST_LINKED = 0.5

ONLY_BINARY = (
    "edge_weights={!r} was given with missing entries: the few features that two samples share suffice to find "
    "neighbours, but not to weight them. Use edge_weights='binary', or give your own graph."
)


ABSENT = (
    "New samples are linked to the training samples, which were not in memory when this model was saved. Give them "
    "again, from wherever they are stored: model.attach(X)."
)
OTHERS = (
    "These are not the samples to which the model was fitted: shape, type, range or some of their rows differ. Give "
    "the data of the fit."
)


@dataclass(frozen=True)
class GraphOrigin:
    """Where a graph comes from.

    Attributes
    ----------
    search : {"products", "index", "cells", "shared", "given", "none"}
        How the neighbours were found, see :class:`partwise.graphs.Neighbors`; by the features known in both samples;
        or not at all.
    recall : float
        The share of neighbours that the search found, 1.0 unless it was approximate.
    """

    search: Search | Literal["shared", "given", "none"]
    recall: float = 1.0


@dataclass(frozen=True, eq=False)
class NeighborGraph(Term):
    """strength · tr(Wᵀ (D − E) W) = strength · Σ_{i<j} e_ij ‖w_i − w_j‖², E the edge weights, D their row sums.

    Parameters
    ----------
    strength : float
    n_neighbors, metric, edge_weights, bandwidth
        Of the nearest-neighbour graph, see :func:`partwise.graphs.neighbor_graph`.
    graph : sparse matrix of shape (n_samples, n_samples), callable or str, optional
        Symmetric non-negative edge weights to use instead, larger for samples that are closer (not distances), or a
        function that computes them from X, or their name in ``obsp`` of an AnnData. New samples are still linked to
        their nearest training samples, as the other parameters say.
    use_labels : bool, default=False
        Link all samples of one class and remove all edges between classes; y = −1 leaves a sample's edges as they are.
    neighbors_method : {"auto", "exact", "approximate"}, default="auto"
        How neighbours are found, see :func:`partwise.graphs.nearest_neighbors`.
    """

    strength_name = "graph_strength"
    ignores_weights = True
    spreads = True
    couples_samples = True

    strength: float
    n_neighbors: int = 5
    metric: Any = "cosine"
    edge_weights: Any = "binary"
    bandwidth: float | None = None
    graph: Any = None
    use_labels: bool = False
    neighbors_method: Any = "auto"

    def seeing(self, given: Any) -> Term:
        """With the graph of that name in annotated data."""
        return replace(self, graph=links_of(given, self.graph)) if isinstance(self.graph, str) else self

    def bind(
        self, X: Operand, y: Array | None = None, rng: Any = None, sample_weight: Array | None = None
    ) -> BoundTerm:
        """Build or check the graph."""
        strength = check_strength("The strength of NeighborGraph", self.strength)
        seen = compared(X)
        origin, edges, bandwidth = self._edges(seen.samples)
        groups = None
        if self.use_labels and y is not None and (y >= 0).any():
            edges, groups = edit_by_labels(edges, y)
        linking = (self.n_neighbors, self.metric, self.edge_weights, bandwidth, self.neighbors_method)
        return BoundNeighborGraph(edges, groups, strength, X, linking, origin, seen)

    @property
    def penalises(self) -> Factor:
        """The codes."""
        return CODES

    def units(self, powers: Powers) -> Mapping[str, float]:
        """It grows with the codes' square; a heat kernel takes squared distances."""
        no_function("graph", self.graph)
        return {"strength": powers.objective - 2 * powers.codes, "bandwidth": 2.0}

    def _edges(self, X: Operand) -> tuple[GraphOrigin, Any, float | None]:
        """Where the graph comes from, its edge weights, and the bandwidth that new samples will need."""
        if self.graph is None and X.missing is not None:
            return GraphOrigin("shared"), self._shared_edges(X), None
        if self.graph is None:
            found = find_neighbors(X, self.n_neighbors, self.metric, self.neighbors_method)
            origin, links = GraphOrigin(found.search, found.recall), found.links.maximum(found.links.T)
        else:
            origin = GraphOrigin("given")
            if callable(self.graph) and not X.in_memory:
                raise ValueError("graph is a function of X, but X is not in memory. Give the graph that it makes.")
            links = check_graph(self.graph(X.array) if callable(self.graph) else self.graph, X.shape[0])
        bandwidth = self.bandwidth
        if self.edge_weights == "heat" and bandwidth is None and X.missing is None:
            bandwidth = heat_bandwidth(X, links)
        if self.graph is None:
            links = weigh_links(links, X, edge_weights=self.edge_weights, bandwidth=bandwidth)
        return origin, links, bandwidth

    def _shared_edges(self, X: Operand) -> Any:
        """Samples are linked if either is among the nearest of the other, by the features known in both."""
        if self.edge_weights != "binary":
            raise ValueError(ONLY_BINARY.format(self.edge_weights))
        if not X.in_memory:
            raise ValueError(
                "Neighbours of samples with missing entries are found in memory only, and X is not there. Give your "
                "own graph, for example one of the codes of NMF with the same `missing`; or read X first, if it fits."
            )
        links = shared_neighbors(X.array, self.n_neighbors, self.metric, missing=X.missing)
        edges = links.maximum(links.T)
        alone = int(np.count_nonzero(np.diff(edges.indptr) == 0))
        if alone > (1 - LEAST_LINKED) * X.shape[0]:
            raise ValueError(
                f"{alone} of {X.shape[0]} samples share too few known features with any other to have neighbours. Give "
                "your own graph, for example one of the codes of NMF with the same `missing`."
            )
        return edges


class BoundNeighborGraph(BoundSmoothness):
    """The graph's Laplacian, and the cliques of the classes if labels are used.

    Attributes
    ----------
    edges : csr_array
        Edge weights, without those of the cliques.
    origin : GraphOrigin
    """

    from_residuals = True

    def __init__(
        self,
        edges: Any,
        groups: IntArray | None,
        strength: float,
        X: Operand,
        linking: Linking,
        origin: GraphOrigin,
        seen: Compared,
    ):
        matrices: list[RowMatrix] = [] if groups is None else [Cliques(groups, strength, X.dtype)]
        matrices.append(Links.laplacian(edges, strength, X.dtype))
        super().__init__("graph", [X.placed_matrix(S) for S in matrices])
        self._seen = seen
        self.edges = edges
        self._groups = groups
        self._strength = strength
        self._X = X
        self._linking = linking
        self.origin = origin

    def with_strength(self, strength: float) -> BoundNeighborGraph:
        """The same graph."""
        return BoundNeighborGraph(self.edges, self._groups, strength, self._X, self._linking, self.origin, self._seen)

    def joined(self, groups: IntArray, n_groups: int) -> Term | None:
        """Edges between two groups add up; those inside one cost nothing."""
        if self._groups is not None:
            return None
        n = len(groups)
        members = sp.csr_array((np.ones(n, self.edges.dtype), (groups, np.arange(n))), shape=(n_groups, n))
        edges = sp.coo_array(members @ self.edges @ members.T)
        between = edges.row != edges.col
        ends = edges.row[between], edges.col[between]
        return NeighborGraph(self._strength, graph=sp.csr_array((edges.data[between], ends), shape=edges.shape))

    def consider(self, n_components: int) -> None:
        """Warn if the graph falls into more pieces than there are components, or if a given one holds distances."""
        if self.origin.search == "given" and self._X.missing is None and self._X.in_memory:
            warn_if_distances(self.edges, self._X.array)
        warn_if_scattered(self.edges, n_components, groups=self._groups)

    def for_new(self, state: State) -> Term:
        """New samples are pulled towards the codes of their nearest training samples."""
        linking, method = self._linking[:4], self._linking[-1]
        if self._X.spread:
            samples, basis = self._seen
            codes = np.asarray(state.W)
            return LinkedCodes(self._strength, *linking, samples.array, codes, samples.missing, method, basis)
        if not self._X.in_memory:
            return LinkedCodes(self._strength, *linking, self._X.stored, state.W, None, method)
        kept = self._X.kept
        return LinkedCodes(self._strength, *linking, kept.array, state.W, kept.missing, method)


def graph_origin(terms: Iterable[BoundTerm]) -> GraphOrigin:
    """Where the graph or the neighbours among the terms come from, gauged or not."""
    penalties = (term.penalty if isinstance(term, Gauged) else term for term in terms)
    origins = (getattr(term, "origin", None) for term in penalties)
    return next((origin for origin in origins if origin is not None), GraphOrigin("none"))


@dataclass(frozen=True, eq=False)
class LinkedCodes(Term):
    """strength · Σ_i Σ_t e_it ‖w_i − w_t‖² for new samples i and the training samples t, whose codes w_t are fixed.

    Parameters
    ----------
    strength : float
    n_neighbors, metric, edge_weights, bandwidth
        Of the links from new to training samples, see :func:`partwise.graphs.new_sample_links`.
    samples : array or sparse matrix of shape (n_samples, n_features), StoredRows or AbsentRows
        The training samples; those that are not in memory are read when new ones are linked to them.
    codes : ndarray of shape (n_samples, n_components)
        Their codes.
    missing : {None, "nan", "unstored"}, default=None
        Which of their entries are unknown.
    neighbors_method : {"auto", "exact", "approximate"}, default="auto"
        How neighbours are found, see :func:`partwise.graphs.nearest_neighbors`.
    basis : ndarray of shape (n_features, d), optional
        What the training samples were multiplied by, if these are projections.
    """

    strength: float
    n_neighbors: int
    metric: Any
    edge_weights: Any
    bandwidth: float | None
    samples: Any
    codes: Array
    missing: Any = None
    neighbors_method: Any = "auto"
    basis: Any = None

    def bind(
        self, X: Operand, y: Array | None = None, rng: Any = None, sample_weight: Array | None = None
    ) -> BoundTerm:
        """Link the new samples: Σ_i d_i ‖w_i‖² − 2⟨w_i, Σ_t e_it w_t⟩ + Σ_it e_it ‖w_t‖²."""
        links = self.strength * self._links(X)
        codes = self.codes.astype(X.dtype, copy=False)
        degrees = np.asarray(links.sum(axis=1)).ravel().astype(codes.dtype)
        pull = Coupling(np.ones(codes.shape[1], codes.dtype), Diagonal(degrees))
        form = Quadratic(attract=np.asarray(links @ codes, codes.dtype), couplings=(pull,))
        squares = np.einsum("ij,ij->i", codes, codes, dtype=np.float64)
        return BoundNewCodes(self, "graph", lambda state: form, float(links.sum(axis=0) @ squares))

    def attached(self, samples: StoredRows) -> LinkedCodes | None:
        """With the training samples, if these are they; a source that was closed can be replaced too."""
        if not isinstance(self.samples, AbsentRows | StoredRows):
            return None
        absent = self.samples if isinstance(self.samples, AbsentRows) else self.samples.for_saving()
        if not absent.are(samples):
            raise ValueError(OTHERS)
        return replace(self, samples=samples)

    def __getstate__(self) -> dict[str, Any]:
        # Samples that are not in memory do not come along because a few were read.
        return {name: value for name, value in vars(self).items() if name != "_searched"}

    @cached_property
    def _searched(self) -> Any:
        """The training samples as neighbours are looked for among them: in memory, if these are few."""
        if isinstance(self.samples, AbsentRows):
            raise ValueError(ABSENT)
        if not isinstance(self.samples, StoredRows):
            return self.samples
        stored = as_operand(self.samples)
        in_cells = choose_search(stored, self.neighbors_method) == "cells"
        return stored if in_cells else stored.take(np.arange(stored.shape[0])).array

    @cached_property
    def _plan(self) -> Any:
        """What an approximate search among the training samples needs to know, found out once."""
        return plan_search(self._searched, self.n_neighbors, self.metric, self.neighbors_method)

    def _links(self, X: Operand) -> Any:
        """Edge weights from new to training samples; by the features known in both, where some are missing."""
        if X.missing is None and self.missing is None:
            linking = (self.n_neighbors, self.metric, self.edge_weights, self.bandwidth)
            return new_sample_links(
                seen_along(X, self.basis).array, self._searched, *linking, method="exact", plan=self._plan
            )
        if self.edge_weights != "binary":
            raise ValueError(ONLY_BINARY.format(self.edge_weights))
        known = {"missing": X.missing, "X_train": self.samples, "missing_train": self.missing}
        return shared_neighbors(X.array, self.n_neighbors, self.metric, **known)

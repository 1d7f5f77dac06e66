"""Graphs over the samples: neighbours, edge weights, local predictors, a user's own graph, edits by labels.

Plain functions on arrays: data goes in, a sparse matrix of edge weights comes out. Nothing here knows about
terms or solvers.
"""

from .distances import warn_if_distances
from .given import check_graph, warn_if_scattered
from .labels import check_labels, edit_by_labels
from .neighbors import Neighbors, choose_search, find_neighbors, nearest_neighbors, plan_search
from .parts import SampleGraph
from .predictors import local_predictors, rbf_bandwidth
from .shared import shared_neighbors
from .weights import heat_bandwidth, neighbor_graph, new_sample_links, weigh_links

__all__ = [
    "Neighbors",
    "SampleGraph",
    "check_graph",
    "check_labels",
    "choose_search",
    "edit_by_labels",
    "find_neighbors",
    "heat_bandwidth",
    "local_predictors",
    "nearest_neighbors",
    "neighbor_graph",
    "new_sample_links",
    "plan_search",
    "rbf_bandwidth",
    "shared_neighbors",
    "warn_if_distances",
    "warn_if_scattered",
    "weigh_links",
]

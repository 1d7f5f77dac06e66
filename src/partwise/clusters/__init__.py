"""Clusters of samples: k-means, and the rules by which clusters are read off codes."""

from .assignment import KMEANS_STARTS, Assignment, Rule
from .kmeans import cluster

__all__ = ["KMEANS_STARTS", "Assignment", "Rule", "cluster"]

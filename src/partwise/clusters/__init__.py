"""Clusters of samples: k-means, and the rules that turn codes into clusters."""

from .assignment import KMEANS_STARTS, Assignment, Rule
from .kmeans import cluster

__all__ = ["KMEANS_STARTS", "Assignment", "Rule", "cluster"]

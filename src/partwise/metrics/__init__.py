"""How good a clustering is, and how sparse a factor."""

from .clustering import clustering_accuracy, matched_counts, normalized_mutual_information, purity
from .distinct import distinct_components
from .sparsity import sparseness

__all__ = [
    "clustering_accuracy",
    "distinct_components",
    "matched_counts",
    "normalized_mutual_information",
    "purity",
    "sparseness",
]

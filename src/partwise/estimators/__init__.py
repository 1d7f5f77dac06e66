"""The estimators people import: each a short recipe of terms."""

from .constrained_nmf import ConstrainedNMF
from .factorization import Factorization
from .graph_nmf import GraphNMF
from .local_coordinate_nmf import LocalCoordinateNMF
from .local_learning_clustering import LocalLearningClustering
from .local_learning_nmf import LocalLearningNMF
from .local_similarity_nmf import LocalSimilarityNMF
from .nmf import NMF

__all__ = [
    "NMF",
    "ConstrainedNMF",
    "Factorization",
    "GraphNMF",
    "LocalCoordinateNMF",
    "LocalLearningClustering",
    "LocalLearningNMF",
    "LocalSimilarityNMF",
]

"""The estimators people import: each a short recipe of terms."""

from .concept_factorization import ConceptFactorization
from .constrained_nmf import ConstrainedNMF
from .convex_nmf import ConvexNMF
from .factorization import Factorization
from .graph_nmf import GraphNMF
from .kernel_graph_nmf import KernelGraphNMF
from .local_coordinate_nmf import LocalCoordinateNMF
from .local_learning_clustering import LocalLearningClustering
from .local_learning_nmf import LocalLearningNMF
from .local_similarity_nmf import LocalSimilarityNMF
from .nmf import NMF
from .orthogonal_nmf import OrthogonalNMF
from .orthogonal_tri_nmf import OrthogonalTriNMF
from .semi_nmf import SemiNMF

__all__ = [
    "NMF",
    "ConceptFactorization",
    "ConstrainedNMF",
    "ConvexNMF",
    "Factorization",
    "GraphNMF",
    "KernelGraphNMF",
    "LocalCoordinateNMF",
    "LocalLearningClustering",
    "LocalLearningNMF",
    "LocalSimilarityNMF",
    "OrthogonalNMF",
    "OrthogonalTriNMF",
    "SemiNMF",
]

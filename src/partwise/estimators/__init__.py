"""The estimators people import: each a short recipe of terms."""

from .cauchy_nmf import CauchyNMF
from .concept_factorization import ConceptFactorization
from .constrained_nmf import ConstrainedNMF
from .convex_nmf import ConvexNMF
from .factorization import Factorization
from .graph_nmf import GraphNMF
from .kernel_graph_nmf import KernelGraphNMF
from .latent_semantic_kmeans import LatentSemanticKMeans
from .local_coordinate_nmf import LocalCoordinateNMF
from .local_learning_clustering import LocalLearningClustering
from .local_learning_nmf import LocalLearningNMF
from .local_nmf import LocalNMF
from .local_similarity_nmf import LocalSimilarityNMF
from .nmf import NMF
from .normalized_cut import NormalizedCut
from .orthogonal_nmf import OrthogonalNMF
from .orthogonal_tri_nmf import OrthogonalTriNMF
from .semi_nmf import SemiNMF
from .sparseness_nmf import SparsenessNMF
from .tensor_nmf import TensorNMF
from .weighted_nmf import WeightedNMF

__all__ = [
    "NMF",
    "CauchyNMF",
    "ConceptFactorization",
    "ConstrainedNMF",
    "ConvexNMF",
    "Factorization",
    "GraphNMF",
    "KernelGraphNMF",
    "LatentSemanticKMeans",
    "LocalCoordinateNMF",
    "LocalLearningClustering",
    "LocalLearningNMF",
    "LocalNMF",
    "LocalSimilarityNMF",
    "NormalizedCut",
    "OrthogonalNMF",
    "OrthogonalTriNMF",
    "SemiNMF",
    "SparsenessNMF",
    "TensorNMF",
    "WeightedNMF",
]

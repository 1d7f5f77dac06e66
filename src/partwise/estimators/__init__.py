"""The estimators that users import: each a short recipe of terms."""

from typing import TYPE_CHECKING

from ..lazy import importer

if TYPE_CHECKING:
    from .cauchy_nmf import CauchyNMF as CauchyNMF
    from .concept_factorization import ConceptFactorization as ConceptFactorization
    from .constrained_nmf import ConstrainedNMF as ConstrainedNMF
    from .convex_nmf import ConvexNMF as ConvexNMF
    from .factorization import Factorization as Factorization
    from .graph_nmf import GraphNMF as GraphNMF
    from .group_nmf import GroupNMF as GroupNMF
    from .kernel_graph_nmf import KernelGraphNMF as KernelGraphNMF
    from .latent_semantic_kmeans import LatentSemanticKMeans as LatentSemanticKMeans
    from .local_coordinate_nmf import LocalCoordinateNMF as LocalCoordinateNMF
    from .local_learning_clustering import LocalLearningClustering as LocalLearningClustering
    from .local_learning_nmf import LocalLearningNMF as LocalLearningNMF
    from .local_nmf import LocalNMF as LocalNMF
    from .local_similarity_nmf import LocalSimilarityNMF as LocalSimilarityNMF
    from .nmf import NMF as NMF
    from .normalized_cut import NormalizedCut as NormalizedCut
    from .orthogonal_nmf import OrthogonalNMF as OrthogonalNMF
    from .orthogonal_tri_nmf import OrthogonalTriNMF as OrthogonalTriNMF
    from .semi_nmf import SemiNMF as SemiNMF
    from .sparseness_nmf import SparsenessNMF as SparsenessNMF
    from .tensor_nmf import TensorNMF as TensorNMF
    from .weighted_nmf import WeightedNMF as WeightedNMF

__all__ = [
    "NMF",
    "CauchyNMF",
    "ConceptFactorization",
    "ConstrainedNMF",
    "ConvexNMF",
    "Factorization",
    "GraphNMF",
    "GroupNMF",
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

HOMES = {
    "NMF": "nmf",
    "CauchyNMF": "cauchy_nmf",
    "ConceptFactorization": "concept_factorization",
    "ConstrainedNMF": "constrained_nmf",
    "ConvexNMF": "convex_nmf",
    "Factorization": "factorization",
    "GraphNMF": "graph_nmf",
    "GroupNMF": "group_nmf",
    "KernelGraphNMF": "kernel_graph_nmf",
    "LatentSemanticKMeans": "latent_semantic_kmeans",
    "LocalCoordinateNMF": "local_coordinate_nmf",
    "LocalLearningClustering": "local_learning_clustering",
    "LocalLearningNMF": "local_learning_nmf",
    "LocalNMF": "local_nmf",
    "LocalSimilarityNMF": "local_similarity_nmf",
    "NormalizedCut": "normalized_cut",
    "OrthogonalNMF": "orthogonal_nmf",
    "OrthogonalTriNMF": "orthogonal_tri_nmf",
    "SemiNMF": "semi_nmf",
    "SparsenessNMF": "sparseness_nmf",
    "TensorNMF": "tensor_nmf",
    "WeightedNMF": "weighted_nmf",
}

if not TYPE_CHECKING:  # a type checker would take any name for one of the package
    __getattr__ = importer(__name__, HOMES)

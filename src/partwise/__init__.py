"""Parts-based representations: non-negative matrix factorisation that respects what is known about the samples.

Every estimator factors non-negative data X ≈ W H (samples × features ≈ codes × components) and is a scikit-learn
transformer and clusterer. Objectives are sums of small terms (`partwise.terms`), minimised by shared solvers.
"""

from .estimators import (
    NMF,
    CauchyNMF,
    ConceptFactorization,
    ConstrainedNMF,
    ConvexNMF,
    Factorization,
    GraphNMF,
    KernelGraphNMF,
    LatentSemanticKMeans,
    LocalCoordinateNMF,
    LocalLearningClustering,
    LocalLearningNMF,
    LocalNMF,
    LocalSimilarityNMF,
    NormalizedCut,
    OrthogonalNMF,
    OrthogonalTriNMF,
    SemiNMF,
    SparsenessNMF,
    TensorNMF,
    WeightedNMF,
)
from .persistence import load

__version__ = "0.1.0"

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
    "__version__",
    "load",
]

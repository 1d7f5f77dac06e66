"""Parts-based representations: non-negative matrix factorisation that respects what is known about the samples.

Every estimator factors non-negative data X ≈ W H (samples × features ≈ codes × components) and is a scikit-learn
transformer and clusterer. Objectives are sums of small terms (`partwise.terms`), minimised by shared solvers.
"""

from typing import TYPE_CHECKING

from . import estimators
from .lazy import importer

# Names are imported when they are first asked for. Type checkers need each of them in full.
if TYPE_CHECKING:
    from . import blocks as blocks
    from . import callbacks as callbacks
    from . import datasets as datasets
    from . import domains as domains
    from . import exceptions as exceptions
    from . import experiments as experiments
    from . import graphs as graphs
    from . import metrics as metrics
    from . import plots as plots
    from . import report as report
    from . import selection as selection
    from . import terms as terms
    from . import testing as testing
    from .annotated import from_anndata as from_anndata
    from .annotated import to_anndata as to_anndata
    from .estimators import NMF as NMF
    from .estimators import CauchyNMF as CauchyNMF
    from .estimators import ConceptFactorization as ConceptFactorization
    from .estimators import ConstrainedNMF as ConstrainedNMF
    from .estimators import ConvexNMF as ConvexNMF
    from .estimators import Factorization as Factorization
    from .estimators import GraphNMF as GraphNMF
    from .estimators import GroupNMF as GroupNMF
    from .estimators import KernelGraphNMF as KernelGraphNMF
    from .estimators import LatentSemanticKMeans as LatentSemanticKMeans
    from .estimators import LocalCoordinateNMF as LocalCoordinateNMF
    from .estimators import LocalLearningClustering as LocalLearningClustering
    from .estimators import LocalLearningNMF as LocalLearningNMF
    from .estimators import LocalNMF as LocalNMF
    from .estimators import LocalSimilarityNMF as LocalSimilarityNMF
    from .estimators import NormalizedCut as NormalizedCut
    from .estimators import OrthogonalNMF as OrthogonalNMF
    from .estimators import OrthogonalTriNMF as OrthogonalTriNMF
    from .estimators import SemiNMF as SemiNMF
    from .estimators import SparsenessNMF as SparsenessNMF
    from .estimators import TensorNMF as TensorNMF
    from .estimators import WeightedNMF as WeightedNMF
    from .experiments import methods as methods
    from .persistence import load as load

__version__ = "0.1.0"

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
    "__version__",
    "from_anndata",
    "load",
    "to_anndata",
]

_ROOMS = (
    "blocks",
    "callbacks",
    "datasets",
    "domains",
    "exceptions",
    "experiments",
    "graphs",
    "metrics",
    "plots",
    "report",
    "selection",
    "terms",
    "testing",
)

if not TYPE_CHECKING:  # a type checker would take any name for one of the package
    __getattr__ = importer(
        __name__,
        {
            **dict.fromkeys(estimators.__all__, "estimators"),
            "from_anndata": "annotated",
            "load": "persistence",
            "to_anndata": "annotated",
            **{room: room for room in _ROOMS},
            "methods": "experiments.methods",
        },
    )


def __dir__() -> list[str]:
    return [*__all__, *_ROOMS, "methods"]

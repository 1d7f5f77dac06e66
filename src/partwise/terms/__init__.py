"""Losses and penalties: the summands of an objective. They know no solver.

Combine them freely in :class:`partwise.Factorization`; write your own by deriving from :class:`Term` and
:class:`BoundTerm`, and check it with :func:`partwise.testing.check_term`.
"""

from ..core.forms import Coupling, Quadratic, Split
from ..core.term import BoundPenalty, BoundTerm, Term, Uncodable
from .divergence import BetaDivergence
from .dual import DualFit, LocalSimilarity, RobustDualFit
from .frobenius import Frobenius
from .gauge import Gauged
from .graph import NeighborGraph
from .local_coordinates import LocalCoordinates
from .local_learning import LocalLearning
from .localness import Localness
from .orthogonality import Orthogonality
from .overdispersed import NegativeBinomial
from .penalties import L1, L2
from .robust import Huber, TruncatedCauchy
from .seeds import Seeds
from .smoothness import Smoothness

__all__ = [
    "L1",
    "L2",
    "BetaDivergence",
    "BoundPenalty",
    "BoundTerm",
    "Coupling",
    "DualFit",
    "Frobenius",
    "Gauged",
    "Huber",
    "LocalCoordinates",
    "LocalLearning",
    "LocalSimilarity",
    "Localness",
    "NegativeBinomial",
    "NeighborGraph",
    "Orthogonality",
    "Quadratic",
    "RobustDualFit",
    "Seeds",
    "Smoothness",
    "Split",
    "Term",
    "TruncatedCauchy",
    "Uncodable",
]

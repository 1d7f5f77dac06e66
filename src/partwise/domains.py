"""What a factor may be, for :class:`partwise.Factorization`: non-negative, free, on the simplex, fixed, and so on.

>>> from partwise import Factorization
>>> from partwise.domains import Sparse
>>> from partwise.terms import Frobenius, NeighborGraph
>>> sparse_parts = Factorization(10, terms=[Frobenius(), NeighborGraph(1.0)], components=Sparse(0.7))
"""

from .core.domains import Domain, Free, NonNegative, OneEntry, RankOne, Simplex, Sparse, UnitNorm
from .core.fixed import Fixed
from .core.markers import marker_mask

__all__ = [
    "Domain",
    "Fixed",
    "Free",
    "NonNegative",
    "OneEntry",
    "RankOne",
    "Simplex",
    "Sparse",
    "UnitNorm",
    "marker_mask",
]

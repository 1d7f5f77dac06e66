"""The estimators people import: each a short recipe of terms."""

from .constrained_nmf import ConstrainedNMF
from .factorization import Factorization
from .graph_nmf import GraphNMF
from .nmf import NMF

__all__ = ["NMF", "ConstrainedNMF", "Factorization", "GraphNMF"]

"""Semi-NMF with a graph, as a sum of terms over a domain."""

from partwise import Factorization
from partwise.terms import Frobenius, NeighborGraph

model = Factorization(10, terms=[Frobenius(), NeighborGraph(10.0)], components="free")

"""NLCF with a graph that labels edit, as a sum of terms."""

from partwise import Factorization
from partwise.terms import Frobenius, LocalCoordinates, NeighborGraph

model = Factorization(10, terms=[Frobenius(), LocalCoordinates(0.1), NeighborGraph(10.0, use_labels=True)])

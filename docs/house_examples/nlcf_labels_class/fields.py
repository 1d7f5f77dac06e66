"""NLCF with a graph that labels edit, as a class with declared parameters."""

from partwise.estimators.graph_parameters import GraphOnCodes
from partwise.estimators.labelled import LabelledFactorization
from partwise.estimators.options import NonNegative
from partwise.terms import Frobenius, LocalCoordinates


class LabelledCoordinates(GraphOnCodes, LabelledFactorization):
    """Components close to the samples that use them, and classes that have codes of their own."""

    coordinate_strength: NonNegative = 0.1
    graph_strength: NonNegative = 10.0
    use_labels: bool = True

    def _terms(self):
        return [Frobenius(), LocalCoordinates(self.coordinate_strength), *self._graph_terms()]


model = LabelledCoordinates(10)

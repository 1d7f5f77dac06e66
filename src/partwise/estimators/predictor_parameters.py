"""The local predictors as parameters, and the term built from them."""

from typing import cast

from ..terms.local_learning import LocalLearning
from .options import LocalKernel, Metric, NeighborsOrAuto, Positive
from .parameters import Parametrised


class PredictorParameters(Parametrised):
    """How a sample is predicted from its neighbours: kernel ridge regressions (Gu & Zhou 2009, Eq. 4-9).

    Parameters
    ----------
    n_neighbors : int, "auto" or sequence of int
        Size of a neighbourhood, p; "auto" chooses among 3, 5, 10 and 20. Up to about 20 the matrix L is formed and
        swept; for much larger neighbourhoods it is only applied, which requires the multiplicative solver.
    kernel : {"cosine", "rbf", "linear"} or callable
        ⟨x, y⟩ / (‖x‖ ‖y‖), exp(−‖x − y‖² / bandwidth), ⟨x, y⟩, or a function of two arrays of samples that gives the
        matrix of kernel values.
    bandwidth : float
        Of the rbf kernel; by default 16 times the mean squared distance of neighbours.
    ridge : float
        λ > 0 of the regressions, Eq. 4, relative to a kernel that is 1 on its diagonal ("cosine", "rbf"). Values well
        above 0.1 make predictions, and with them the codes, shrink towards zero.
    metric : {"cosine", "euclidean"}
        Distance that defines neighbours.
    """

    n_neighbors: NeighborsOrAuto = 10
    kernel: LocalKernel = "cosine"
    bandwidth: Positive | None = None
    ridge: Positive = 0.01
    metric: Metric = "cosine"

    def _local_learning(self, strength: float) -> LocalLearning:
        n_neighbors = cast(int, self.n_neighbors)
        return LocalLearning(strength, n_neighbors, self.kernel, self.bandwidth, self.ridge, self.metric)

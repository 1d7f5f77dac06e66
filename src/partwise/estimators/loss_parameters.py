"""The fit of methods with a penalty."""

from .options import PenalisedLoss
from .parameters import Parametrised


class LossBesidePenalty(Parametrised):
    """The squared error or the Kullback-Leibler divergence, to which solvers can add quadratic penalties.

    Parameters
    ----------
    loss : {"frobenius", "kullback-leibler"}
        D.
    """

    loss: PenalisedLoss = "frobenius"

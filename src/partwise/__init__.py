"""Parts-based representations: non-negative matrix factorisation that respects what is known about the samples.

Every estimator factors non-negative data X ≈ W H (samples × features ≈ codes × components) and is a scikit-learn
transformer and clusterer. Objectives are sums of small terms (`partwise.terms`), minimised by shared solvers.
"""

from typing import TYPE_CHECKING

from . import estimators
from .lazy import importer

if TYPE_CHECKING:
    from .estimators import *  # noqa: F403  (the list has one home)
    from .persistence import load as load

__version__ = "0.1.0"

_ROOMS = ("callbacks", "datasets", "experiments", "graphs", "methods", "metrics", "selection", "terms", "testing")

__all__ = [*estimators.__all__, "__version__", "load"]

__getattr__ = importer(
    __name__,
    {**dict.fromkeys(estimators.__all__, "estimators"), "load": "persistence", **{room: room for room in _ROOMS}},
)


def __dir__() -> list[str]:
    return [*__all__, *_ROOMS]

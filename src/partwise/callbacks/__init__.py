"""What a fit reports while it runs, how to stop it, and how it survives a crash.

A callback is any function of a :class:`Progress` that returns True to stop the fit, or an object derived from
:class:`Callback` if it also wants to know about the beginning and the end. Callbacks of scikit-learn (1.9 and later) go
to the estimator's ``set_callbacks``.
"""

from .bar import ProgressBar
from .base import Callback, Fit, Progress, fitting
from .checkpoint import Checkpoint
from .sklearn_protocol import CallbackSupport, sklearn_callbacks
from .watching import EarlyStopping, History, PrintProgress, TimeBudget, as_callbacks

__all__ = [
    "Callback",
    "CallbackSupport",
    "Checkpoint",
    "EarlyStopping",
    "Fit",
    "History",
    "PrintProgress",
    "Progress",
    "ProgressBar",
    "TimeBudget",
    "as_callbacks",
    "fitting",
    "sklearn_callbacks",
]

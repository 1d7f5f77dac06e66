"""scikit-learn's own callbacks (`sklearn.callback`, new in 1.9 and experimental), where the installed version has them.

An estimator that derives from :class:`CallbackSupport` then has ``set_callbacks``, and progress bars and monitors of
scikit-learn hear of its sweeps, also from within a grid search. With older versions it has no such method.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .base import Callback, Fit, Progress

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupport
    from sklearn.callback import with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupport:  # type: ignore[no-redef]
        """Nothing to support."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """Nothing to tear down."""
        return method


__all__ = ["CallbackSupport", "SklearnCallbacks", "sklearn_callbacks", "with_callbacks"]


class SklearnCallbacks(Callback):
    """Tells the callbacks that were given to ``set_callbacks`` of every sweep, each a task of the fit."""

    def __init__(self) -> None:
        self._fit: Fit | None = None
        self._root: Any = None

    def setup(self, fit: Fit) -> None:
        """Begin the fit as a task; its sweeps can be counted beforehand if there is one start."""
        estimator = fit.estimator
        sweeps = estimator.max_iter if estimator.n_init == 1 else None
        self._fit = fit
        self._root = estimator._init_callback_context(max_subtasks=sweeps)
        self._root.call_on_fit_task_begin(**self._arguments(fit))

    def on_sweep(self, progress: Progress) -> bool:
        """A task that has just been done."""
        assert self._fit is not None  # sweeps come after `setup`
        task = self._root.subcontext(task_name="sweep")
        task.call_on_fit_task_begin(**self._arguments(self._fit))
        return bool(task.call_on_fit_task_end(**self._arguments(self._fit)))

    def on_end(self) -> None:
        """The fit as a task is done; what is left needs no sweeps."""
        assert self._fit is not None
        self._root.call_on_fit_task_end(**self._arguments(self._fit))

    def teardown(self) -> None:
        """scikit-learn's decorator of `fit` tears its callbacks down."""
        self._fit = self._root = None

    @staticmethod
    def _arguments(fit: Fit) -> dict[str, Any]:
        weight = {} if fit.sample_weight is None else {"sample_weight": fit.sample_weight}
        return {"estimator": fit.estimator, "X": fit.X, "y": fit.y, "metadata": weight}


def sklearn_callbacks(estimator: Any) -> list[Callback]:
    """What tells scikit-learn's callbacks of the fit, if the estimator has any."""
    tells = getattr(estimator, "_skl_callbacks", None) or hasattr(estimator, "_parent_callback_ctx")
    return [SklearnCallbacks()] if tells else []

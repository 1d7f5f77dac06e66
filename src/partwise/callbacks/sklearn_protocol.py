"""scikit-learn's own callbacks (`sklearn.callback`, new in 1.9 and experimental), where the installed version has them.

An estimator that derives from :class:`CallbackSupport` then has ``set_callbacks``, and scikit-learn's progress bars and
monitors are told about its sweeps, even within a grid search. With older versions it has no such method. The protocol
is imported when it is used, because its modules take a while to import.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, Self

from sklearn.utils.metaestimators import available_if

from .base import Callback, Fit, Progress


def _has_protocol(estimator: Any) -> bool:
    return find_spec("sklearn.callback") is not None


class CallbackSupport:
    """What scikit-learn asks of an estimator that takes its callbacks."""

    @available_if(_has_protocol)
    def set_callbacks(self, *callbacks: Any) -> Self:
        """Set callbacks of scikit-learn, which are told about every sweep.

        Parameters
        ----------
        *callbacks : callback of `sklearn.callback`
            None removes those already set.

        Returns
        -------
        self
        """
        from sklearn.callback import CallbackSupportMixin

        CallbackSupportMixin.set_callbacks(self, *callbacks)
        return self


class SklearnCallbacks(Callback):
    """Tells the callbacks given to ``set_callbacks`` about every sweep, as a task of the fit."""

    def __init__(self) -> None:
        self._fit: Fit | None = None
        self._root: Any = None

    def setup(self, fit: Fit) -> None:
        """Begin the fit as a task; with a single start, the number of its sweeps is known in advance."""
        from sklearn.callback import CallbackSupportMixin

        estimator = fit.estimator
        sweeps = estimator.max_iter if estimator.n_init == 1 else None
        self._fit = fit
        self._root = CallbackSupportMixin._init_callback_context(estimator, max_subtasks=sweeps)
        self._root.call_on_fit_task_begin(**_arguments(fit))

    def on_sweep(self, progress: Progress) -> bool:
        """A task that has just been completed."""
        assert self._fit is not None  # sweeps come after `setup`
        task = self._root.subcontext(task_name="sweep")
        task.call_on_fit_task_begin(**_arguments(self._fit))
        return bool(task.call_on_fit_task_end(**_arguments(self._fit)))

    def on_end(self) -> None:
        """End the fit's task; what remains needs no sweeps."""
        assert self._fit is not None
        self._root.call_on_fit_task_end(**_arguments(self._fit))

    def teardown(self) -> None:
        """Let scikit-learn tear down what it set up, as it does at the end of a decorated method."""
        from sklearn.callback import with_callbacks

        assert self._fit is not None
        estimator, self._fit, self._root = self._fit.estimator, None, None
        with_callbacks(lambda estimator: None)(estimator)


def _arguments(fit: Fit) -> dict[str, Any]:
    weight = {} if fit.sample_weight is None else {"sample_weight": fit.sample_weight}
    return {"estimator": fit.estimator, "X": fit.X, "y": fit.y, "metadata": weight}


def sklearn_callbacks(estimator: Any) -> list[Callback]:
    """The callback that informs scikit-learn's callbacks, if the estimator has any.

    Parameters
    ----------
    estimator : estimator
    """
    tells = getattr(estimator, "_skl_callbacks", None) or hasattr(estimator, "_parent_callback_ctx")
    return [SklearnCallbacks()] if tells else []

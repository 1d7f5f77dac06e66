"""Ctrl-C where one fit follows the other."""

from __future__ import annotations

from typing import Any


def fit_whole(model: Any, *arguments: Any) -> Any:
    """Fit a model and give it back; Ctrl-C goes on to the caller.

    An estimator that is interrupted keeps what it has, and its `fit` returns. Work that is made of several fits must
    not take half of one for a whole and go on.

    Parameters
    ----------
    model : estimator
    *arguments : object
        Of its `fit`.
    """
    model.fit(*arguments)
    if getattr(model, "stop_reason_", "") == "interrupted":
        raise KeyboardInterrupt
    return model

"""Ctrl-C where one fit follows another."""

from __future__ import annotations

from typing import Any


def fit_whole(model: Any, *arguments: Any) -> Any:
    """Fit a model and return it; Ctrl-C is passed on to the caller.

    An interrupted estimator keeps what it has, and its `fit` returns. Work that consists of several fits must not take
    an unfinished one for complete and continue.

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

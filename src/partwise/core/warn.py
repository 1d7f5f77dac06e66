"""Warnings that point to the user's line, and fits that are silent without silencing other threads."""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# Their lines are not the user's: scikit-learn wraps our methods and calls them through joblib; models are copied, and
# properties computed once.
_NOT_THE_USERS = ("partwise", "sklearn", "joblib", "pickle", "copy", "functools")
# Warnings about the lines of these packages are muted by `quiet`; the user's lines never are.
_MUTED = r"(partwise|sklearn|scipy|numpy|joblib)(\.|$)"

_quiet: ContextVar[bool] = ContextVar("quiet", default=False)


def warn(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Warn, and point to the line outside this package that led here."""
    if not _quiet.get():
        warnings.warn(message, category, stacklevel=_level_of_the_user() + 1)


def _level_of_the_user() -> int:
    """How many calls above the caller the user's line is; the outermost call if there is none."""
    frame, level = sys._getframe(1), 0
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _NOT_THE_USERS:
        frame, level = frame.f_back, level + 1
    return level


class _LibrariesMuted:
    """Mutes warnings about lines of libraries from the first thread to enter to the last to leave.

    Filters belong to the process: contexts of several threads that overlap would restore them out of order.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._depth = 0
        self._filters = warnings.catch_warnings()

    def __enter__(self) -> None:
        with self._lock:
            if self._depth == 0:
                self._filters = warnings.catch_warnings()
                self._filters.__enter__()
                warnings.filterwarnings("ignore", module=_MUTED)
            self._depth += 1

    def __exit__(self, *exception: object) -> None:
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                self._filters.__exit__(None, None, None)


# A context that mutes warnings of libraries about their own lines.
libraries_muted = _LibrariesMuted()


@contextmanager
def quiet() -> Iterator[None]:
    """Mute our own warnings in this thread, and those of libraries about their own lines."""
    token = _quiet.set(True)
    try:
        with libraries_muted:
            yield
    finally:
        _quiet.reset(token)

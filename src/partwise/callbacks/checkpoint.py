"""Long fits that survive a crash: every few sweeps, everything needed to resume is written to a file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..core.warn import warn
from ..files.archive import Refused
from ..files.described import Format
from ..files.plain import Packer, Unpacker, random_state_of
from ..files.writing import WriteError, check_writable
from .base import Callback, Fit, Snapshot
from .fingerprint import fingerprint

FORMAT = Format("partwise checkpoint", "a checkpoint of partwise", 1)
# Parameters that do not change the course of a fit.
FREE = ("callbacks", "verbose")


class Checkpoint(Callback):
    """Write the state of the fit to a file every few sweeps, and resume from that file if it exists.

    A fit that is killed at any moment, and run again with the same data, parameters and file, ends with the same
    factors, history (except times) and labels, bit for bit, as an uninterrupted one. The file of another fit is
    refused. A finished fit stays in the file; delete it to refit.

    Parameters
    ----------
    path : path-like
        The file, an npz without pickles. It is replaced whole, so it is never half written.
    every : int, default=10
        Sweeps between two writes.

    Notes
    -----
    If the disk is full, the fit warns and continues without checkpoints. A fit stopped by a callback or by Ctrl-C can
    be resumed from the last write. With ``random_state=None`` the resumed fit continues with the random numbers of
    the one that was killed.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_digits
    >>> from partwise import NMF
    >>> from partwise.callbacks import Checkpoint
    >>> path = os.path.join(tempfile.mkdtemp(), "fit.npz")
    >>> model = NMF(10, random_state=0, callbacks=Checkpoint(path, every=20)).fit(load_digits().data)
    """

    def __init__(self, path: str | os.PathLike[str], every: int = 10):
        self.path = path
        self.every = every
        self._identity: dict[str, Any] = {}
        self._random: dict[str, Any] = {}
        self._found: Snapshot | None = None

    def setup(self, fit: Fit) -> None:
        """Look for the file, and check that it can be written and belongs to this fit."""
        if isinstance(self.every, bool) or not isinstance(self.every, int | np.integer) or self.every < 1:
            raise ValueError(f"Checkpoint: every is {self.every!r}; it must be a whole number, 1 or more.")
        try:
            check_writable(self.path)
        except WriteError as error:
            raise ValueError(f"Checkpoint: {error}") from None
        self._identity = _identity(fit)
        self._found = self._read() if Path(self.path).exists() else None
        if self._found is not None:
            fit.rng.set_state(self._found["random"])
        self._random = fit.rng.get_state(legacy=False)

    def resume(self) -> Snapshot | None:
        """The contents of the file when the fit began."""
        found, self._found = self._found, None
        return None if found is None else found["snapshot"]

    def on_safe_point(self, sweep: int, ended: bool, snapshot: Callable[[], Snapshot]) -> None:
        """Write, if it is time."""
        if sweep % self.every and not ended:
            return
        packer = Packer()
        state = packer.pack({"random": self._random, "snapshot": snapshot()}, "The checkpoint")
        try:
            FORMAT.write(self.path, {"identity": self._identity, "state": state}, packer.arrays)
        except WriteError as error:
            warn(f"The checkpoint could not be written, and the fit continues without it: {error}")

    def teardown(self) -> None:
        """Release what was read."""
        self._found = None

    def _read(self) -> Snapshot:
        found, identity = read_checkpoint(self.path)
        differing = sorted(
            key for key in identity.keys() | self._identity.keys() if identity.get(key) != self._identity.get(key)
        )
        if differing:
            changes = "; ".join(
                f"{key} was {_short(identity.get(key))} and is {_short(self._identity.get(key))}" for key in differing
            )
            raise ValueError(
                f"The checkpoint {self.path} belongs to another fit: {changes}. "
                "Give the data and parameters it was written with, or another file."
            )
        return found


def read_checkpoint(path: str | os.PathLike[str]) -> tuple[Snapshot, dict[str, Any]]:
    """What a checkpoint holds, and what it says about the fit it belongs to.

    Raises
    ------
    ReadError
        If the file is not a checkpoint, or is damaged.
    """
    with FORMAT.read(path) as (header, arrays):
        found, identity = Unpacker(arrays).unpack(header["state"]), header["identity"]
        if not isinstance(found, dict) or not isinstance(identity, dict):
            raise Refused("its description is malformed")
        random_state_of(found["random"])
        if not isinstance(found["snapshot"], dict):
            raise Refused("its description is malformed")
        return found, identity


def _identity(fit: Fit) -> dict[str, str]:
    """What must be the same for one fit to resume another."""
    from .. import __version__

    estimator = fit.estimator
    identity = {
        "the version of partwise": __version__,
        "the estimator": type(estimator).__name__,
        "X": fingerprint(fit.X),
        "y": fingerprint(None if fit.y is None else np.asarray(fit.y)),
        "sample_weight": fingerprint(None if fit.sample_weight is None else np.asarray(fit.sample_weight)),
    }
    if fit.groups is not None:
        identity["groups"] = fingerprint(fit.groups)
    for name, value in estimator.get_params(deep=False).items():
        if name not in FREE:
            identity[f"the parameter {name}"] = fingerprint(value)
    return identity


def _short(text: Any) -> str:
    text = "absent" if text is None else str(text)
    return text if len(text) <= 60 else f"{text[:57]}..."

"""Arrays and their description in one npz file without pickles: the layout of models and checkpoints."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import __version__
from ..core.types import Array
from .archive import Refused, read_arrays, reading, write_arrays

# The array that holds the description.
HEADER = "header"


@dataclass(frozen=True)
class Format:
    """A kind of file, whose description says what it is and which version of partwise wrote it.

    Attributes
    ----------
    name : str
        What files call themselves.
    kind : str
        What it should be, for messages: "a model of partwise".
    version : int
        Of the files that are written; files of all versions up to it are read.
    """

    name: str
    kind: str
    version: int

    def write(
        self,
        path: str | os.PathLike[str],
        description: Mapping[str, Any],
        arrays: Mapping[str, Array],
        *,
        compress: bool = False,
    ) -> None:
        """Write a file whole or not at all.

        Parameters
        ----------
        path : path-like
        description : mapping
            What JSON can hold.
        arrays : mapping of str to ndarray
        compress : bool, default=False
        """
        origin = {"format": self.name, "format_version": self.version, "partwise": __version__}
        write_arrays(path, {HEADER: as_text({**origin, **description}), **arrays}, compress=compress)

    @contextmanager
    def read(
        self, path: str | os.PathLike[str], max_bytes: int | None = None
    ) -> Iterator[tuple[dict[str, Any], dict[str, Array]]]:
        """The description and the arrays of a file; an error within the block makes the file unreadable.

        Parameters
        ----------
        path : path-like
        max_bytes : int, optional
            See :func:`~partwise.files.archive.read_arrays`.

        Raises
        ------
        ReadError
            If the file is something else, of a later version, or damaged.
        """
        arrays = read_arrays(path, self.kind, max_bytes)
        with reading(path, self.kind):
            description = from_text(arrays.pop(HEADER))
            if not isinstance(description, dict) or description.get("format") != self.name:
                raise Refused("it is something else")
            version = description["format_version"]
            if type(version) is not int or not 1 <= version <= self.version:
                found, writer = (str(fact)[:20] for fact in (version, description.get("partwise")))
                raise Refused(
                    f"its format is {found} (partwise {writer}), but this version, {__version__}, reads formats up to "
                    f"{self.version}"
                )
            yield description, arrays


def as_text(document: Any) -> Array:
    """A JSON document as an array of bytes."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    return np.frombuffer(text.encode(), np.uint8)


def from_text(array: Array) -> Any:
    """The document of :func:`as_text`."""
    if array.dtype != np.uint8 or array.ndim != 1:
        raise Refused("its description is not text")
    return json.load(io.TextIOWrapper(io.BytesIO(array.tobytes()), encoding="utf-8"))

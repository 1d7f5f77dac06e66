"""Where arrays with a row for every sample are kept: in memory, or in files if there are too many rows for it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import numpy as np

from .types import Array

# Rows are copied in pieces of this size.
COPIED_BYTES = 2**24


class Room:
    """The memory of the process.

    Attributes
    ----------
    on_disk : bool
    elsewhere : bool
        Whether the codes of a fit are not in this memory.
    """

    on_disk = False
    elsewhere = False

    def empty(self, shape: tuple[int, int], dtype: Any) -> Array:
        """An array to be filled."""
        return np.empty(shape, dtype)

    def copied(self, codes: Array) -> Array:
        """A copy that can be changed."""
        copy = self.empty(codes.shape, codes.dtype)
        copy[:] = codes
        return copy

    def kept(self, codes: Array) -> Array:
        """The codes for a user to have."""
        return codes

    def guarded(self, codes: Array) -> Array:
        """Codes that a user has, for a model to keep as they are: a copy."""
        return codes.copy()


class DiskRoom(Room):
    """The folder of a file, which gets the codes in the end.

    While a fit runs, its arrays are in files that have no name: they vanish with the arrays, however the process ends.
    Their space is reserved when they are made, so that a full disk is an error then, and not a crash later.

    Parameters
    ----------
    path : path-like
        Of the file. It is replaced whole, so it is never half written.
    """

    on_disk = True
    elsewhere = True

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path).absolute()
        if not self.path.parent.is_dir():
            raise ValueError(f"The codes cannot be written to {self.path}: there is no folder {self.path.parent}.")
        if self.path.is_dir():
            raise ValueError(f"The codes cannot be written to {self.path}, which is a folder. Give the path of a file.")

    def empty(self, shape: tuple[int, int], dtype: Any) -> Array:
        """An array in a file without a name."""
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        with self._explained(size), tempfile.TemporaryFile(dir=self.path.parent) as file:
            _reserve(file, size)
            # Plain arrays: a copy of a memory map would be one by its class alone.
            return np.asarray(np.memmap(file, dtype, "r+", shape=shape))

    def kept(self, codes: Array) -> Array:
        """The codes as a memory map of the file, read-only."""
        with self._explained(codes.nbytes), self._replaced() as file:
            header = {"descr": codes.dtype.str, "fortran_order": False, "shape": codes.shape}
            np.lib.format.write_array_header_1_0(file, header)
            step = max(1, COPIED_BYTES // max(1, codes.shape[1] * codes.itemsize))
            for start in range(0, len(codes), step):
                file.write(np.ascontiguousarray(codes[start : start + step]).data)
        kept: Array = np.load(self.path, mmap_mode="r")
        return kept

    def guarded(self, codes: Array) -> Array:
        """The same: nobody can change them."""
        return codes

    @contextmanager
    def _explained(self, size: int) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            folder = self.path.parent
            left = shutil.disk_usage(folder).free
            raise OSError(
                error.errno,
                f"The codes need {size / 2**20:.3g} MiB in {folder}, where {left / 2**20:.3g} MiB are left, and cannot "
                f"be written ({error.strerror}). Free some space, or give a path on another disk",
            ) from error

    @contextmanager
    def _replaced(self) -> Iterator[IO[bytes]]:
        """A file that takes the place of the present one when all of it is written."""
        number, name = tempfile.mkstemp(prefix=f".{self.path.name}.", dir=self.path.parent)
        try:
            with os.fdopen(number, "wb") as file:
                yield file
            os.chmod(name, 0o666 & ~_mask())
            os.replace(name, self.path)
        except BaseException:
            with suppress(OSError):
                os.unlink(name)
            raise


def _reserve(file: IO[bytes], size: int) -> None:
    """Make a file that large, with space on the disk for all of it."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, max(size, 1))
        return
    zeros = bytes(COPIED_BYTES)
    for start in range(0, max(size, 1), COPIED_BYTES):
        file.write(zeros[: max(size, 1) - start])
    file.flush()


def _mask() -> int:
    """The permissions that new files of this process do not have."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


MEMORY = Room()

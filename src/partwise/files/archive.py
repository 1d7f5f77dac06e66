"""Arrays in a file: an npz without pickles, read without trust.

A file may come from anywhere. What it declares is compared with what it holds before memory is taken, and nothing in it
is ever executed: objects are refused, as are other containers disguised as an npz.
"""

from __future__ import annotations

import math
import os
import stat
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np
from numpy.lib import format as npy

from ..core.memory import machine_memory
from ..core.types import Array
from .writing import whole_file

# What one file may declare, unless the caller knows better.
MOST_BYTES = 2**32
MOST_MEMBERS = 100_000
# Kinds of dtypes that are written and read: numbers and text.
KINDS = "biufUS"


class ReadError(ValueError):
    """A file cannot be read; the message is one sentence."""


class Refused(ValueError):
    """Why a file cannot be read, as the end of a sentence; :func:`reading` says which file."""


@contextmanager
def reading(path: str | os.PathLike[str], kind: str) -> Iterator[None]:
    """Turn whatever goes wrong while a file is read into one :class:`ReadError`."""
    try:
        yield
    except ReadError:
        raise
    except Refused as error:
        raise ReadError(f"{path} cannot be read as {kind}: {error}.") from None
    except OSError as error:
        # zipfile, and seeks on nonsense, raise errors of this kind without a number.
        reason = error.strerror or "it is damaged"
        raise ReadError(f"{path} cannot be read as {kind}: {reason[0].lower()}{reason[1:]}.") from error
    except Exception as error:  # parsers of foreign bytes may raise anything
        raise ReadError(f"{path} cannot be read as {kind}: it is damaged or something else.") from error


def most_bytes(limit: int | None = None) -> int:
    """The size that a file may declare: what the caller allows, or 4 GiB but at most half of the memory."""
    if limit is not None:
        return limit
    return int(min(MOST_BYTES, machine_memory() / 2))


def check_file(path: str | os.PathLike[str], max_bytes: int | None = None) -> int:
    """The size of a file, which must be an ordinary one (a pipe would never end) and not too large."""
    status = os.stat(path)
    if stat.S_ISDIR(status.st_mode):
        raise Refused("it is a folder")
    if not stat.S_ISREG(status.st_mode):
        raise Refused("it is not an ordinary file")
    limit = most_bytes(max_bytes)
    if status.st_size > limit:
        raise Refused(f"it has {status.st_size / 2**30:.3g} GiB, but only {limit / 2**30:.3g} GiB are allowed")
    return status.st_size


def read_arrays(path: str | os.PathLike[str], kind: str, max_bytes: int | None = None) -> dict[str, Array]:
    """All arrays of an npz file.

    Parameters
    ----------
    path : path-like
    kind : str
        What the file should be, for messages: "a model".
    max_bytes : int, optional
        Most bytes that all arrays together may declare; 4 GiB or half of the memory, whichever is less.
    """
    path = Path(path)
    limit = most_bytes(max_bytes)
    with reading(path, kind):
        check_file(path, max_bytes)
        return _read_members(path, limit)


def _read_members(path: Path, limit: int) -> dict[str, Array]:
    with zipfile.ZipFile(path) as file:
        members = file.infolist()
        if len(members) > MOST_MEMBERS:
            raise Refused(f"it holds {len(members)} arrays, but at most {MOST_MEMBERS} are expected")
        total = sum(member.file_size for member in members)
        if total > limit:
            raise Refused(
                f"it declares {total / 2**30:.3g} GiB of arrays, but only {limit / 2**30:.3g} GiB are allowed; "
                "give a larger max_bytes if you trust it"
            )
        arrays = {}
        for member in members:
            if not member.filename.endswith(".npy"):
                raise Refused(f"it holds {member.filename!r}, which is not an array")
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise Refused("its compression is not that of npz files")
            with file.open(member) as stream:
                arrays[member.filename[:-4]] = read_array(stream, member.file_size)
        return arrays


def read_array(stream: IO[bytes], size: int) -> Array:
    """One array in numpy's format, whose header must declare exactly what the `size` bytes hold."""
    version = npy.read_magic(stream)
    if version == (1, 0):
        shape, fortran_order, dtype = npy.read_array_header_1_0(stream)
    else:
        # Version 3 differs from 2 only in the names of fields, and structures are refused.
        shape, fortran_order, dtype = npy.read_array_header_2_0(stream)
    if dtype.hasobject:
        raise Refused("it holds pickled objects, which could run any code and are never opened")
    if dtype.kind not in KINDS or dtype.itemsize == 0:
        raise Refused(f"it holds an array of dtype {dtype}; only numbers and text are read")
    if any(length < 0 for length in shape):
        raise Refused(f"it declares an array of shape {shape}")
    declared = math.prod(shape) * dtype.itemsize
    held = size - stream.tell()
    if declared != held:
        raise Refused(f"it declares an array of {declared} bytes but holds {held}")
    array = np.empty(math.prod(shape), dtype)
    view, filled = array.view(np.uint8), 0
    while filled < declared:
        part = stream.read(min(2**24, declared - filled))
        if not part:
            raise EOFError
        view[filled : filled + len(part)] = np.frombuffer(part, np.uint8)
        filled += len(part)
    if stream.read(1):
        raise EOFError
    return array.reshape(shape, order="F" if fortran_order else "C")


def write_arrays(path: str | os.PathLike[str], arrays: Mapping[str, Array], *, compress: bool = False) -> None:
    """Write arrays as an npz file, whole or not at all; see :func:`partwise.files.writing.whole_file`."""
    method = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    with whole_file(path) as stream, zipfile.ZipFile(stream, "w", method, compresslevel=1) as file:
        for name, array in arrays.items():
            # A fixed date: the same arrays give the same bytes.
            entry = zipfile.ZipInfo(f"{name}.npy")
            entry.compress_type = method
            with file.open(entry, "w", force_zip64=True) as member:
                npy.write_array(member, np.asanyarray(array), allow_pickle=False)

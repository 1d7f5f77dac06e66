"""Files that are written whole or not at all, even by several processes at once.

A file is written under a temporary name in the same folder and then replaces the old one, which readers see until that
moment. A process that is killed leaves its unfinished file behind; the next writer in the folder removes it.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]

PREFIX, SUFFIX = ".partwise-", ".partial"


class WriteError(OSError):
    """A file cannot be written; the message is one sentence."""


def check_writable(path: str | os.PathLike[str]) -> None:
    """Check that a file can be written, before any work is spent on its content.

    Parameters
    ----------
    path : path-like

    Raises
    ------
    WriteError
        If the path is a folder, its folder is missing, or permission is denied.
    """
    with _writing(path):
        target = _target(path)
        if target is not None:
            stream, beside = _open_beside(target)
            stream.close()
            beside.unlink()
        # Opening a pipe would wait for its reader.
        elif not os.access(path, os.W_OK):
            raise WriteError(f"{os.fspath(path)} cannot be written: Permission denied.")


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A stream whose content replaces a file when the block ends without an error.

    The file keeps its permissions; a new one gets the defaults of the process. A link stays, and the file it points to
    is replaced. A device or a pipe is written to directly.

    Parameters
    ----------
    path : path-like

    Raises
    ------
    WriteError
        If the file cannot be written; the old one is then unchanged.
    """
    with _writing(path):
        target = _target(path)
        if target is None:
            # Writing an npz file needs seeks, which a device does not have.
            content = BytesIO()
            yield content
            with open(path, "wb") as device:
                device.write(content.getbuffer())
            return
        _remove_abandoned(target.parent)
        stream, beside = _open_beside(target)
        try:
            with stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
                if target.exists():
                    beside.chmod(stat.S_IMODE(target.stat().st_mode))
                if fcntl is None:  # Windows renames no open files
                    stream.close()
                os.replace(beside, target)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
        _sync_folder(target.parent)


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file whole or not at all; see :func:`whole_file`."""
    with whole_file(path) as stream:
        stream.write(content)


def write_compressed(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a gzip file whole or not at all; the same content gives the same bytes, whatever the time and the name."""
    with whole_file(path) as stream, gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as packed:
        packed.write(content)


@contextmanager
def _writing(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn each system error into one sentence."""
    try:
        yield
    except WriteError:
        raise
    except OSError as error:
        raise WriteError(f"{os.fspath(path)} cannot be written: {error.strerror or error}.") from error


def _target(path: str | os.PathLike[str]) -> Path | None:
    """The ordinary file to write, which need not exist; None for a device or a pipe."""
    path = Path(path)
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        folder = Path(os.path.realpath(path)).parent if path.is_symlink() else path.parent
        if not folder.is_dir():
            raise WriteError(f"{path} cannot be written: there is no folder {folder}.") from None
    else:
        if stat.S_ISDIR(mode):
            raise WriteError(f"{path} is a folder; give the name of a file.")
        if not stat.S_ISREG(mode):
            return None
        # A file that its owner has protected is not replaced.
        with open(path, "ab"):
            pass
    return Path(os.path.realpath(path))


def _open_beside(target: Path) -> tuple[IO[bytes], Path]:
    """A new file in the folder of another, locked as long as it is open."""
    while True:
        beside = target.with_name(f"{PREFIX}{secrets.token_hex(8)}{SUFFIX}")
        # Unlike those of `tempfile`, it has the permissions of any new file.
        stream = open(beside, "xb")  # noqa: SIM115
        if fcntl is None:
            return stream, beside
        # Systems without locks, such as some network folders, keep what killed processes leave.
        with contextlib.suppress(OSError):
            fcntl.flock(stream, fcntl.LOCK_EX)
        if os.fstat(stream.fileno()).st_nlink:
            return stream, beside
        # Another writer took it for abandoned before it was locked.
        stream.close()


def _remove_abandoned(folder: Path) -> None:
    """Remove unfinished files whose writers are dead: nobody holds their locks."""
    if fcntl is None:
        return
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            ours = entry.name.startswith(PREFIX) and entry.name.endswith(SUFFIX)
            if ours and entry.is_file(follow_symlinks=False):
                with contextlib.suppress(OSError), open(entry.path, "rb") as stream:
                    fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    os.unlink(entry.path)


def _sync_folder(folder: Path) -> None:
    """Make a renaming last, on systems whose folders can be opened."""
    if hasattr(os, "O_DIRECTORY"):
        with contextlib.suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

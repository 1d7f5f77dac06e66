"""Finished runs in a file: each is on disk before the next begins, and none is computed twice."""

from __future__ import annotations

import csv
import gzip
import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..files.writing import write_compressed, write_whole
from .runs import SCORES, Run

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]

COLUMNS = ("dataset", "n_clusters", "method", "setting", "draw", "digest", *SCORES)
HEADER = (",".join(COLUMNS) + "\n").encode()


class JournalInUse(Exception):
    """Another process is working on the same file."""


class JournalDamaged(Exception):
    """A packed file cannot be read."""


class Journal:
    """The results of a paper's runs.

    Every finished run is a line at the end of a file. :meth:`tidy` packs all lines into a compressed file beside it. A
    line that is incomplete, because the process was killed while writing it, is dropped, and that run is repeated.
    Lines of runs that a protocol no longer has stay in the file and are ignored.

    Parameters
    ----------
    path : Path
        The file of lines, a .csv; the compressed one has this name and .gz.
    """

    def __init__(self, path: Path):
        self.path = path
        self.packed = path.with_name(f"{path.name}.gz")
        self._rows = self._read()

    def __contains__(self, run: Run) -> bool:
        return run.digest in self._rows

    def scores(self, run: Run) -> dict[str, float] | None:
        """The scores of the run; None if it has not been made."""
        row = self._rows.get(run.digest)
        return None if row is None else {name: float(row[name]) for name in SCORES if row[name]}

    def add(self, run: Run, scores: dict[str, float]) -> None:
        """Write a finished run to the disk."""
        place = {
            "dataset": run.data.name,
            "n_clusters": str(run.n_clusters),
            "method": run.method.name,
            "setting": run.setting_text,
            "draw": str(run.draw),
            "digest": run.digest,
        }
        row = place | {name: str(scores.get(name, "")) for name in SCORES}
        if not self.path.exists():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self.path, HEADER)
        with self.path.open("a", encoding="utf-8", newline="") as file:
            file.write(_line(row))
            file.flush()
            os.fsync(file.fileno())
        self._rows[run.digest] = row

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Lock the file against other processes; the lock ends with this process, however it ends."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lock = self.path.with_suffix(".lock")
        with lock.open("w") as file:
            if fcntl is not None:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    raise JournalInUse(f"another process is working on {self.path}") from None
            self._rows = self._read()
            yield
            lock.unlink()

    def tidy(self) -> None:
        """Pack the lines in an order that does not depend on the order of the runs."""
        if self.path.exists():
            self._rows = dict(sorted(self._rows.items(), key=lambda item: _order(item[1])))
            write_compressed(self.packed, HEADER + "".join(map(_line, self._rows.values())).encode())
            self.path.unlink()

    def _read(self) -> dict[str, dict[str, str]]:
        """Rows by digest, packed or not."""
        try:
            packed = gzip.decompress(self.packed.read_bytes()) if self.packed.exists() else b""
        except (gzip.BadGzipFile, EOFError, zlib.error):
            raise JournalDamaged(f"{self.packed} is damaged; remove it to repeat its runs") from None
        return _rows(packed) | _rows(_whole_lines(self.path))


def _line(row: dict[str, str]) -> str:
    text = io.StringIO()
    csv.DictWriter(text, COLUMNS, lineterminator="\n").writerow(row)
    return text.getvalue()


def _order(row: dict[str, str]) -> tuple[object, ...]:
    return row["dataset"], int(row["n_clusters"]), row["method"], row["setting"], int(row["draw"]), row["digest"]


def _rows(content: bytes) -> dict[str, dict[str, str]]:
    return {row["digest"]: row for row in csv.DictReader(io.StringIO(content.decode("utf-8"), newline=""))}


def _whole_lines(path: Path) -> bytes:
    """The contents of a file; an incomplete last line is cut off, so that appended text starts a new line."""
    if not path.exists():
        return b""
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole == 0:
        path.unlink()
    elif whole < len(content):
        os.truncate(path, whole)
    return content[:whole]

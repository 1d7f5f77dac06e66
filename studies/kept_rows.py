"""Tables of thousands of rows, compressed: a study adds to them as it runs."""

from __future__ import annotations

import csv
import gzip
import io

from partwise.files.writing import write_compressed


def read_rows(path):
    """A dict for every row; none if there is no file yet."""
    return list(csv.DictReader(io.StringIO(_content(path).decode(), newline="")))


def add_rows(path, header, rows):
    """Append rows to a file, which is written whole or not at all."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    before = _content(path)
    if not before:
        writer.writerow(header)
    writer.writerows(rows)
    write_compressed(path, before + text.getvalue().encode())


def _content(path):
    return gzip.decompress(path.read_bytes()) if path.is_file() else b""

"""Rows of the studies: added a few at a time, and read as they were."""

import gzip
from pathlib import Path

from studies.kept_rows import add_rows, read_rows

RESULTS = Path(__file__).parents[2] / "studies" / "results"


def test_rows_are_added_and_read(tmp_path):
    path = tmp_path / "rows.csv.gz"
    assert read_rows(path) == []
    add_rows(path, ["name", "value"], [("a, with a comma", 1), ("b", 0.5)])
    add_rows(path, ["name", "value"], [("c", "")])
    assert read_rows(path) == [
        {"name": "a, with a comma", "value": "1"},
        {"name": "b", "value": "0.5"},
        {"name": "c", "value": ""},
    ]
    assert gzip.decompress(path.read_bytes()).count(b"name,value") == 1


def test_the_committed_rows_are_whole():
    counts = {path.name: len(read_rows(path)) for path in RESULTS.glob("*.csv.gz")}
    assert counts == {"paths.csv.gz": 11400, "selection.csv.gz": 6750}

"""The page of counts is that of the rows that were measured."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)


def test_page_is_up_to_date():
    from docs.counts import PAGE, page

    assert PAGE.read_text(encoding="utf-8") == page(), "Run python -m docs.counts."


def test_rows_of_the_studies_become_lines():
    from studies import counts_starts, zeros

    starts = counts_starts.table([("tdt2-10", "0", "90", "100"), ("tdt2-10", "1", "110", "100")])
    assert starts[2:] == [
        "| TDT2, counts of words, 10 components | 2 | 0.9000 | 0.9500 | 1.0000 | 1.0500 | 1.1000 | 1 |"
    ]
    ends = zeros.table([["0.5", "0", "11", "2", "10", "1"], ["0.5", "default", "9", "1", "10", "2"]])
    assert ends[2:] == [
        "| 0.5 | 1 random | 1.100 | 1.100–1.100 | 2.0 |",
        "| 0.5 | the default | 0.900 | 0.900–0.900 | 0.5 |",
    ]

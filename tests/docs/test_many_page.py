"""The page of many fits is that of the rows that were measured."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)


def test_page_is_up_to_date():
    from docs.many import PAGE, page

    assert PAGE.read_text(encoding="utf-8") == page(), "Run python -m docs.many."


def test_rows_of_replicates():
    from benchmarks.table import Row
    from docs.many import NO_ROWS, speed

    measured = Row("20 replicates", "mnist", "one by one", figure=0.5, needed="≤ 0.6", note="share", load=3.0)
    measured.name = "replicates-mnist"
    unmeasured, other = Row("cnmf", "cells"), Row("nmf", "digits", figure=2.0)
    unmeasured.name, other.name = "replicates-cnmf", "nmf-digits"
    assert speed([other, unmeasured]) == [NO_ROWS]
    assert speed([other, measured])[2:] == ["| 20 replicates | mnist | one by one | 0.5 | ≤ 0.6 | share [load 3.0] |"]

"""The page of coverage, kills, damaged input and mutations is what was measured."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)


def test_page_is_up_to_date():
    from docs.quality import PAGE, page

    assert PAGE.read_text(encoding="utf-8") == page(), "Run python -m docs.quality."


def test_enough_lines_are_covered():
    rooms = json.loads((ROOT / "docs" / "measured" / "coverage.json").read_text("utf-8"))["rooms"].values()
    lines, missed = (sum(numbers) for numbers in zip(*rooms, strict=True))
    assert missed <= 0.05 * lines


def test_nothing_differs_after_kills():
    counts = json.loads((ROOT / "docs" / "measured" / "kills.json").read_text("utf-8"))
    assert counts["trials"] >= 20
    assert counts["differ"] == 0


def test_survivors_were_looked_at():
    mutation, reasons = (
        json.loads((ROOT / "docs" / "measured" / f"{name}.json").read_text("utf-8"))
        for name in ("mutation", "survivors")
    )
    assert {name for room in mutation["rooms"].values() for name in room["survivors"]} == set(reasons)

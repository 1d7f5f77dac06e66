"""The page of all methods is what the code says."""

from pathlib import Path

import pytest

from partwise.testing import all_estimators

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)


def test_page_is_up_to_date():
    from docs.methods import PAGE, page

    assert PAGE.read_text(encoding="utf-8") == page(), "Run python -m docs.methods."


def test_page_has_every_estimator():
    from docs.methods import page

    text = page()
    for name in all_estimators():
        assert f"### {name}\n" in text

"""Every page is written in the one way that CONTRIBUTING.md lists."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted({path.stem for path in (ROOT / "docs").glob("*.md")} | {"reproduction"})


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_a_module_of_its_name(name, monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    spec = find_spec(f"docs.{name}")
    assert spec is not None, f"There is no docs/{name}.py."
    assert spec.submodule_search_locations is None or find_spec(f"docs.{name}.__main__")


def test_contributors_are_told_of_every_page():
    listed = re.findall(
        r"^\| .* \| `python -m docs\.(\w+)` \|", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE
    )
    assert sorted(listed) == PAGES

"""Every Python block of the site's pages runs as written, and the site names every public name."""

import importlib
import re
import warnings
from pathlib import Path

import pytest
from matplotlib import pyplot
from threadpoolctl import threadpool_limits

import partwise

ROOT = Path(__file__).parents[2]
SITE = ROOT / "docs" / "site"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PAGES = sorted(path for path in SITE.rglob("*.md") if BLOCK.search(path.read_text("utf-8")))
# Rooms whose names are for users, with the names that are documented where a room lists none.
ROOMS = {
    "": [name for name in partwise.__all__ if name != "__version__"],
    "exceptions": ["DuplicateComponentsWarning"],
    "solvers": ["Options", "Problem", "solve"],
    "testing": ["all_estimators", "check_term"],
    "experiments.methods": ["method", "names", "papers"],
    **dict.fromkeys(("callbacks", "datasets", "domains", "experiments", "graphs", "metrics", "plots", "report")),
    **dict.fromkeys(("selection", "terms")),
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(SITE).as_posix())
def test_blocks_run_in_order(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text, namespace = page.read_text("utf-8"), {"__name__": "__main__"}
    with threadpool_limits(1), warnings.catch_warnings():
        # A page for newcomers does not discuss every warning of its small data, but nothing may be deprecated.
        warnings.simplefilter("ignore", UserWarning)
        for match in BLOCK.finditer(text):
            line = text[: match.start()].count("\n") + 1
            exec(compile("\n" * line + match[1], str(page), "exec"), namespace)
    pyplot.close("all")


@pytest.mark.parametrize("room", ROOMS)
def test_reference_lists_every_public_name(room):
    module = f"partwise.{room}" if room else "partwise"
    loaded = importlib.import_module(module)
    names = ROOMS[room] or getattr(loaded, "__all__", None) or [n for n in dir(loaded) if n[0].isupper()]
    pages = "".join(path.read_text("utf-8") for path in (SITE / "api").glob("*.md"))
    blocks = re.findall(rf"\.\. currentmodule:: {re.escape(module)}\n(.*?)```", pages, re.DOTALL)
    listed = {line.strip() for block in blocks for line in block.splitlines()}
    assert set(names) <= listed


def test_pictures_of_the_guide_are_made_by_an_example():
    for page in SITE.rglob("*.md"):
        for name in re.findall(r"sphx_glr_(plot_\w+?)_\d{3}\.png", page.read_text("utf-8")):
            assert (ROOT / "docs" / "gallery" / f"{name}.py").is_file(), f"{page}: {name}"

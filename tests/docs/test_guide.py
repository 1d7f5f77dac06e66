"""Every Python block of the site's pages runs as written, and the site names every public name."""

import importlib
import inspect
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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(SITE).as_posix())
def test_blocks_run_in_order(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text, namespace = page.read_text("utf-8"), {"__name__": "__main__"}
    for library in re.findall(r"^import (anndata)\b", text, re.MULTILINE):
        pytest.importorskip(library)
    with threadpool_limits(1), warnings.catch_warnings():
        # A page for newcomers does not discuss every warning of its small data, but nothing may be deprecated.
        warnings.simplefilter("ignore", UserWarning)
        for match in BLOCK.finditer(text):
            line = text[: match.start()].count("\n") + 1
            exec(compile("\n" * line + match[1], str(page), "exec"), namespace)
    pyplot.close("all")


def test_reference_has_every_room(monkeypatch):
    monkeypatch.syspath_prepend(SITE)
    reference = importlib.import_module("building.reference")
    modules = {module for _, parts in reference.PAGES.values() for _, module, _ in parts}
    assert {f"partwise.{room}" for room in partwise._ROOMS} <= modules
    named = [
        name
        for _, parts in reference.PAGES.values()
        for _, module, names in parts
        if module == "partwise"
        for name in names
    ]
    assert sorted([*named, "__version__"]) == sorted(partwise.__all__)
    assert reference.public_names("partwise.exceptions") == ["DuplicateComponentsWarning"]
    assert set(reference.public_names("partwise.domains")) >= {"Domain", "Simplex", "Fixed"}


def documented(thing):
    """Names in the sections of parameters and attributes of a docstring."""
    text = inspect.getdoc(thing) or ""
    sections = re.findall(
        r"^(?:Parameters|Attributes)\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", text, re.DOTALL | re.MULTILINE
    )
    lines = re.findall(r"^([*\w][^:\n]*?)(?: :.*)?$", "\n".join(sections), re.MULTILINE)
    return {name.strip().lstrip("*") for line in lines for name in line.split(",")}


def public_things():
    """Every function and class of the reference, and the public methods of estimators, by name."""
    for _, parts in importlib.import_module("building.reference").PAGES.values():
        for _, module, names in parts:
            offered = importlib.import_module("building.reference").public_names(module) if names is None else names
            for name in offered:
                thing = getattr(importlib.import_module(module), name)
                if callable(thing) and not (inspect.isclass(thing) and issubclass(thing, Exception)):
                    yield f"{module}.{name}", thing
                if module == "partwise" and inspect.isclass(thing):
                    methods = inspect.getmembers(thing, inspect.isfunction)
                    own = [pair for pair in methods if pair[0][0] != "_" and pair[1].__module__.startswith("partwise")]
                    yield from ((f"{module}.{name}.{method}", function) for method, function in own)


def test_every_parameter_is_documented(monkeypatch):
    monkeypatch.syspath_prepend(SITE)
    without = {}
    for name, thing in public_things():
        if inspect.isclass(thing) and getattr(thing, "_is_protocol", False):
            continue  # it has no parameters
        parameters = set(inspect.signature(thing).parameters) - {"self"}
        if missing := parameters - documented(thing):
            without[name] = sorted(missing)
    assert not without


def test_pictures_of_the_guide_are_made_by_an_example():
    for page in SITE.rglob("*.md"):
        for name in re.findall(r"sphx_glr_(plot_\w+?)_\d{3}\.png", page.read_text("utf-8")):
            assert (ROOT / "docs" / "gallery" / f"{name}.py").is_file(), f"{page}: {name}"

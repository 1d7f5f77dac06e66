"""The pages in a headless Chromium, where there is one."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from partwise.cli import main

sys.path.insert(0, str(Path(__file__).parents[1] / "experiments"))
from browser import Browser, find_browser
from tiny import PROTOCOL

pytestmark = pytest.mark.skipif(find_browser() is None, reason="needs Chromium")

COLUMN = "[...document.querySelectorAll('table.sortable tbody tr')].map(row => row.cells[{}].dataset.value)"
HOSTILE = "<img src=x onerror=alert(1)>\"'</script>"


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A page of each command, with names of classes that want to be markup."""
    folder = tmp_path_factory.mktemp("pages")
    rng = np.random.RandomState(0)
    X = rng.uniform(size=(40, 16)) + 3 * np.repeat(np.eye(2), 20, axis=0) @ np.repeat(np.eye(2), 8, axis=1)
    names = np.array([HOSTILE, "plain"])
    np.savez(folder / "data.npz", X=X, y=np.repeat([0, 1], 20), classes=names, image_shape=[4, 4])
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr("partwise.cli.reproduce.load_protocol", lambda name: PROTOCOL)
        assert main(["compare", "data.npz", "--output", "compare.html"]) == 0
        assert main(["reproduce", "tiny", "--quick"]) == 0
    return {"compare": folder / "compare.html", "reproduce": folder / "results" / "tiny.html"}


@pytest.fixture(scope="module")
def browser():
    with Browser(find_browser()) as opened:
        yield opened


@pytest.mark.parametrize("command", ["compare", "reproduce"])
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_loads_without_complaints_and_fits_the_screen(pages, browser, command, width, scheme):
    browser.open(pages[command], width=width, scheme=scheme)
    assert browser.complaints == []
    assert [url for url in browser.requests if not url.startswith(("file:", "data:image/png"))] == []
    assert browser.ask("document.documentElement.scrollWidth") <= width
    assert browser.ask("[...document.images].every(image => image.complete && image.naturalWidth > 0)")
    ground = browser.ask("getComputedStyle(document.body).backgroundColor")
    light = sum(map(int, ground.removeprefix("rgb(").removesuffix(")").split(","))) > 3 * 128
    assert light == (scheme == "light")


def test_tables_that_do_not_fit_say_that_they_scroll(pages, browser):
    said = "getComputedStyle(document.querySelector('.sortable caption'), '::before').content.includes('Scrolls')"
    for width, scrolls in ((390, True), (1400, False)):
        browser.open(pages["compare"], width=width)
        assert browser.ask(said) is scrolls


@pytest.mark.parametrize("command", ["compare", "reproduce"])
def test_figures_are_there(pages, browser, command):
    browser.open(pages[command])
    for key in ("convergence", "components", "codes", "map", "confusion", "sensitivity", "settings"):
        assert browser.ask(f"document.getElementById('{key}').getBoundingClientRect().height") > 100, key
    heights = browser.ask("[...document.querySelectorAll('figure svg')].map(s => s.getBoundingClientRect().height)")
    assert min(heights) > 5
    assert browser.ask("document.querySelectorAll('#components img').length") >= 6
    ids = browser.ask("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))


def test_names_stay_text(pages, browser):
    browser.open(pages["compare"])
    assert browser.ask("document.querySelectorAll('img[src=x], [onerror]').length") == 0
    assert browser.ask(f"document.body.innerText.includes({json.dumps(HOSTILE)})")


def test_tables_sort_by_mouse_and_by_keyboard(pages, browser):
    browser.open(pages["compare"])
    time = browser.ask("[...document.querySelectorAll('thead button')].findIndex(b => b.innerText == 'time')")
    header = f"document.querySelectorAll('table.sortable thead th')[{time}]"
    browser.ask(f"{header}.querySelector('button').click()")
    assert browser.ask(f"{header}.getAttribute('aria-sort')") == "ascending"
    numbers = list(map(float, browser.ask(COLUMN.format(time))))
    assert numbers == sorted(numbers)
    browser.ask(f"{header}.querySelector('button').focus()")
    browser.press("Enter", 13, "\r")
    assert browser.ask(f"{header}.getAttribute('aria-sort')") == "descending"
    assert list(map(float, browser.ask(COLUMN.format(time)))) == numbers[::-1]
    browser.ask("document.querySelectorAll('table.sortable thead th')[0].querySelector('button').click()")
    names = browser.ask(COLUMN.format(0))
    assert names == sorted(names, key=str.lower)
    assert browser.ask(f"{header}.getAttribute('aria-sort')") == "none"
    browser.ask("document.activeElement.blur()")
    browser.press("Tab", 9)
    assert browser.ask("document.activeElement.tagName") in ("A", "BUTTON", "DIV")


def test_missing_values_stay_last(pages, browser):
    browser.open(pages["reproduce"])
    table = "[...document.querySelectorAll('table.sortable')].find(t => t.tHead.innerText.startsWith('k'))"
    for _ in range(2):
        browser.ask(f"{table}.querySelector('button').click()")
        assert browser.ask(f"[...{table}.tBodies[0].rows].at(-1).cells[0].innerText") == "Avg"

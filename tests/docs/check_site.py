"""The site that ``make docs`` has built, as a reader meets it: ``make docs-check``.

    python tests/docs/check_site.py docs/site/_build/html [pictures]

Every link and picture of every page leads somewhere, and nothing is loaded from elsewhere. In a headless Chromium,
pages of each kind load without an error and fit the screen in three widths, light and dark, wide tables say that they
scroll, and the search finds a parameter. With a second argument, pictures of these pages are written there.
"""

import sys
import threading
import time
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

sys.path.insert(0, str(Path(__file__).parents[1] / "report"))
from browser import Browser, find_browser

PAGES = {
    "start": "index.html",
    "which-method": "which-method.html",
    "guide": "guide/index.html",
    "page": "guide/large-data.html",
    "gallery": "gallery/index.html",
    "example": "gallery/plot_auto.html",
    "api": "api/generated/partwise.GraphNMF.html",
    "function": "api/generated/partwise.solvers.solve_many.html",
    "inside": "inside/methods.html",
}
WIDTHS = (390, 800, 1400)
SOUGHT = "graph_strength"
SECONDS = 20
# Buttons take this long to get the colours of a theme.
FADING = 0.3
# The first text that ends beyond the screen, unless it is in something that scrolls.
CUT_OFF = """
    [...document.querySelectorAll('.bd-article :is(p, dt, td, th, li, h1, h2, h3)')].find(e => {
        for (let box = e; !box.matches('.bd-article'); box = box.parentElement)
            if (['auto', 'scroll'].includes(getComputedStyle(box).overflowX)) return false;
        return e.getBoundingClientRect().right > innerWidth + 1;
    })?.textContent.trim().slice(0, 40) ?? ''
"""
# The beginning of the first table that is wider than its place and does not say so.
SILENT = """
    [...document.querySelectorAll('.bd-article table')].find(e => e.scrollWidth > e.clientWidth + 1 &&
        !getComputedStyle(e, '::before').content.includes('Scrolls'))?.textContent.trim().slice(0, 40) ?? ''
"""


class Page(HTMLParser):
    """What a page links to and loads, and the anchors it has."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loads, self.anchors = [], [], {""}
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if tag in ("img", "script", "source") and given.get("src"):
            self.loads.append(given["src"])
        if tag == "link" and given.get("rel") == "stylesheet":
            self.loads.append(given["href"])


def broken_links(site):
    """Sentences about links that lead nowhere, and about what would be loaded from elsewhere."""
    found = (path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts)
    pages = {path: Page(path) for path in found}
    for path, page in pages.items():
        here = path.relative_to(site)
        for address in [*page.links, *page.loads]:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                if address in page.loads and parts.scheme != "data":
                    yield f"{here} loads {address}"
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                yield f"{here} points to {address}, which is not there"
            # Pages of source mark only what their maker recognises as a definition.
            elif (
                target in pages
                and "_modules" not in target.parts
                and unquote(parts.fragment) not in pages[target].anchors
            ):
                yield f"{here} points to {address}, a place that the page does not have"


def troubles(site, address, pictures):
    """Sentences about what goes wrong in a browser."""
    with Browser(find_browser()) as browser:
        for name, page in PAGES.items():
            for width in WIDTHS:
                for scheme in ("light", "dark"):
                    browser.open(f"{address}/{page}", width=width, scheme=scheme)
                    yield from (f"{page}, {width} wide: {complaint}" for complaint in browser.complaints)
                    wide = browser.ask("document.documentElement.scrollWidth")
                    if wide > width:
                        yield f"{page} is {wide} wide on a screen of {width}"
                    if cut := browser.ask(CUT_OFF):
                        yield f"{page}, {width} wide, is cut off at “{cut}”"
                    if table := browser.ask(SILENT):
                        yield f"{page}, {width} wide, has a table that does not say that it scrolls: “{table}”"
                    loaded = (
                        "[...document.images].every(i => i.loading == 'lazy' || (i.complete && i.naturalWidth > 0))"
                    )
                    if not browser.ask(loaded):
                        yield f"{page} has a picture that does not load"
                    if pictures is not None:
                        time.sleep(FADING)
                        high = min(browser.ask("document.documentElement.scrollHeight"), 1600)
                        (pictures / f"{name}-{width}-{scheme}.png").write_bytes(browser.picture(width, high, 1))
        browser.open(f"{address}/search.html?q={SOUGHT}")
        deadline = time.monotonic() + SECONDS
        while not browser.ask("document.querySelectorAll('#search-results li a').length"):
            if time.monotonic() > deadline:
                yield f"the search does not find {SOUGHT}"
                break
            time.sleep(0.2)
        yield from (f"search: {complaint}" for complaint in browser.complaints)


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    def log_message(self, *arguments):
        pass


class Server(ThreadingHTTPServer):
    """Serves a browser, which may leave a page before all of it has come."""

    def handle_error(self, request, client_address):
        pass


def main(site, pictures=None):
    found = list(broken_links(site))
    if find_browser() is None:
        print("No Chromium is installed, so only links were checked.")
    else:
        server = Server(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        found += troubles(site, f"http://127.0.0.1:{server.server_port}", pictures)
        server.shutdown()
    for sentence in found:
        print(sentence)
    print(f"{len(list(site.rglob('*.html')))} pages, {len(found)} complaints")
    return bool(found)


if __name__ == "__main__":
    folders = [Path(argument) for argument in sys.argv[1:]]
    for folder in folders[1:]:
        folder.mkdir(parents=True, exist_ok=True)
    sys.exit(main(folders[0].resolve(), *folders[1:]))

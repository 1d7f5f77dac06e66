"""One self-contained page: it includes its style and its script, and may load nothing."""

from __future__ import annotations

import base64
import hashlib
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files

from ..plots.markup import Child, Markup, element, join

LIBRARIES = ("partwise", "numpy", "scipy", "scikit-learn", "numba")


@dataclass(frozen=True)
class Section:
    """A part of the page.

    Attributes
    ----------
    key : str
        Its anchor.
    title : str
    body : tuple of str or Markup
    note : str
        A sentence or two under the title.
    """

    key: str
    title: str
    body: tuple[Child, ...]
    note: str = ""


def page(title: str, subtitle: str, sections: Sequence[Section], lead: Child = None) -> str:
    """The whole document.

    Parameters
    ----------
    title, subtitle : str
    sections : sequence of Section
        Those with an empty body are left out.
    lead : Markup, optional
        Shown above the list of sections.
    """
    shown = [section for section in sections if any(child is not None for child in section.body)]
    style, script = _resource("page.css"), _resource("page.js")
    # Only what is written here may be loaded or run, whatever names and labels contain.
    policy = f"default-src 'none'; img-src data:; style-src '{_digest(style)}'; script-src '{_digest(script)}'"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", style),
    )
    links = [element("li", element("a", section.title, href=f"#{section.key}")) for section in shown]
    body = element(
        "body",
        element("header", element("h1", title), lead, element("p", subtitle, class_="muted")),
        element("nav", element("ul", *links), aria_label="Sections"),
        element("main", *map(_section, shown)),
        element("footer", element("p", "Made by partwise. This page loads nothing from elsewhere.", class_="muted")),
        element("script", script),
    )
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def settings_list(settings: Mapping[str, str]) -> Markup:
    """Names and values, one below another."""
    return element(
        "dl",
        join(join([element("dt", name), element("dd", value)]) for name, value in settings.items()),
        class_="facts",
    )


def versions() -> dict[str, str]:
    """Of everything that computes."""
    found = {"Python": f"{platform.python_version()} on {platform.system()} {platform.machine()}"}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # run from source, not installed
            from .. import __version__

            found[name] = __version__
    return found


def _section(section: Section) -> Markup:
    note = element("p", section.note, class_="muted") if section.note else None
    return element(
        "section",
        element("h2", section.title, id=f"{section.key}-title"),
        note,
        *section.body,
        id=section.key,
        aria_labelledby=f"{section.key}-title",
    )


def _resource(name: str) -> Markup:
    return Markup(files(__package__).joinpath(name).read_text("utf-8"))


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"

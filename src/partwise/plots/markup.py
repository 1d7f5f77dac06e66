"""Markup that its contents cannot break: text is escaped unless it is already markup."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

# Elements without an end tag.
EMPTY = frozenset({"img", "input", "meta", "br"})


class Markup(str):
    """Text that is already markup."""

    __slots__ = ()


Child = str | Markup | None


def markup(text: str) -> Markup:
    """Text as markup: markup stays, anything else is escaped, also within attributes.

    Half a character, as in a file name that is not UTF-8, is spelled out.
    """
    if isinstance(text, Markup):
        return text
    return Markup(escape(text.encode("utf-8", "backslashreplace").decode("utf-8"), quote=True))


def element(tag: str, *children: Child, **attributes: str | float | bool | None) -> Markup:
    """An element of HTML or SVG.

    Parameters
    ----------
    tag : str
    *children : str, Markup or None
        Text is escaped; None is left out.
    **attributes : str, number, bool or None
        Underscores stand for hyphens, one at the end is dropped (`class_`). True gives an attribute without a value,
        None and False none.
    """
    parts = [f"<{tag}"]
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        spelled = name.rstrip("_").replace("_", "-")
        text = f"{value:.6g}" if isinstance(value, float) else str(value)
        parts.append(f" {spelled}" if value is True else f' {spelled}="{markup(text)}"')
    parts.append(">")
    if tag not in EMPTY:
        parts += [markup(child) for child in children if child is not None]
        parts.append(f"</{tag}>")
    return Markup("".join(parts))


def join(children: Iterable[Child]) -> Markup:
    """Children one after another."""
    return Markup("".join(markup(child) for child in children if child is not None))

"""Results as a notebook shows them: tables, and pictures where matplotlib is installed."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from .markup import Child, Markup, element
from .saving import picture_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def view(*children: Child) -> str:
    """Children one below another; None is left out."""
    return element("div", *children)


def table(columns: Mapping[str, Sequence[object]], caption: str = "", chosen: int | None = None) -> Markup:
    """A table from its columns.

    Parameters
    ----------
    columns : mapping of str to sequence
        What is shown, by the names of the columns; numbers with four significant digits.
    caption : str
    chosen : int, optional
        A row in bold.
    """
    head = [element("th", name, scope="col") for name in columns]
    rows = []
    for i, row in enumerate(zip(*columns.values(), strict=True)):
        cells = [element("strong", _shown(entry)) if i == chosen else _shown(entry) for entry in row]
        rows.append(element("tr", *(element("td", cell) for cell in cells)))
    above = element("caption", caption, style="caption-side: top; text-align: left") if caption else None
    return element("table", above, element("thead", element("tr", *head)), element("tbody", *rows))


def picture(draw: Callable[[], Figure], alt: str) -> Markup | None:
    """A figure as an image inside the page; None without matplotlib."""
    if find_spec("matplotlib") is None:
        return None
    content = base64.b64encode(picture_bytes(draw())).decode("ascii")
    return element("img", src=f"data:image/png;base64,{content}", alt=alt, style="max-width: 100%")


def _shown(entry: object) -> str:
    return f"{entry:.4g}" if isinstance(entry, float) else str(entry)

"""Tables of the page: sortable by their headers, or shaded by their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..core.types import Array
from ..plots.markup import Child, Markup, element
from .images import picture

SHADE_STEPS = 10
# A shaded table with more rows or columns than this is drawn as a picture.
LARGEST_SHADED = 24


@dataclass(frozen=True)
class Entry:
    """One cell of a table.

    Attributes
    ----------
    shown : str or Markup
    value : float or str, optional
        The key by which the column is sorted; None goes to the end. By default what is shown.
    best : bool
        Marked.
    kind : str
        Class of the cell; "text" is set flush left.
    """

    shown: Child
    value: float | str | None = ""
    best: bool = False
    kind: str = ""


def sortable(head: Sequence[str], rows: Sequence[Sequence[Entry]], caption: str) -> Markup:
    """A table whose columns are sorted by buttons in its head; the first column names the rows."""
    kinds = ["text" if row and row[j].kind == "text" else None for j in range(len(head)) for row in rows[:1] or [[]]]
    buttons = [
        element("th", element("button", label, type="button"), scope="col", aria_sort="none", class_=kind)
        for label, kind in zip(head, kinds, strict=True)
    ]
    body = [element("tr", *(_cell(entry, j == 0) for j, entry in enumerate(row))) for row in rows]
    table = element(
        "table",
        element("caption", caption),
        element("thead", element("tr", *buttons)),
        element("tbody", *body),
        class_="sortable",
    )
    # A scrolling region must be reachable by keyboard.
    return element("div", table, class_="scroll", tabindex=0, role="region", aria_label=caption)


def _cell(entry: Entry, names_row: bool) -> Markup:
    value = entry.shown if entry.value == "" else entry.value
    text = None if value is None else f"{value:.10g}" if isinstance(value, float | int) else str(value)
    shown = element("strong", entry.shown, title="best") if entry.best else entry.shown
    kind = " ".join(filter(None, [entry.kind, "best" if entry.best else ""])) or None
    if names_row:
        return element("th", shown, scope="row", data_value=text, class_=kind)
    return element("td", shown, data_value=text, class_=kind)


def shaded(
    values: Array, row_names: Sequence[str], column_names: Sequence[str], corner: str, caption: str, form: str = "{:g}"
) -> Markup:
    """Numbers on a background that darkens with them; very large tables become a picture.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns)
        NaN where there is nothing.
    row_names, column_names : sequence of str
    corner : str
        What rows and columns are.
    caption : str
    form : str
        Format of the numbers.
    """
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    shares = np.nan_to_num((values - low) / (high - low if high > low else 1.0))
    if max(values.shape) > LARGEST_SHADED:
        image = picture(shares, caption, full=1.0, class_="wide")
        return element("figure", element("figcaption", f"{caption} ({corner})"), image)
    head = [element("th", corner, scope="col"), *(element("th", text, scope="col") for text in column_names)]
    body = []
    for label, line, steps in zip(row_names, values, np.round(shares * SHADE_STEPS).astype(int), strict=True):
        cells = [
            element("td", form.format(number) if np.isfinite(number) else "", class_=f"h{step}")
            for number, step in zip(line.tolist(), steps.tolist(), strict=True)
        ]
        body.append(element("tr", element("th", label, scope="row"), *cells))
    table = element(
        "table",
        element("caption", caption),
        element("thead", element("tr", *head)),
        element("tbody", *body),
        class_="shaded",
    )
    return element("div", table, class_="scroll", tabindex=0, role="region", aria_label=caption)

"""Charts as SVG that takes its colours from the page, light or dark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..core.types import Array, IntArray
from ..plots.markup import Markup, element, join
from .axes import Axis, axis, name

WIDTH, HEIGHT = 460, 290
LEFT, RIGHT, TOP, BOTTOM = 54, 20, 12, 44
# The page has this many colours; beyond that they repeat.
COLOURS = 10


@dataclass(frozen=True)
class Series:
    """A line of a chart.

    Attributes
    ----------
    name : str
    x, y : sequence of float
    colour : int
        Number of a colour of the page.
    dashed : bool
        Drawn thinner and dashed.
    marked : bool
        With a dot at every point, which shows its numbers.
    listed : bool
        Named in the legend.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    colour: int
    dashed: bool = False
    marked: bool = True
    listed: bool = True


def line_chart(
    series: Sequence[Series],
    x_label: str,
    y_label: str,
    *,
    title: str,
    log_x: bool = False,
    log_y: bool = False,
    x_ticks: Sequence[float] | None = None,
) -> Markup:
    """Lines over a common pair of axes, with a legend.

    Parameters
    ----------
    series : sequence of Series
    x_label, y_label : str
    title : str
        What the chart shows, above it and for screen readers.
    log_x, log_y : bool
    x_ticks : sequence of float, optional
        Numbers to name on the axis of x.
    """
    x, y = _axes(
        [number for line in series for number in line.x],
        [number for line in series for number in line.y],
        log_x,
        log_y,
        x_ticks,
    )
    drawn = join(_line(line, x, y) for line in series)
    legend = _legend([(line.name, line.colour, line.dashed) for line in series if line.listed])
    return _figure(title, _frame(x, y, x_label, y_label), drawn, legend=legend)


def area_chart(
    names: Sequence[str], x: Sequence[float], layers: Array, x_label: str, y_label: str, title: str
) -> Markup:
    """Non-negative layers on top of each other; the upper edge is their sum.

    Parameters
    ----------
    names : sequence of str
    x : sequence of float
    layers : ndarray of shape (n_layers, n_x)
    x_label, y_label, title : str
    """
    edges = np.vstack([np.zeros(len(x)), np.cumsum(layers, axis=0)])
    # Shares add up to 100 except for rounding, which must not lengthen the axis.
    across, up = _axes(x, [0.0, float(f"{edges.max():.9g}")], False, False, None)
    areas = []
    for j, label in enumerate(names):
        there = [(across.place(a), up.place(b)) for a, b in zip(x, edges[j + 1].tolist(), strict=True)]
        back = [(across.place(a), up.place(b)) for a, b in zip(x, edges[j].tolist(), strict=True)]
        areas.append(
            element(
                "path",
                element("title", label),
                d=_path([*there, *reversed(back)]) + "z",
                class_=f"area c{j % COLOURS}",
            )
        )
    legend = _legend([(label, j, False) for j, label in enumerate(names)])
    return _figure(title, _frame(across, up, x_label, y_label), join(areas), legend=legend)


def scatter(points: Array, groups: IntArray, names: Sequence[str], title: str) -> Markup:
    """A map of points in the colours of their groups; group −1 is grey.

    Parameters
    ----------
    points : ndarray of shape (n, 2)
    groups : ndarray of int, shape (n,)
    names : sequence of str
        Of the groups.
    title : str
    """
    side, margin = 320, 10
    low, span = points.min(axis=0), np.maximum(np.ptp(points, axis=0), 1e-300)
    places = np.round(margin + (points - low) / span * (side - 2 * margin), 1)
    dots = []
    for group in np.unique(groups).tolist():
        label, colour = ("unknown", "unknown") if group < 0 else (names[group], f"c{group % COLOURS}")
        d = "".join(f"M{a:g} {b:g}h0" for a, b in places[groups == group].tolist())
        dots.append(element("path", element("title", label), d=d, class_=f"dots {colour}"))
    svg = element("svg", *dots, viewBox=f"0 0 {side} {side}", role="img", aria_label=title)
    return element("figure", element("figcaption", title), svg, class_="map")


def colour_key(names: Sequence[str]) -> Markup:
    """Names with their colours, for several charts at once."""
    items = []
    for j, label in enumerate(names):
        dot = element("circle", cx=11, cy=5, r=5, class_=f"dot c{j % COLOURS}")
        items.append(element("li", element("svg", dot, viewBox="0 0 22 10", aria_hidden="true"), label))
    return element("ul", *items, class_="legend")


def bars(parts: Sequence[tuple[str, int, str]], title: str) -> Markup:
    """One bar divided into parts: name, number and the class of its colour."""
    total = sum(number for _, number, _ in parts)
    drawn, at = [], 0.0
    for label, number, kind in parts:
        wide = 100 * number / total if total else 0.0
        if number:
            drawn.append(
                element("rect", element("title", f"{label}: {number}"), x=at, y=0, width=wide, height=10, class_=kind)
            )
        at += wide
    return element(
        "svg", *drawn, viewBox="0 0 100 10", preserveAspectRatio="none", class_="bar", role="img", aria_label=title
    )


def _axes(
    xs: Sequence[float], ys: Sequence[float], log_x: bool, log_y: bool, x_ticks: Sequence[float] | None
) -> tuple[Axis, Axis]:
    across = axis(xs, LEFT, WIDTH - RIGHT, log=log_x, ticks=x_ticks)
    return across, axis(ys, HEIGHT - BOTTOM, TOP, log=log_y)


def _line(series: Series, x: Axis, y: Axis) -> Markup:
    kept = [(a, b) for a, b in zip(series.x, series.y, strict=True) if np.isfinite(b)]
    places = [(x.place(a), y.place(b)) for a, b in kept]
    colour = f"c{series.colour % COLOURS}"
    drawn = [element("path", d=_path(places), class_=f"line {colour}{' dashed' if series.dashed else ''}")]
    if series.marked:
        drawn += [
            element(
                "circle",
                element("title", f"{series.name}: {b:.4g} at {a:g}"),
                cx=cx,
                cy=cy,
                r=3,
                class_=f"dot {colour}",
            )
            for (a, b), (cx, cy) in zip(kept, places, strict=True)
        ]
    return join(drawn)


def _path(places: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{a:g} {b:g}" for a, b in places) if places else ""


def _frame(x: Axis, y: Axis, x_label: str, y_label: str) -> Markup:
    """Grid, numbers and labels."""
    floor = HEIGHT - BOTTOM
    drawn = []
    for tick in y.ticks:
        at = y.place(tick)
        drawn += [
            element("path", d=f"M{LEFT} {at:g}H{WIDTH - RIGHT}", class_="grid"),
            element("text", name(tick), x=LEFT - 7, y=at + 4, class_="tick end"),
        ]
    for tick in x.ticks:
        at = x.place(tick)
        drawn += [
            element("path", d=f"M{at:g} {floor}v4", class_="grid"),
            element("text", name(tick), x=at, y=floor + 17, class_="tick middle"),
        ]
    drawn += [
        element("text", x_label, x=(LEFT + WIDTH - RIGHT) / 2, y=HEIGHT - 8, class_="label middle"),
        element(
            "text",
            y_label,
            x=-(TOP + floor) / 2,
            y=13,
            transform="rotate(-90)",
            class_="label middle",
        ),
    ]
    return join(drawn)


def _legend(entries: Sequence[tuple[str, int, bool]]) -> Markup:
    items = []
    for label, colour, dashed in entries:
        sample = element(
            "svg",
            element("path", d="M1 5H21", class_=f"line c{colour % COLOURS}{' dashed' if dashed else ''}"),
            viewBox="0 0 22 10",
            aria_hidden="true",
        )
        items.append(element("li", sample, label))
    return element("ul", *items, class_="legend")


def _figure(title: str, *drawn: Markup, legend: Markup) -> Markup:
    svg = element("svg", *drawn, viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img", aria_label=title)
    return element("figure", element("figcaption", title), svg, legend, class_="chart")

"""Curves with error bars, paths of a choice, and consensus matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..core.types import Array
from .canvas import DPI, INK, MUTED, PAPER, RULE, SHADES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..selection.record import Path

# In pixels.
PANEL_WIDTH, PANEL_HEIGHT, MATRIX = 380, 300, 560
# One line per start.
LINES, STARTS = (SHADES[4], SHADES[2]), ("the method's own start", "start from k-means")


@dataclass(frozen=True, eq=False)
class Curve:
    """A line of a figure: values over places, with the half length of error bars."""

    name: str
    places: Array
    values: Array
    error: Array | None = None


def draw_curves(curves: Sequence[Curve], label: str) -> Figure:
    """One panel per curve, side by side.

    Parameters
    ----------
    curves : sequence of Curve
    label : str
        What the places are.

    Returns
    -------
    figure : matplotlib.figure.Figure
    """
    figure, panels = _panels(1, len(curves))
    for panel, curve in zip(panels[0], curves, strict=True):
        panel.errorbar(curve.places, curve.values, curve.error, color=INK, marker="o", markersize=3, capsize=2)
        panel.set_title(curve.name, size=9, color=INK)
        panel.set_xlabel(label, size=8, color=MUTED)
    return figure


def draw_paths(paths: Sequence[Path]) -> Figure:
    """One row per parameter, one panel per criterion; the choice is a vertical line.

    Parameters
    ----------
    paths : sequence of partwise.selection.Path

    Returns
    -------
    figure : matplotlib.figure.Figure
    """
    figure, panels = _panels(len(paths), max(len(_curves(path)) for path in paths))
    for path, row in zip(paths, panels, strict=True):
        curves = _curves(path)
        places, logarithmic = _places(path.values)
        chosen = places[int(np.flatnonzero(path.values == path.chosen)[0])]
        for panel, (name, values) in zip(row, curves.items(), strict=True):
            for start, column in enumerate(values.T):
                panel.plot(places, column, color=LINES[start], marker="o", markersize=3, label=STARTS[start])
            panel.axvline(chosen, color=MUTED, linewidth=0.8, linestyle="--")
            decides = " (decides)" if name in path.decided_by else ""
            panel.set_title(f"{name}{decides}", size=9, color=INK)
            panel.set_xlabel(path.parameter, size=8, color=MUTED)
            if logarithmic:
                panel.set_xscale("log")
                if path.values[0] == 0:
                    panel.set_xticks([places[0], *places[1::2]], ["0", *(f"{value:g}" for value in path.values[1::2])])
                    panel.minorticks_off()
                    panel.tick_params(axis="x", labelrotation=90)
        if next(iter(curves.values())).shape[1] > 1:
            row[0].legend(fontsize=6, frameon=False, labelcolor=MUTED)
    return figure


def _curves(path: Path) -> dict[str, Array]:
    """A line per start for every criterion and for stability; a single line for predictions."""
    if path.decided_by == ("prediction",):
        return {name: path.worth(name)[:, None] for name in path.criteria}
    return {**path.criteria, "stability": path.stability[:, None]}


def draw_consensus(matrix: Array, cophenetic: float) -> Figure:
    """The matrix as a picture, from 0 (never together) to 1 (always).

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        In the order in which it is shown.
    cophenetic : float
        Goes into the title.

    Returns
    -------
    figure : matplotlib.figure.Figure
    """
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.figure import Figure

    figure = Figure(figsize=(MATRIX / DPI, MATRIX / DPI), dpi=DPI, facecolor=PAPER, layout="constrained")
    panel = figure.add_subplot()
    shades = LinearSegmentedColormap.from_list("partwise", SHADES)
    image = panel.imshow(matrix, cmap=shades, vmin=0, vmax=1, interpolation="nearest")
    panel.set_title(f"share of runs together, cophenetic correlation {cophenetic:.3f}", size=8, color=INK)
    panel.set_xticks([])
    panel.set_yticks([])
    bar = figure.colorbar(image, ax=panel, shrink=0.8)
    bar.ax.tick_params(labelsize=7, colors=MUTED)
    return figure


def _places(values: Array) -> tuple[Array, bool]:
    """Where values lie on an axis, and whether it is logarithmic; zero then lies a step below the rest."""
    positive = values[values > 0]
    if len(positive) < 3 or positive[-1] < 50 * positive[0]:
        return values, False
    if values[0] > 0:
        return values, True
    return np.concatenate([[positive[0] ** 2 / positive[1]], positive]), True


def _panels(n_rows: int, n_columns: int) -> tuple[Figure, Array]:
    from matplotlib.figure import Figure

    size = (n_columns * PANEL_WIDTH / DPI, n_rows * PANEL_HEIGHT / DPI)
    figure = Figure(figsize=size, dpi=DPI, facecolor=PAPER, layout="constrained")
    panels = figure.subplots(n_rows, n_columns, squeeze=False)
    for panel in panels.ravel():
        panel.tick_params(labelsize=7, colors=MUTED)
        for spine in panel.spines.values():
            spine.set_color(RULE)
    return figure, panels

"""Figures without a window: curves with error bars, paths of a choice, and consensus matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..core.types import Array
from .canvas import DPI, INK, MUTED, PAPER, check_installed
from .choices import ConsensusDisplay, SelectionDisplay
from .panels import count_along, soften

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..selection.record import Path

# In pixels.
PANEL_WIDTH, PANEL_HEIGHT, MATRIX = 380, 300, 560


@dataclass(frozen=True, eq=False)
class Curve:
    """A line of a figure.

    Attributes
    ----------
    name : str
        The title of its panel.
    places, values : ndarray of shape (n,)
        What is drawn over what.
    error : ndarray of shape (n,), optional
        Half the length of the error bars.
    """

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
    figure = _figure(len(curves) * PANEL_WIDTH, PANEL_HEIGHT)
    for panel, curve in zip(figure.subplots(1, len(curves), squeeze=False)[0], curves, strict=True):
        panel.errorbar(curve.places, curve.values, curve.error, color=INK, marker="o", markersize=3, capsize=2)
        panel.set_title(curve.name, size=9, color=INK)
        panel.set_xlabel(label, size=8, color=MUTED)
        count_along(panel, curve.places)
        soften(panel)
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
    display = SelectionDisplay(paths)
    n_rows, n_columns = display.shape
    figure = _figure(n_columns * PANEL_WIDTH, n_rows * PANEL_HEIGHT)
    display.plot(figure.subplots(n_rows, n_columns, squeeze=False))
    return figure


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
    figure = _figure(MATRIX, MATRIX)
    ConsensusDisplay(matrix, cophenetic).plot(figure.add_subplot())
    return figure


def _figure(width: int, height: int) -> Figure:
    check_installed()
    from matplotlib.figure import Figure

    return Figure(figsize=(width / DPI, height / DPI), dpi=DPI, facecolor=PAPER, layout="constrained")

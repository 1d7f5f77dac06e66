"""Why a parameter was chosen, and how far repeated fits agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.types import Array
from .canvas import INK, MUTED, SHADES, shading
from .fitted import attribute
from .panels import blank, count_along, one_panel, panels, soften

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage
    from matplotlib.lines import Line2D

    from ..selection.consensus import Consensus
    from ..selection.record import Path

# One line per start.
LINES, MARKERS = (SHADES[4], SHADES[2], SHADES[3]), ("o", "o", "^")
STARTS = "the method's own start", "start from k-means", "start from the cut of the graph"


@dataclass(eq=False, repr=False)
class SelectionDisplay:
    """The criteria along the path of every chosen parameter; the choice is a vertical line.

    Use :meth:`from_estimator` to make one from a fitted model.

    Parameters
    ----------
    paths : sequence of partwise.selection.Path

    Attributes
    ----------
    figure_ : matplotlib Figure
    axes_ : ndarray of matplotlib Axes
        A row per parameter, a column per criterion.
    lines_ : list of matplotlib Line2D
        The criteria, panel by panel.
    choices_ : list of matplotlib Line2D
        The choices, panel by panel.
    """

    paths: Sequence[Path]

    figure_: Figure = field(init=False, repr=False)
    axes_: Array = field(init=False, repr=False)
    lines_: list[Line2D] = field(init=False, repr=False)
    choices_: list[Line2D] = field(init=False, repr=False)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> SelectionDisplay:
        """Draw what "auto" compared.

        Parameters
        ----------
        estimator : estimator
            A fitted model with `selection_`.
        ax : matplotlib Axes or array-like of Axes, optional

        Returns
        -------
        display : SelectionDisplay
        """
        selection = attribute(estimator, "selection_")
        if not selection.paths:
            raise ValueError(f"There is no path to draw, because nothing was chosen: {selection}.")
        return cls(selection.paths).plot(ax)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the panels."""
        return len(self.paths), max(len(_curves(path)) for path in self.paths)

    def plot(self, ax: Any = None) -> SelectionDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or array-like of Axes, optional
            Where to draw: an axes for each panel, or one that is divided. By default a new figure.

        Returns
        -------
        self
        """
        self.axes_ = panels(ax, *self.shape)
        self.lines_, self.choices_ = [], []
        for path, row in zip(self.paths, self.axes_, strict=True):
            self._draw_path(path, row)
        for panel in self.axes_.flat:
            soften(panel)
        self.figure_ = self.axes_.flat[0].figure
        self._name_starts()
        return self

    def _name_starts(self) -> None:
        """A legend, if there are several starts: below the panels of a figure of their own, or else in the first."""
        look = {"fontsize": 7, "frameon": False, "labelcolor": MUTED}
        drawn = max((panel.get_legend_handles_labels()[0] for panel in self.axes_.flat), key=len)
        if len(drawn) < 2:
            return
        if self.figure_.get_layout_engine() is not None and set(self.figure_.axes) == set(self.axes_.flat):
            self.figure_.legend(handles=drawn, loc="outside lower center", ncols=len(drawn), **look)
        else:
            self.axes_.flat[0].legend(handles=drawn, **look)

    def _draw_path(self, path: Path, row: Array) -> None:
        curves = _curves(path)
        places, logarithmic = _places(path.values)
        chosen = places[int(np.flatnonzero(path.values == path.chosen)[0])]
        for panel in row[len(curves) :]:
            panel.set_axis_off()
        for panel, (name, values) in zip(row, curves.items(), strict=False):
            for start, column in enumerate(values.T):
                look = {"color": LINES[start], "marker": MARKERS[start], "markersize": 3}
                self.lines_ += panel.plot(places, column, label=STARTS[start], **look)
            self.choices_.append(panel.axvline(chosen, color=MUTED, linewidth=0.8, linestyle="--"))
            decides = " (decides)" if name in path.decided_by else ""
            panel.set_title(f"{name}{decides}", size=9, color=INK)
            panel.set_xlabel(path.parameter, size=8, color=MUTED)
            if logarithmic:
                panel.set_xscale("log")
                if path.values[0] == 0:
                    panel.set_xticks([places[0], *places[1::2]], ["0", *(f"{value:g}" for value in path.values[1::2])])
                    panel.minorticks_off()
                    panel.tick_params(axis="x", labelrotation=90)
            else:
                count_along(panel, places)


def _curves(path: Path) -> dict[str, Array]:
    """A line per start for every criterion and for stability; a single line for predictions."""
    if path.decided_by == ("prediction",):
        return {name: path.worth(name)[:, None] for name in path.criteria}
    return {**path.criteria, "stability": path.stability[:, None]}


def _places(values: Array) -> tuple[Array, bool]:
    """Where values lie on an axis, and whether it is logarithmic; zero then lies a step below the rest."""
    positive = values[values > 0]
    if len(positive) < 3 or positive[-1] < 50 * positive[0]:
        return values, False
    if values[0] > 0:
        return values, True
    return np.concatenate([[positive[0] ** 2 / positive[1]], positive]), True


@dataclass(eq=False, repr=False)
class ConsensusDisplay:
    """The share of runs in which two samples are in one cluster, from 0 (never) to 1 (always).

    Use :meth:`from_consensus` to make one from what :func:`partwise.selection.consensus` returns.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        In the order in which it is shown.
    cophenetic : float
        Cophenetic correlation, for the title.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    image_ : matplotlib AxesImage
    """

    matrix: Array
    cophenetic: float

    figure_: Figure = field(init=False, repr=False)
    ax_: Axes = field(init=False, repr=False)
    image_: AxesImage = field(init=False, repr=False)

    @classmethod
    def from_consensus(cls, consensus: Consensus, *, ax: Axes | None = None) -> ConsensusDisplay:
        """Draw a consensus with samples of one cluster adjacent.

        Parameters
        ----------
        consensus : partwise.selection.Consensus
        ax : matplotlib Axes, optional

        Returns
        -------
        display : ConsensusDisplay
        """
        order = consensus.order
        return cls(consensus.matrix[np.ix_(order, order)], consensus.cophenetic_correlation).plot(ax)

    def plot(self, ax: Axes | None = None) -> ConsensusDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default into a new figure.

        Returns
        -------
        self
        """
        self.ax_ = one_panel(ax, (4.2, 4.2))
        self.figure_ = self.ax_.figure  # type: ignore[assignment]  # the figure, not a part of it
        self.image_ = self.ax_.imshow(self.matrix, cmap=shading(), vmin=0, vmax=1, interpolation="nearest")
        title = f"share of runs together, cophenetic correlation {self.cophenetic:.3f}"
        self.ax_.set_title(title, size=8, color=INK)
        blank(self.ax_)
        bar = self.figure_.colorbar(self.image_, ax=self.ax_, shrink=0.8)
        bar.ax.tick_params(labelsize=7, colors=MUTED)
        return self

"""Where displays draw: into a new figure, one given axes, or one given axes per panel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.types import Array
from .canvas import MUTED, RULE, check_installed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# In inches.
PANEL_WIDTH, PANEL_HEIGHT = 3.2, 2.5


def one_panel(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """The given axes, or the axes of a new figure of this size in inches."""
    if ax is not None:
        return ax
    check_installed()
    from matplotlib import pyplot

    return pyplot.subplots(figsize=size, layout="constrained")[1]


def panels(ax: Any, n_rows: int, n_columns: int) -> Array:
    """Axes for a display of several panels.

    Parameters
    ----------
    ax : None, Axes or array-like of Axes
        None makes a figure. A single axes is hidden, and its place is divided. An array has one axes per panel.
    n_rows, n_columns : int

    Returns
    -------
    axes : ndarray of Axes, shape (n_rows, n_columns)
    """
    if ax is None:
        check_installed()
        from matplotlib import pyplot

        size = (n_columns * PANEL_WIDTH, n_rows * PANEL_HEIGHT)
        return np.asarray(pyplot.subplots(n_rows, n_columns, figsize=size, squeeze=False, layout="constrained")[1])
    given = np.asarray(ax, dtype=object)
    if given.ndim:
        if given.size != n_rows * n_columns:
            raise ValueError(f"ax holds {given.size} axes; this display needs {n_rows * n_columns}, or a single one.")
        return given.reshape(n_rows, n_columns)
    if n_rows * n_columns == 1:
        return given.reshape(1, 1)
    ax.set_axis_off()
    return np.asarray(
        ax.get_subplotspec().subgridspec(n_rows, n_columns, wspace=0.35, hspace=0.5).subplots(squeeze=False)
    )


def soften(panel: Axes) -> None:
    """Quiet frames and numbers, so that the data stand out."""
    panel.tick_params(which="both", labelsize=8, colors=MUTED)
    for spine in panel.spines.values():
        spine.set_color(RULE)


def count_along(panel: Axes, places: Array) -> None:
    """No numbers between whole ones below a panel that has curves over whole numbers."""
    from matplotlib.ticker import MaxNLocator

    if (np.asarray(places) % 1 == 0).all():
        panel.xaxis.set_major_locator(MaxNLocator("auto", integer=True))


def blank(panel: Axes) -> None:
    """A panel without numbers along its sides, for pictures and maps."""
    panel.set_xticks([])
    panel.set_yticks([])
    for spine in panel.spines.values():
        spine.set_visible(False)

"""How stable and how good components are, for every number of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..core.types import Array
from .canvas import INK, MUTED, SHADES
from .fitted import attribute
from .panels import count_along, one_panel, soften

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer
    from matplotlib.figure import Figure

# In inches.
SIZE = (4.2, 2.8)


@dataclass(eq=False, repr=False)
class StabilityDisplay:
    """Two curves over the number of components: the stability of the components, and the loss on hidden entries.

    Use :meth:`from_estimator` to make one from a fitted :class:`partwise.selection.ConsensusNMF`.

    Parameters
    ----------
    n_components : ndarray of int, shape (n_ranks,)
    stability, stability_error, loss, loss_error : ndarray of shape (n_ranks,)
        Values, and the half lengths of their error bars.
    chosen : int
        Marked by a vertical line.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
        With the stability.
    loss_ax_ : matplotlib Axes
        With the loss, over the same numbers.
    curves_ : list of matplotlib ErrorbarContainer
        Of the stability and of the loss.
    """

    n_components: Array
    stability: Array
    stability_error: Array
    loss: Array
    loss_error: Array
    chosen: int

    figure_: Figure = field(init=False, repr=False)
    ax_: Axes = field(init=False, repr=False)
    loss_ax_: Axes = field(init=False, repr=False)
    curves_: list[ErrorbarContainer] = field(init=False, repr=False)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> StabilityDisplay:
        """Draw what a fitted model compared.

        Parameters
        ----------
        estimator : ConsensusNMF
            With `rank_stability_`.
        ax : matplotlib Axes, optional

        Returns
        -------
        display : StabilityDisplay
        """
        found = attribute(estimator, "rank_stability_")
        given = found.n_components, found.stability, found.stability_error, found.loss, found.loss_error
        return cls(*given, found.chosen).plot(ax)

    def plot(self, ax: Axes | None = None) -> StabilityDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            By default those of a new figure.

        Returns
        -------
        self
        """
        self.ax_ = one_panel(ax, SIZE)
        self.loss_ax_ = self.ax_.twinx()
        curves = (
            (self.ax_, self.stability, self.stability_error, INK, "stability of components"),
            (self.loss_ax_, self.loss, self.loss_error, SHADES[2], "loss on hidden entries"),
        )
        self.curves_ = []
        for panel, values, error, colour, name in curves:
            curve = panel.errorbar(self.n_components, values, error, color=colour, marker="o", markersize=3, capsize=2)
            self.curves_.append(curve)
            panel.set_ylabel(name, size=8, color=colour)
            soften(panel)
        self.loss_ax_.spines["right"].set_visible(True)
        self.ax_.axvline(self.chosen, color=MUTED, linewidth=0.8, linestyle="--")
        count_along(self.ax_, self.n_components)
        self.ax_.set_xlabel("number of components", size=8, color=MUTED)
        self.figure_ = self.ax_.figure  # type: ignore[assignment]
        return self

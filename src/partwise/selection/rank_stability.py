"""The evidence for a number of components: how stable they are over many fits, and how well they predict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..core.types import Array, IntArray
from ..plots.canvas import check_installed
from ..plots.stability import SIZE, StabilityDisplay
from ..plots.views import picture, table, view
from .programs import Programs, TooFewAgree
from .ranks import EntryValidation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Stabilities that differ by no more count as the same.
ABOUT = 0.05


@dataclass(frozen=True, eq=False)
class RankStability:
    """How stable and how good the components are, for every number of them.

    Attributes
    ----------
    n_components : ndarray of int, shape (n_ranks,)
    stability, stability_error : ndarray of shape (n_ranks,)
        Mean silhouette of the components of single fits, and its standard error; NaN where the fits do not agree on as
        many components.
    loss, loss_error : ndarray of shape (n_ranks,)
        Mean loss per hidden entry, and its standard error.
    chosen : int
        Among the numbers whose loss exceeds the lowest by at most the standard error of the difference, the largest
        whose components are about as stable as the most stable ones.
    """

    n_components: IntArray
    stability: Array
    stability_error: Array
    loss: Array
    loss_error: Array
    chosen: int

    @property
    def in_words(self) -> str:
        """Which numbers are best, in a sentence."""
        most_stable = int(self.n_components[np.nanargmax(self.stability)])
        best = int(self.n_components[self.loss.argmin()])
        stability = float(np.nanmax(self.stability))
        return f"{most_stable} components are the most stable ({stability:.2f}), and {best} predict entries best."

    def _repr_html_(self) -> str:
        """A row per number of components, and the plot."""
        ranks = self.n_components.tolist()
        columns = {
            "components": ranks,
            "stability": self.stability.tolist(),
            "± standard error": self.stability_error.tolist(),
            "loss on hidden entries": self.loss.tolist(),
        }
        drawn = picture(self.plot, "Stability and loss for each number of components")
        return view(table(columns, chosen=ranks.index(self.chosen)), drawn)

    def plot(self) -> Figure:
        """Draw both curves with their error bars. Needs matplotlib.

        Returns
        -------
        figure : matplotlib.figure.Figure
        """
        check_installed()
        from matplotlib.figure import Figure

        given = self.n_components, self.stability, self.stability_error, self.loss, self.loss_error
        figure = Figure(figsize=SIZE, layout="constrained")  # not of pyplot: notebooks show it once
        StabilityDisplay(*given, self.chosen).plot(figure.add_subplot())
        return figure


def compared(programs: dict[int, Programs | TooFewAgree], validation: EntryValidation) -> RankStability:
    """The evidence for every number of components, and the choice.

    Parameters
    ----------
    programs : dict of int to Programs or TooFewAgree
    validation : EntryValidation

    Raises
    ------
    TooFewAgree
        If the fits agree on no number of components.
    """
    found = list(programs.values())
    if all(isinstance(each, TooFewAgree) for each in found):
        raise found[0]  # type: ignore[misc]
    worth = [(np.nan,) * 2 if isinstance(each, TooFewAgree) else _worth(each) for each in found]
    stability, errors = np.array(worth).T
    usable = ~np.isnan(stability)
    losses = validation.losses
    # All numbers are judged by the same hidden entries, so that what these have in common cancels.
    beyond = losses - losses[np.where(usable, validation.mean, np.inf).argmin()]
    good = usable & (beyond.mean(axis=1) <= beyond.std(axis=1, ddof=1) / np.sqrt(beyond.shape[1]))
    # Few components are stable whatever the data, and predictions err towards few: as stable is good enough.
    stable = good & (stability >= stability[good].max() - ABOUT)
    chosen = int(validation.n_components[stable].max())
    return RankStability(validation.n_components, stability, errors, validation.mean, validation.error, chosen)


def _worth(programs: Programs) -> tuple[float, float]:
    return programs.mean_stability, programs.mean_stability_error

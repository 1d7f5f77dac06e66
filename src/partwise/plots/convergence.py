"""How the objective of a fit fell, by sweep and by time, and what its terms contributed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.types import Array
from .canvas import INK, MUTED, PALETTE
from .fitted import attribute
from .panels import panels, soften
from .views import table, view

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

Record = Mapping[str, Sequence[float]]
NOT_TERMS = ("objective", "time")
# Values this close to the last one, as a share of the first, count as the last.
SMALLEST_EXCESS = 1e-8


class FitHistory(dict[str, list[float]]):
    """The objective, each of its terms and the time after every sweep: a dict, which notebooks show as a table."""

    def _repr_html_(self) -> str:
        """Where everything began and ended."""
        terms = [name for name in self if name != "time"]
        columns: dict[str, Sequence[object]] = {"": terms}
        columns |= {"start": [self[name][0] for name in terms], "end": [self[name][-1] for name in terms]}
        sweeps, seconds = len(self["time"]) - 1, self["time"][-1]
        return view(table(columns, f"{sweeps} sweeps, {seconds:.2g} seconds"))


def above_last(history: Record) -> tuple[Array, Array]:
    """How far the objective is above its last value, as a share of its first, and the sweeps of which this is known."""
    objective = np.asarray(history["objective"], np.float64)
    excess = (objective[:-1] - objective[-1]) / (abs(objective[0]) or 1.0)
    sweeps = np.flatnonzero(excess > SMALLEST_EXCESS)
    return excess[sweeps], sweeps


def terms_of(history: Record) -> dict[str, Sequence[float]]:
    """The values of every term; none if there is only one, which is the objective."""
    terms = {name: values for name, values in history.items() if name not in NOT_TERMS}
    return terms if len(terms) > 1 else {}


def term_shares(terms: Record) -> Array | None:
    """What every term contributes after each sweep, in per cent; None if one is negative."""
    values = np.array(list(terms.values()), np.float64)
    return None if (values < 0).any() else 100 * values / np.maximum(values.sum(axis=0), 1e-300)


@dataclass(eq=False, repr=False)
class ConvergenceDisplay:
    """How the objective fell, by sweep and by time, and the share of each of its terms.

    The first two panels show how far the objective is above its last value, as a share of its value at the start. A
    panel for every fit with several terms follows.

    Use :meth:`from_estimator` to make one from a fitted model, or give several histories to compare fits.

    Parameters
    ----------
    histories : mapping of str to mapping
        `history_` of fitted models, by the names to show.

    Attributes
    ----------
    figure_ : matplotlib Figure
    axes_ : ndarray of matplotlib Axes
        By sweep, by time, and terms.
    lines_ : list of matplotlib Line2D
        By sweep and by time for every history, in turn.
    terms_ : list of matplotlib artists
        Of the panels of terms.
    """

    histories: Mapping[str, Record]

    figure_: Figure = field(init=False, repr=False)
    axes_: Array = field(init=False, repr=False)
    lines_: list[Line2D] = field(init=False, repr=False)
    terms_: list[Any] = field(init=False, repr=False)

    @classmethod
    def from_estimator(cls, estimator: Any, *, name: str | None = None, ax: Any = None) -> ConvergenceDisplay:
        """Draw the course of a fit.

        Parameters
        ----------
        estimator : estimator
            Anything with `history_`.
        name : str, optional
            By default the name of its class.
        ax : matplotlib Axes or array-like of Axes, optional

        Returns
        -------
        display : ConvergenceDisplay
        """
        return cls({name or type(estimator).__name__: attribute(estimator, "history_")}).plot(ax)

    def plot(self, ax: Any = None) -> ConvergenceDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or array-like of Axes, optional
            Where to draw: an axes for each panel, or one that is divided. By default a new figure.

        Returns
        -------
        self
        """
        composed = {name: terms for name, history in self.histories.items() if (terms := terms_of(history))}
        self.axes_ = panels(ax, 1, 2 + len(composed)).ravel()
        by_sweep, by_time, *shares = self.axes_
        self.lines_, self.terms_ = [], []
        for j, (name, history) in enumerate(self.histories.items()):
            excess, sweeps = above_last(history)
            style = {"color": PALETTE[j % len(PALETTE)], "label": name}
            self.lines_ += by_sweep.plot(sweeps, excess, **style)
            self.lines_ += by_time.plot(np.asarray(history["time"])[sweeps], excess, **style)
        for panel, label in ((by_sweep, "sweep"), (by_time, "seconds")):
            panel.set_yscale("log")
            panel.set_xlabel(label, size=8, color=MUTED)
            panel.set_title("objective above its last value", size=9, color=INK)
        if len(self.histories) > 1:
            by_sweep.legend(fontsize=7, frameon=False, labelcolor=MUTED)
        for panel, (name, terms) in zip(shares, composed.items(), strict=True):
            self._draw_terms(panel, name, terms)
        for panel in self.axes_:
            soften(panel)
        self.figure_ = by_sweep.figure
        return self

    def _draw_terms(self, panel: Any, name: str, terms: Record) -> None:
        shares = term_shares(terms)
        if shares is not None:
            self.terms_ += panel.stackplot(np.arange(shares.shape[1]), shares, labels=list(terms), colors=PALETTE)
        else:
            for j, (term, values) in enumerate(terms.items()):
                self.terms_ += panel.plot(values, label=term, color=PALETTE[j % len(PALETTE)])
        panel.set_title(f"terms of {name}" + ("" if shares is None else ", in %"), size=9, color=INK)
        panel.set_xlabel("sweep", size=8, color=MUTED)
        panel.legend(fontsize=7, loc="best")
        panel.margins(x=0)

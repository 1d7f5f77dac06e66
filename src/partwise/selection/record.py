"""The record of a choice: the values tried, what each was worth, and the outcome."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.types import Array, IntArray
from ..plots import draw_paths
from ..plots.markup import Child, element
from ..plots.views import picture, table, view

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PREDICTION = "prediction"


@dataclass(frozen=True, eq=False)
class Path:
    """The values tried for one parameter.

    Attributes
    ----------
    parameter : str
    values : ndarray of shape (n_values,)
        In rising order.
    criteria : dict of str to ndarray of shape (n_values, n_starts)
        Of the clusters of every trial, larger is better: "connectedness", the share of a cluster's links to neighbours
        that stay inside, averaged over the clusters; "modularity" of the links; "information", the share of
        the clusters' entropy that neighbours explain; "silhouette", on X. Where entries are missing, the only one is
        "prediction", with a column for every choice of hidden entries: by what share a fit to the other entries
        reduces the loss of predicting their mean.
    stability : ndarray of shape (n_values,)
        Adjusted Rand index between the clusters from different starts; NaN if there is one start.
    decided_by : tuple of str
        The criteria that decided.
    chosen : float
    start : int
        Which start was best in the end: 0 is that of the estimator, followed along the path or fitted afresh, 1 that
        of k-means, 2 that of the normalised cut of the graph.
    distinct : ndarray of int, shape (n_values, n_starts)
        Components of every trial that are not nearly parallel to an earlier one
        (:func:`partwise.metrics.distinct_components`). Among values whose clusters are about as good, the one with most
        is chosen. None if predictions decide.
    cut_short : bool
        A budget was spent before all values were tried; the choice is among those that were.
    """

    parameter: str
    values: Array
    criteria: dict[str, Array]
    stability: Array
    decided_by: tuple[str, ...]
    chosen: Any
    start: int
    distinct: IntArray | None = None
    cut_short: bool = False

    def columns(self) -> dict[str, list[str]]:
        """What every value is worth by each criterion, spelled."""
        spelled = {name: [f"{number:.4f}" for number in self.worth(name)] for name in self.criteria}
        if self.distinct is not None:
            spelled["stability"] = [f"{number:.4f}" for number in self.stability]
            spelled["distinct"] = [str(count) for count in self.distinct.max(axis=1)]
        return spelled

    def worth(self, criterion: str) -> Array:
        """What every value is worth: with its best start, or on the mean of the hidden entries.

        Parameters
        ----------
        criterion : str
            A key of `criteria`.
        """
        trials = self.criteria[criterion]
        return np.asarray(trials.mean(axis=1) if criterion == PREDICTION else trials.max(axis=1))


@dataclass(frozen=True, eq=False)
class Selection:
    """What "auto" became, and why.

    Attributes
    ----------
    choice : dict
        The value of every parameter that was open.
    paths : tuple of Path
        One per parameter, in the order in which they were chosen; a parameter not yet chosen had a fixed value
        meanwhile.
    n_rows : int
        Samples on which the choice was made; 0 if none was.
    n_samples : int
        Samples of the final fit.
    not_chosen : dict of str to str
        Open parameters for which there was nothing to compare, and why; their values are defaults.
    """

    choice: dict[str, Any]
    paths: tuple[Path, ...]
    n_rows: int
    n_samples: int
    not_chosen: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        """A table per parameter that was chosen, a line for any other."""
        tables = self._defaults()
        for path in self.paths:
            columns, lines = path.columns(), [self._headline(path)]
            lines.append("  ".join([f"{path.parameter:>20s}", *(f"{name:>14s}" for name in columns)]))
            for i, value in enumerate(path.values):
                numbers = "  ".join(f"{column[i]:>14s}" for column in columns.values())
                lines.append(f"{value:>20g}  {numbers}" + (" <" if value == path.chosen else ""))
            tables.append("\n".join(lines))
        return "\n\n".join(tables)

    __repr__ = __str__

    def _defaults(self) -> list[str]:
        return [f"{name} = {self.choice[name]:g} ({reason})" for name, reason in self.not_chosen.items()]

    def _headline(self, path: Path) -> str:
        by = " and ".join(path.decided_by)
        line = f"{path.parameter} = {path.chosen:g}, by {by}, on {self.n_rows} of {self.n_samples} samples"
        return line + (", among the values that the budget allowed" if path.cut_short else "")

    def _repr_html_(self) -> str:
        """The same tables with the choice in bold, and the plot."""
        shown: list[Child] = [element("p", line) for line in self._defaults()]
        for path in self.paths:
            columns = {path.parameter: [f"{value:g}" for value in path.values], **path.columns()}
            chosen = int(np.flatnonzero(path.values == path.chosen)[0])
            shown.append(table(columns, self._headline(path), chosen))
        if self.paths:
            shown.append(picture(self.plot, "The criteria along the values tried"))
        return view(*shown)

    def plot(self) -> Figure:
        """Draw every criterion along every path, with the choice. Needs matplotlib.

        Returns
        -------
        figure : matplotlib.figure.Figure

        Raises
        ------
        ValueError
            If nothing was compared.
        """
        if not self.paths:
            raise ValueError(f"There is no path to draw, because nothing was chosen: {self}.")
        return draw_paths(self.paths)

"""The graph of the samples: which of them a model takes for neighbours."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from ..core.types import Array
from .canvas import INK, UNKNOWN
from .codes import finish_map, plane, scatter
from .fitted import attribute
from .panels import one_panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection, PathCollection
    from matplotlib.figure import Figure


@dataclass(eq=False, repr=False)
class GraphDisplay:
    """Samples as points and the links of a graph between them.

    Use :meth:`from_estimator` to draw the graph of a fitted model.

    Parameters
    ----------
    graph : sparse matrix of shape (n_samples, n_samples)
        Symmetric edge weights; heavier links are darker.
    points : ndarray of shape (n_samples, 2)
        Where the samples are.
    labels : array-like of shape (n_samples,), optional
        What the colours say; unknown ones (−1, NaN, None, "") are grey.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    links_ : matplotlib LineCollection
    groups_ : dict of label to matplotlib PathCollection
        The points of every label.
    """

    graph: Any
    points: Array
    labels: Any = None

    figure_: Figure = field(init=False, repr=False)
    ax_: Axes = field(init=False, repr=False)
    links_: LineCollection = field(init=False, repr=False)
    groups_: dict[Any, PathCollection] = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        points: Any = None,
        labels: Any = None,
        random_state: int = 0,
        ax: Axes | None = None,
        legend: bool = True,
    ) -> GraphDisplay:
        """Draw the graph that a model was fitted with.

        Parameters
        ----------
        estimator : estimator
            A fitted model with a graph among its terms.
        X, y : array-like
            What it was fitted to. The graph is built again, as models do not keep it. Links between all samples of a
            class (``use_labels=True``) are not drawn.
        points : array-like of shape (n_samples, 2), optional
            Where the samples are, such as places on a map; by default t-SNE of the codes.
        labels : array-like of shape (n_samples,), optional
            What the colours say; by default the clusters, `labels_`.
        random_state : int, default=0
            Of t-SNE.
        ax : matplotlib Axes, optional
        legend : bool, default=True

        Returns
        -------
        display : GraphDisplay
        """
        codes = attribute(estimator, "embedding_")
        problem = estimator.problem(X, y)
        if hasattr(estimator, "selection_"):
            problem = problem.with_values(estimator.selection_.choice)
        edges = next((term.edges for term in problem.bound if hasattr(term, "edges")), None)
        if edges is None:
            raise ValueError(f"This {type(estimator).__name__} has no graph among its terms.")
        points = plane(codes, random_state) if points is None else np.asarray(points)
        return cls(edges, points, estimator.labels_ if labels is None else labels).plot(ax, legend=legend)

    def plot(self, ax: Axes | None = None, *, legend: bool = True) -> GraphDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default into a new figure.
        legend : bool, default=True
            Name the labels, unless there are more than 20.

        Returns
        -------
        self
        """
        edges = sp.triu(sp.coo_array(self.graph), k=1)
        points = np.asarray(self.points, np.float64)
        if points.shape != (edges.shape[0], 2):
            raise ValueError(f"points has shape {points.shape}; a graph of {edges.shape[0]} samples needs two columns.")
        self.ax_ = one_panel(ax, (5.2, 4.2))
        from matplotlib.collections import LineCollection

        self.figure_ = self.ax_.figure  # type: ignore[assignment]  # the figure, not a part of it
        ends = np.stack([points[edges.row], points[edges.col]], axis=1)
        darkness = 0.15 + 0.55 * edges.data / max(edges.data.max(initial=0.0), 1e-300)
        self.links_ = LineCollection(list(ends), colors=INK, alpha=darkness, linewidths=0.5, zorder=0)
        self.ax_.add_collection(self.links_)
        if self.labels is None:
            self.groups_ = {None: self.ax_.scatter(points[:, 0], points[:, 1], s=10, color=UNKNOWN)}
        else:
            self.groups_ = scatter(self.ax_, points, self.labels, 10)
        finish_map(self.ax_, self.groups_, legend)
        return self

"""A map of the codes: samples with similar codes are close together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.types import Array
from .canvas import MUTED, PALETTE, UNKNOWN
from .fitted import attribute
from .panels import blank, one_panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.figure import Figure

PERPLEXITY = 30
# More names than this are not listed.
MOST_NAMES = 20


def plane(codes: Array, seed: int) -> Array:
    """t-SNE of codes: a place in the plane for every sample."""
    from sklearn.manifold import TSNE

    perplexity = min(PERPLEXITY, (len(codes) - 1) / 3)
    tsne = TSNE(2, init="random", perplexity=perplexity, max_iter=500, random_state=seed)
    return np.asarray(tsne.fit_transform(np.asarray(codes, np.float64)))


def some_rows(n: int, most: int, seed: int) -> Array:
    """At most `most` of n rows, in their order, chosen at random if there are more."""
    return np.sort(np.random.RandomState(seed).choice(n, min(n, most), replace=False))


def scatter(panel: Axes, points: Array, labels: Any, size: float) -> dict[Any, PathCollection]:
    """Points in the colours of their labels, by label; those of unknown labels are grey, under −1."""
    labels = np.asarray(labels)
    found = {}
    unknown = np.array([_is_unknown(label) for label in labels.tolist()], bool)
    if unknown.any():
        x, y = points[unknown].T
        found[-1] = panel.scatter(x, y, s=size, color=UNKNOWN, label="unknown", linewidths=0)
    for j, name in enumerate(_different(labels[~unknown])):
        x, y = points[~unknown & (labels == name)].T
        found[name] = panel.scatter(x, y, s=size, color=PALETTE[j % len(PALETTE)], label=str(name), linewidths=0)
    return found


def _is_unknown(label: Any) -> bool:
    """−1, nothing, an empty text, or what does not equal itself, such as NaN."""
    return label is None or (label == label) is not True or label in (-1, "")


def _different(labels: Array) -> list[Any]:
    """Every label once, in order: numbers before texts, where there are both."""
    if labels.dtype.kind == "O":
        return sorted(set(labels.tolist()), key=lambda label: (isinstance(label, str), label))
    return list(np.unique(labels))


def finish_map(panel: Axes, groups: dict[Any, PathCollection], legend: bool) -> None:
    """Equal units on both axes, no numbers, and the names of the groups, unless there are very many."""
    blank(panel)
    panel.set_aspect("equal", adjustable="datalim")
    if legend and 2 <= len(groups) <= MOST_NAMES:
        panel.legend(fontsize=7, frameon=False, labelcolor=MUTED, loc="center left", bbox_to_anchor=(1, 0.5))


@dataclass(eq=False, repr=False)
class CodesDisplay:
    """The codes of samples in the plane, by t-SNE; distances between groups mean little.

    Use :meth:`from_estimator` to make one from a fitted model.

    Parameters
    ----------
    points : ndarray of shape (n_shown, 2)
    labels : array-like of shape (n_shown,)
        What the colours say; unknown ones (−1, NaN, None, "") are grey.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    groups_ : dict of label to matplotlib PathCollection
        The points of every label.
    """

    points: Array
    labels: Any

    figure_: Figure = field(init=False, repr=False)
    ax_: Axes = field(init=False, repr=False)
    groups_: dict[Any, PathCollection] = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        labels: Any = None,
        *,
        max_samples: int = 1000,
        random_state: int = 0,
        ax: Axes | None = None,
        legend: bool = True,
    ) -> CodesDisplay:
        """Draw the codes of the training samples.

        Parameters
        ----------
        estimator : estimator
            Anything with `embedding_` and `labels_`.
        labels : array-like of shape (n_samples,), optional
            What the colours say, such as classes, with −1, NaN, None or "" where they are unknown; by default the
            clusters, `labels_`.
        max_samples : int, default=1000
            If there are more, this many are chosen at random.
        random_state : int, default=0
            Of the choice and of the map.
        ax : matplotlib Axes, optional
        legend : bool, default=True

        Returns
        -------
        display : CodesDisplay
        """
        codes = np.asarray(attribute(estimator, "embedding_"))
        labels = np.asarray(attribute(estimator, "labels_") if labels is None else labels)
        if labels.shape != codes.shape[:1]:
            raise ValueError(f"labels has shape {labels.shape}; the model has {len(codes)} training samples.")
        if len(codes) < 3:
            raise ValueError(f"The model has {len(codes)} training samples; a map needs at least 3.")
        shown = some_rows(len(codes), max_samples, random_state)
        return cls(plane(codes[shown], random_state), labels[shown]).plot(ax, legend=legend)

    def plot(self, ax: Axes | None = None, *, legend: bool = True) -> CodesDisplay:
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
        self.ax_ = one_panel(ax, (5.2, 4.2))
        self.figure_ = self.ax_.figure  # type: ignore[assignment]  # the figure, not a part of it
        self.groups_ = scatter(self.ax_, self.points, self.labels, 10)
        finish_map(self.ax_, self.groups_, legend)
        return self

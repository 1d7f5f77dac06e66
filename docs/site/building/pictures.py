"""Pictures of what penalties do, made before the pages are read.

One set of samples for all: three groups, mixtures of two parts, in 20 noisy features. Every picture shows the
codes that plain NMF gives the samples (rings), those that a method gives them, starting from there (dots), and the way
between.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import partwise
from partwise.plots.canvas import INK, PALETTE, RULE, UNKNOWN

FOLDER = Path(__file__).resolve().parents[1] / "_pictures"
GROUPS = np.array([[1.0, 0.15], [0.6, 0.6], [0.15, 1.0]])
EACH = 15


def style(settings: Any = None, example: Any = None) -> None:
    """Larger letters and no boxes around charts; the gallery's pictures are also shown as thumbnails."""
    from cycler import cycler
    from matplotlib import pyplot

    pyplot.rcParams.update(
        {
            "font.size": 12,
            "axes.titlesize": 13,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.prop_cycle": cycler(color=PALETTE),
        }
    )


def make(app: Any = None) -> None:
    """Draw every picture that is not there."""
    FOLDER.mkdir(exist_ok=True)
    missing = {name: fit for name, fit in METHODS.items() if not (FOLDER / f"{name}.svg").exists()}
    if missing:
        X, y, start = samples()
        for name, fit in missing.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                picture(start[0], fit(X, y, start), y).savefig(FOLDER / f"{name}.svg", metadata={"Date": None})


def samples() -> tuple[Any, Any, Any]:
    """Samples, their groups, and the codes and components of plain NMF."""
    rng = np.random.RandomState(3)
    y = np.repeat(np.arange(3), EACH)
    codes = np.maximum(GROUPS[y] + rng.normal(scale=0.13, size=(3 * EACH, 2)), 0.02)
    parts = rng.gamma(0.4, size=(2, 20))
    X = np.maximum(codes @ parts + rng.normal(scale=0.08, size=(3 * EACH, 20)), 0)
    plain = partwise.NMF(2, random_state=0).fit(X)
    return X, y, (plain.embedding_, plain.components_)


def picture(before: Any, after: Any, y: Any) -> Figure:
    """From rings to dots; every axis is the share of a part, in units of the largest code."""
    figure = Figure(figsize=(2.6, 2.6), layout="constrained")
    panel = figure.add_subplot()
    before, after = (codes / np.quantile(codes, 0.97, axis=0) for codes in (before, after))
    for j in range(3):
        colour = PALETTE[j]
        group = y == j
        panel.plot(*np.stack([before[group], after[group]]).transpose(2, 0, 1), color=UNKNOWN, linewidth=0.7, zorder=0)
        panel.scatter(*before[group].T, s=14, facecolors="none", edgecolors=colour, linewidths=0.7)
        panel.scatter(*after[group].T, s=14, color=colour)
    panel.set(xlim=(-0.06, 1.2), ylim=(-0.06, 1.2), xticks=[], yticks=[])
    panel.set_xlabel("first part", size=8, color=INK)
    panel.set_ylabel("second part", size=8, color=INK)
    for spine in panel.spines.values():
        spine.set_color(RULE)
    return figure


def _codes(kind: str, labelled: bool = False, started: bool = True, **settings: Any) -> Callable[[Any, Any, Any], Any]:
    """The codes of a method, fitted from the start; with four labels per group, if it uses labels."""

    def fit(X: Any, y: Any, start: Any) -> Any:
        known = np.where(np.arange(len(y)) % EACH < 4, y, -1)
        begin = {"init": start} if started else {}
        model = getattr(partwise, kind)(2, random_state=0, **begin, **settings).fit(X, known if labelled else None)
        codes = model.embedding_
        turned = np.corrcoef(codes.T, start[0].T)[0, 2:]
        return codes if turned[0] >= turned[1] else codes[:, ::-1]

    return fit


METHODS = {
    "nmf-l1": _codes("NMF", l1_codes=0.6),
    "graph-nmf": _codes("GraphNMF", graph_strength=1.0),
    "graph-nmf-labels": _codes("GraphNMF", labelled=True, use_labels=True, graph_strength=0.3),
    "constrained-nmf": _codes("ConstrainedNMF", labelled=True, started=False),
    "local-learning-nmf": _codes("LocalLearningNMF", local_strength=3.0),
    "local-coordinate-nmf": _codes("LocalCoordinateNMF", coordinate_strength=0.3, graph_strength=0.0),
    "local-similarity-nmf": _codes("LocalSimilarityNMF", started=False),
    "orthogonal-nmf": _codes("OrthogonalNMF", started=False),
    "sparseness-nmf": _codes("SparsenessNMF", started=False, codes_sparseness=0.5),
    "convex-nmf": _codes("ConvexNMF", started=False),
    "concept-factorization": _codes("ConceptFactorization", started=False),
    "kernel-graph-nmf": _codes("KernelGraphNMF", started=False, graph_strength=1.0),
}


if __name__ == "__main__":
    make()

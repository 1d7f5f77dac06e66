"""What fits look like: how the objective fell, where the samples lie, and which classes are confused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..core.types import IntArray
from ..experiments.comparison import Comparison
from ..experiments.outcomes import Outcome
from ..metrics import matched_counts
from ..plots.codes import plane, some_rows
from ..plots.convergence import above_last, term_shares, terms_of
from ..plots.markup import Markup, element
from .charts import Series, area_chart, colour_key, line_chart, scatter
from .page import Section
from .tables import shaded

# t-SNE of this many samples takes about a second.
MOST_ON_A_MAP = 600
# On a wide page the maps of up to this many methods are columns: classes above, clusters below.
MOST_SIDE_BY_SIDE = 5


def convergence(outcomes: Sequence[Outcome]) -> Section:
    """How the objective fell, by sweep and by time, and its terms."""
    swept = [(colour, outcome) for colour, outcome in enumerate(outcomes) if outcome.history]
    if not swept:
        return Section("convergence", "Convergence", ())
    lines: dict[str, list[Series]] = {"sweep": [], "time in seconds": []}
    for colour, outcome in swept:
        excess, sweeps = above_last(outcome.history)
        for x_label, x in (("sweep", sweeps), ("time in seconds", np.asarray(outcome.history["time"])[sweeps])):
            lines[x_label].append(Series(outcome.name, x.tolist(), excess.tolist(), colour, marked=False))
    charts = [
        line_chart(series, x_label, "above its last value", title=f"Objective against {x_label}", log_y=True)
        for x_label, series in lines.items()
    ]
    shares = [chart for _, outcome in swept for chart in _term_chart(outcome)]
    note = (
        "First: how far the objective is above its last value, as a share of its value at the start. "
        "Then: the share of each term, where there are several."
    )
    return Section("convergence", "Convergence", (element("div", *charts, *shares, class_="grid-of"),), note)


def _term_chart(outcome: Outcome) -> Iterator[Markup]:
    terms = terms_of(outcome.history)
    if not terms:
        return
    sweeps = np.arange(len(outcome.history["objective"]), dtype=float)
    title = f"Terms of the objective of {outcome.name}"
    shares = term_shares(terms)
    if shares is not None:
        yield area_chart(list(terms), sweeps.tolist(), shares, "sweep", "share in %", title)
    else:
        series = [
            Series(name, sweeps.tolist(), values, j, marked=False) for j, (name, values) in enumerate(terms.items())
        ]
        yield line_chart(series, "sweep", "value", title=title)


def code_maps(comparison: Comparison) -> Section:
    """The codes in the plane, by class and by cluster; k-means has a centre per sample instead of a code."""
    data = comparison.data
    chosen = some_rows(len(data.y), MOST_ON_A_MAP, comparison.seed)
    figures, key_names = [], list(data.class_names)
    for outcome in comparison.outcomes:
        if not outcome.history or len(chosen) < 3:
            continue
        points = plane(outcome.codes[chosen], comparison.seed)
        clusters, names = _name_clusters(outcome.labels, data.y, data.class_names)
        if (data.y >= 0).any():
            figures.append(scatter(points, data.y[chosen], data.class_names, f"{outcome.name}, by class"))
        elif len(names) > len(key_names):
            key_names = names
        figures.append(scatter(points, clusters[chosen], names, f"{outcome.name}, by cluster"))
    if not figures:
        return Section("map", "Map of the codes", ())
    key = colour_key(key_names) if key_names else None
    note = (
        f"t-SNE of the codes of {len(chosen)} samples: samples close together have similar codes; distances between "
        "groups mean little."
    )
    if data.class_names:
        note += " Clusters have the colour of the class they are matched to."
    paired = (data.y >= 0).any() and len(figures) <= 2 * MOST_SIDE_BY_SIDE
    maps = element("div", *figures, class_=f"grid-of maps{' paired' if paired else ''}")
    return Section("map", "Map of the codes", (key, maps), note)


def _name_clusters(labels: IntArray, y: IntArray, class_names: Sequence[str]) -> tuple[IntArray, list[str]]:
    """Clusters numbered like the classes they are matched to, the others after them; and names for them."""
    found = np.unique(labels)
    scored = y >= 0
    if not scored.any():
        return np.searchsorted(found, labels), [f"cluster {cluster}" for cluster in found]
    _, classes, clusters = matched_counts(y[scored], labels[scored])
    number = {int(cluster): int(label) for label, cluster in zip(classes, clusters, strict=False)}
    names = [f"cluster matched to {name}" for name in class_names]
    for cluster in found.tolist():
        if cluster not in number:
            number[cluster] = len(names)
            names.append(f"cluster {cluster}, matched to no class")
    return np.array([number[label] for label in labels.tolist()], np.intp), names


def confusion(comparison: Comparison) -> Section:
    """Which classes share their clusters."""
    data = comparison.data
    scored = data.y >= 0
    tables = []
    for outcome in comparison.outcomes if scored.any() else ():
        counts, classes, clusters = matched_counts(data.y[scored], outcome.labels[scored])
        names = [data.class_names[label] for label in classes]
        columns = [names[j] if j < len(names) else "–" for j in range(len(clusters))]
        tables.append(
            shaded(
                counts.astype(float),
                names,
                columns,
                "class \\ cluster",
                f"{outcome.name}: samples by class and cluster",
            )
        )
    note = "Every cluster is named after the class it is matched to, one to one; – is matched to none."
    body = (element("div", *tables, class_="grid-of confusions"),) if tables else ()
    return Section("confusion", "Confusion after matching", body, note)

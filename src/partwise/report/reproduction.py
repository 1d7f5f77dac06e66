"""The page of ``partwise reproduce``: a paper's tables, as printed and as measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..experiments import Cell, Protocol
from ..experiments.comparison import Comparison
from ..experiments.plan import DEFAULTS
from ..experiments.printed import AVERAGE
from ..experiments.sensitivity import Sensitivity
from ..experiments.tables import (
    PLAIN,
    counts,
    counts_line,
    groups,
    plain_line,
    plain_shares,
    table_name,
    usual_repeats,
)
from ..plots.markup import Markup, element, join
from .charts import Series, bars, line_chart
from .fits import code_maps, confusion, convergence
from .learned import codes, components
from .page import Section, page, settings_list, versions
from .tables import Entry, shaded, sortable

MARKS = {"better": "▲", "equal": "=", "short": "▼"}
KINDS = {"better": "better", "equal": "equal", "short": "short"} | dict.fromkeys(
    ("too few runs", "no data", "not run"), "absent"
)
METRICS = {
    "accuracy": "accuracy",
    "nmi_max": "NMI (by the larger entropy)",
    "nmi_sqrt": "NMI (by the root of both entropies)",
    "purity": "purity",
    "sparseness": "sparseness of the codes",
    "accuracy_unlabelled": "accuracy on the unlabelled samples",
}


def reproduction_page(
    protocol: Protocol,
    cells: Sequence[Cell],
    grids: Sequence[Sensitivity],
    settings: Mapping[str, str],
    example: Comparison | None = None,
) -> str:
    """The page as text.

    Parameters
    ----------
    protocol : Protocol
    cells : sequence of Cell
    grids : sequence of Sensitivity
    settings : mapping of str to str
        What was asked for, in words.
    example : Comparison, optional
        One draw, with what was learned from it.
    """
    sections = [
        _by_method(cells),
        *(_table(key, group) for key, group in groups(cells).items()),
        _grids(grids),
        *([] if example is None else _example(example)),
        _settings(protocol, settings),
    ]
    lead = join([_counts(cells), element("p", f"{counts_line(cells)}. Plain shares: {plain_line(cells) or 'none'}.")])
    return page(f"{protocol.paper}: printed and measured", f"{protocol.citation}.", sections, lead)


def _counts(cells: Sequence[Cell]) -> Markup:
    found = counts(cells)
    items = [
        element("li", element("b", f"{number:,}", class_=KINDS[verdict]), f"{MARKS.get(verdict, '')} {verdict}".strip())
        for verdict, number in found.items()
        if number
    ]
    parts = [(verdict, number, KINDS[verdict]) for verdict, number in found.items()]
    return join([element("ul", *items, class_="counts"), bars(parts, counts_line(cells))])


def _by_method(cells: Sequence[Cell]) -> Section:
    given = [verdict for verdict, number in counts(cells).items() if number]
    rows = []
    for method in dict.fromkeys(cell.method for cell in cells if cell.verdict):
        found = counts(cell for cell in cells if cell.method == method)
        shares = plain_shares(cell for cell in cells if cell.method == method)
        bar = bars([(verdict, number, KINDS[verdict]) for verdict, number in found.items()], f"verdicts of {method}")
        rows.append(
            [
                Entry(method),
                *(Entry(str(found[verdict]), found[verdict]) for verdict in given),
                *(Entry(f"{shares[name]:.0%}", shares[name]) if shares else Entry("", None) for name in PLAIN),
                Entry(bar, None),
            ]
        )
    head = ["method", *given, *PLAIN, "picture"]
    note = (
        "▲ better, = equal: within three points, or two standard errors of the difference but at most five points, "
        "▼ short. The best mean of a row is marked."
    )
    return Section("verdicts", "Verdicts", (sortable(head, rows, "Verdicts by method"),), note)


def _table(key: tuple[str, str, str], cells: Sequence[Cell]) -> Section:
    table, dataset, metric = key
    title = f"{table_name(key)}: {dataset}, {METRICS.get(metric, metric)}"
    if all(cell.mean is None for cell in cells):
        return Section("", title, ())
    methods = list(dict.fromkeys(cell.method for cell in cells))
    places = {(cell.n_clusters, cell.method): cell for cell in cells}
    repeats = usual_repeats(cells)
    rows = []
    for k in dict.fromkeys(cell.n_clusters for cell in cells):
        line = [places.get((k, method)) for method in methods]
        best = max((cell.mean for cell in line if cell is not None and cell.mean is not None), default=None)
        number = float(k) if k.isdigit() else None
        rows.append([Entry(k, number), *(_entry(cell, best, repeats) for cell in line)])
    caption = "Measured mean ± deviation, verdict; below, the paper's numbers"
    note = f"{repeats} runs per cell unless a cell says otherwise. {plain_line(cells)}".strip()
    body = element("div", sortable(["k", *methods], rows, caption), _curves(cells, methods, metric), class_="beside")
    anchor = "".join(c if c.isalnum() else "-" for c in f"table-{table}-{dataset}-{metric}")
    return Section(anchor, title, (body,), note)


def _entry(cell: Cell | None, best: float | None, repeats: int) -> Entry:
    if cell is None:
        return Entry("", None)
    printed = "" if cell.printed_mean is None else f"printed {cell.printed_mean:g}"
    if cell.mean is None:
        return Entry(join([cell.verdict, element("br"), element("small", printed)]), None)
    mark = element(
        "span", MARKS.get(cell.verdict, ""), class_=f"mark {KINDS.get(cell.verdict, '')}", title=cell.verdict
    )
    is_best = cell.mean == best
    mean = element("strong", f"{cell.mean:.1f}") if is_best else f"{cell.mean:.1f}"
    # A single run has no deviation.
    deviation = "" if cell.std is None else f" ± {cell.std:.1f}"
    if cell.repeats != repeats and cell.n_clusters != AVERAGE:
        deviation += f" ({cell.repeats} runs)"
    shown = join([mean, element("small", deviation), mark, element("br"), element("small", printed)])
    return Entry(shown, cell.mean, kind="best" if is_best else "")


def _curves(cells: Sequence[Cell], methods: Sequence[str], metric: str) -> Markup | None:
    """Measured scores against the number of clusters, as in the papers' figures; printed ones dashed."""
    series = []
    for colour, method in enumerate(methods):
        own = [cell for cell in cells if cell.method == method and cell.n_clusters.isdigit()]
        for dashed, name in ((False, "mean"), (True, "printed_mean")):
            points = [(float(cell.n_clusters), getattr(cell, name)) for cell in own if getattr(cell, name) is not None]
            if len(points) > 1:
                x, y = zip(*points, strict=True)
                label = f"{method}, printed" if dashed else method
                series.append(Series(label, x, y, colour, dashed, marked=not dashed, listed=not dashed))
    if not series:
        return None
    ticks = sorted({x for line in series for x in line.x})
    ticks = ticks if len(ticks) <= 12 else ticks[:: len(ticks) // 8]
    label = METRICS.get(metric, metric)
    title = f"{label[0].upper()}{label[1:]} against the number of clusters; dashed: printed"
    return line_chart(series, "number of clusters", "per cent", title=title, x_ticks=ticks)


def _grids(grids: Sequence[Sensitivity]) -> Section:
    """Curves over one parameter, a line per data set; shaded tables over two."""
    figures: list[Markup] = []
    curves: dict[tuple[str, str, str], list[Sensitivity]] = {}
    for grid in grids:
        names = list(grid.values)
        if len(names) == 1:
            curves.setdefault((grid.method, names[0], grid.metric), []).append(grid)
        elif len(names) == 2:
            figures.append(_heat_map(grid))
    return Section(
        "sensitivity",
        "Parameters",
        (element("div", *(_curve(*key, found) for key, found in curves.items()), *figures, class_="grid-of"),)
        if curves or figures
        else (),
        "Means over the numbers of clusters and draws on which the whole grid was run.",
    )


def _curve(method: str, parameter: str, metric: str, grids: Sequence[Sensitivity]) -> Markup:
    series = [
        Series(grid.dataset, [float(point[0]) for point in grid.means], list(grid.means.values()), colour)
        for colour, grid in enumerate(grids)
    ]
    ticks = sorted({x for line in series for x in line.x})
    title = f"{method}: {METRICS.get(metric, metric)} against {parameter}"
    return line_chart(series, parameter, "per cent", title=title, log_x=ticks[0] > 0, x_ticks=ticks)


def _heat_map(grid: Sensitivity) -> Markup:
    (rows, row_values), (columns, column_values) = grid.values.items()
    values = np.array([[grid.means.get((a, b), np.nan) for b in column_values] for a in row_values])
    metric = METRICS.get(grid.metric, grid.metric)
    caption = f"{grid.method} on {grid.dataset}: {metric}; {rows} downwards, {columns} to the right"
    return shaded(values, list(map(str, row_values)), list(map(str, column_values)), "↓ →", caption, "{:.1f}")


def _example(example: Comparison) -> list[Section]:
    note = element(
        "p", f"One draw: {example.data.name}, {len(example.data.y):,} samples. {example.preparation}.", class_="muted"
    )
    sections = [
        convergence(example.outcomes),
        components(example),
        codes(example),
        code_maps(example),
        confusion(example),
    ]
    return [Section(s.key, s.title, (note, *s.body) if s.body else (), s.note) for s in sections]


def _settings(protocol: Protocol, settings: Mapping[str, str]) -> Section:
    methods = {}
    for name, method in protocol.methods.items():
        given = {**method.parameters, **method.grid}
        spelled = ", ".join(f"{key}={value!r}" for key, value in given.items())
        extra = "".join(f"; on {data}: {dict(values)}" for data, values in method.on.items())
        kind = " (the paper's method with the library's defaults)" if name == DEFAULTS else ""
        methods[name] = f"{method.estimator}({spelled}){extra}{kind}"
    data = {name: f"{plan.data}; {', '.join(plan.prepare) or 'as it is'}" for name, plan in protocol.datasets.items()}
    body: list[Markup] = []
    for heading, facts in (
        ("This reproduction", settings),
        ("Methods", methods),
        ("Data", data),
        ("Versions", versions()),
    ):
        body += [element("h3", heading), settings_list(facts)]
    return Section("settings", "Settings and versions", tuple(body))

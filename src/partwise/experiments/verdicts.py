"""Measured next to printed numbers, and a verdict for each."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Literal

import numpy as np

from ..files.writing import write_whole
from .journal import Journal
from .plan import DEFAULTS, Place, Plan
from .printed import AVERAGE, Printed

Verdict = Literal["equal", "better", "short", "no data", "not run", ""]
UNLABELLED = "accuracy_unlabelled"

# Differences of up to this many points count as equal.
TOLERANCE = 3.0


@dataclass(frozen=True)
class Cell:
    """A number of a table.

    Attributes
    ----------
    paper, table, dataset, n_clusters, metric, method : str
        `n_clusters` is "Avg" in the row of averages. The method "partwise" is the paper's own with this library's
        defaults; it and the metric "accuracy_unlabelled" are not in the paper.
    printed_mean, printed_std : float or None
    mean, std : float or None
        Measured; `std` is over the repeats, None if there is only one.
    repeats : int
        Of the measured number.
    verdict : str
        "equal": within three points or two standard errors of the difference; "better" or "short" beyond; "no data":
        the data set is not available; "not run"; empty where nothing was printed.
    """

    paper: str
    table: str
    dataset: str
    n_clusters: str
    metric: str
    method: str
    printed_mean: float | None
    printed_std: float | None
    mean: float | None
    std: float | None
    repeats: int
    verdict: Verdict


@dataclass(frozen=True)
class Measured:
    """Mean and deviation over repeats; a single one has no deviation."""

    mean: float
    std: float | None
    repeats: int


def compare(plan: Plan, journal: Journal) -> list[Cell]:
    """The cells of a plan's tables, then those that only we have.

    Parameters
    ----------
    plan : Plan
    journal : Journal
    """
    measured: dict[tuple[str, str, int, str], Measured] = {}
    for place in plan.places:
        for method in plan.methods:
            for metric, found in _measure(plan, journal, place, method.name).items():
                measured[method.name, place.dataset, place.n_clusters, metric] = found
    known = {name for name in plan.protocol.datasets if plan.is_here(name)} | {dataset for _, dataset, *_ in measured}

    def cell(
        table: str,
        dataset: str,
        k: int | None,
        metric: str,
        method: str,
        mean: float | None = None,
        std: float | None = None,
    ) -> Cell:
        found = measured.get((method, dataset, k, metric)) if k else _average(plan, measured, method, dataset, metric)
        return Cell(
            plan.protocol.paper,
            table,
            dataset,
            AVERAGE if k is None else str(k),
            metric,
            method,
            mean,
            std,
            None if found is None else round(found.mean, 2),
            None if found is None or found.std is None else round(found.std, 2),
            0 if found is None else found.repeats,
            verdict(mean, std, plan.printed_repeats(dataset, k), found) if dataset in known else "no data",
        )

    cells = [] if plan.method == DEFAULTS else [cell(*_heading(n), n.method, n.mean, n.std) for n in plan.numbers]
    headings = list(dict.fromkeys(_heading(n) for n in plan.numbers if n.dataset in known))
    if plan.method in (None, DEFAULTS):
        cells += [cell(*heading, DEFAULTS) for heading in headings]
    for method in plan.methods:
        if method.labelled:
            places = [heading[:3] for heading in headings if heading[3] == "accuracy"]
            cells += [cell(*place, UNLABELLED, method.name) for place in places]
    return cells


def _heading(number: Printed) -> tuple[str, str, int | None, str]:
    return number.table, number.dataset, number.n_clusters, number.metric


def _measure(plan: Plan, journal: Journal, place: Place, name: str) -> dict[str, Measured]:
    """Mean and deviation of every metric, at the setting that is best for it."""
    method = plan.protocol.methods[name]
    found = {}
    best = plan.best_settings(journal, place, method)
    if method.labelled and "accuracy" in best:
        best[UNLABELLED] = best["accuracy"]
    for metric, setting in best.items():
        scores = [
            journal.scores(plan.run(place, method, setting, draw)) for draw in range(plan.n_repeats(place.dataset))
        ]
        values = [s[metric] for s in scores if s is not None and metric in s]
        if values:
            std = float(np.std(values, ddof=1)) if len(values) > 1 else None
            found[metric] = Measured(float(np.mean(values)), std, len(values))
    return found


def _average(
    plan: Plan, measured: dict[tuple[str, str, int, str], Measured], method: str, dataset: str, metric: str
) -> Measured | None:
    """Over the numbers of clusters; None if one is missing."""
    parts = [measured.get((method, p.dataset, p.n_clusters, metric)) for p in plan.places if p.dataset == dataset]
    found = [part for part in parts if part is not None]
    if not found or len(found) < len(parts):
        return None
    mean, repeats = float(np.mean([part.mean for part in found])), min(part.repeats for part in found)
    squares = [part.std**2 / part.repeats for part in found if part.std is not None]
    if len(squares) < len(found):
        return Measured(mean, None, repeats)
    # The deviation that gives the average's error over this many repeats.
    return Measured(mean, float(np.sqrt(sum(squares) * repeats)) / len(found), repeats)


def verdict(mean: float | None, std: float | None, repeats: int | None, found: Measured | None) -> Verdict:
    """Equal within three points or two standard errors of the difference, better or short beyond.

    Parameters
    ----------
    mean, std : float or None
        Printed; where no deviation is printed, the measured one is used, and vice versa.
    repeats : int or None
        Behind the printed number; if unknown, as many as measured.
    found : Measured or None
    """
    if mean is None:
        return ""
    if found is None:
        return "not run"
    theirs = found.std if std is None else std
    ours = std if found.std is None else found.std
    error = ((theirs or 0.0) ** 2 / (repeats or found.repeats) + (ours or 0.0) ** 2 / found.repeats) ** 0.5
    margin = max(TOLERANCE, 2 * error)
    if abs(found.mean - mean) <= margin:
        return "equal"
    return "better" if found.mean > mean else "short"


def write_cells(path: Path, cells: Iterable[Cell]) -> None:
    """A tidy CSV, one line per cell."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, [field.name for field in fields(Cell)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(cell) for cell in cells)
    write_whole(path, text.getvalue().encode())


def read_cells(path: Path) -> list[Cell]:
    """What :func:`write_cells` wrote."""
    with path.open(encoding="utf-8", newline="") as file:
        return [_cell(row) for row in csv.DictReader(file)]


def _cell(row: dict[str, str]) -> Cell:
    numbers = {name: float(row[name]) if row[name] else None for name in ("printed_mean", "printed_std", "mean", "std")}
    return Cell(**{**row, **numbers, "repeats": int(row["repeats"])})  # type: ignore[arg-type]

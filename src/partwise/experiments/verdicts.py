"""Measured next to printed numbers, and a verdict for each."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Literal

import numpy as np

from ..files.writing import write_whole
from .journal import Journal
from .plan import DEFAULTS, Place, Plan
from .printed import AVERAGE, Printed

Verdict = Literal["equal", "better", "short", "too few runs", "no data", "not run", ""]
UNLABELLED = "accuracy_unlabelled"

# Differences of up to this many points count as equal; larger ones up to two standard errors, but not beyond the second
# number.
TOLERANCE, LARGEST = 3.0, 5.0
# The columns of a tidy file that hold a number or nothing.
NUMBERS = ("printed_mean", "printed_std", "mean", "std", "error")
# Fewer runs than this say too little for a verdict.
ENOUGH = 5


@dataclass(frozen=True)
class Cell:
    """A number of a table.

    Attributes
    ----------
    paper, table, dataset, n_clusters, metric, method : str
        `n_clusters` is "Avg" in the row of averages. The method "partwise" is the paper's own with this library's
        defaults; it and the metric "accuracy_unlabelled" are not in the paper.
    printed_mean, printed_std : float or None
    mean, std, error : float or None
        Measured: the mean over the repeats, their deviation, and the standard error of the mean. A single run has no
        deviation and no error. An average has only an error, that of a mean over all of its runs.
    repeats : int
        Runs behind the measured number.
    verdict : str
        "equal": within three points, or within two standard errors of the difference but never more than five points;
        "better" or "short" beyond; "too few runs" to say; "no data": the data set is not available; "not run"; empty
        where nothing was printed.
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
    error: float | None
    repeats: int
    verdict: Verdict


@dataclass(frozen=True)
class Measured:
    """A mean over runs, its standard error, and the deviation of the runs if they are repeats of one cell."""

    mean: float
    error: float | None
    repeats: int
    std: float | None = None

    @classmethod
    def of(cls, values: Sequence[float]) -> Measured:
        """The mean of some repeats."""
        std = float(np.std(values, ddof=1)) if len(values) > 1 else None
        error = None if std is None else std / len(values) ** 0.5
        return cls(float(np.mean(values)), error, len(values), std)


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
            None if found is None or found.error is None else round(found.error, 2),
            0 if found is None else found.repeats,
            verdict(mean, theirs.get((table, dataset, k, metric, method)), found) if dataset in known else "no data",
        )

    theirs = _printed_errors(plan, measured)
    cells = [] if plan.method == DEFAULTS else [cell(*_heading(n), n.method, n.mean, n.std) for n in plan.numbers]
    headings = list(dict.fromkeys(_heading(n) for n in plan.numbers if n.dataset in known))
    if plan.method in (None, DEFAULTS):
        cells += [cell(*heading, DEFAULTS) for heading in headings if plan.takes(*heading[1:3], DEFAULTS)]
    for method in plan.methods:
        if method.labelled:
            places = [h[:3] for h in headings if h[3] == "accuracy" and plan.takes(*h[1:3], method.name)]
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
        scores = [journal.scores(plan.run(place, method, setting, draw)) for draw in plan.draws(place)]
        values = [s[metric] for s in scores if s is not None and metric in s]
        if values:
            found[metric] = Measured.of(values)
    return found


def _average(
    plan: Plan, measured: dict[tuple[str, str, int, str], Measured], method: str, dataset: str, metric: str
) -> Measured | None:
    """Over the numbers of clusters; None if one is missing."""
    parts = [measured.get((method, p.dataset, p.n_clusters, metric)) for p in plan.places if p.dataset == dataset]
    found = [part for part in parts if part is not None]
    if not found or len(found) < len(parts):
        return None
    error = _error_of_average([part.error for part in found])
    return Measured(float(np.mean([part.mean for part in found])), error, sum(part.repeats for part in found))


def _error_of_average(errors: Sequence[float | None]) -> float | None:
    known = [error for error in errors if error is not None]
    return float(np.linalg.norm(known)) / len(known) if len(known) == len(errors) else None


def _printed_errors(
    plan: Plan, measured: dict[tuple[str, str, int, str], Measured]
) -> dict[tuple[str, str, int | None, str, str], float | None]:
    """The standard error of every printed number. Where no deviation is printed, the measured one stands in."""
    found: dict[tuple[str, str, int | None, str, str], float | None] = {}
    for n in plan.numbers:
        if n.n_clusters is not None:
            ours = measured.get((n.method, n.dataset, n.n_clusters, n.metric))
            std = n.std if n.std is not None or ours is None else ours.std
            repeats = plan.printed_repeats(Place(n.dataset, n.n_clusters))
            found[*_heading(n), n.method] = None if std is None else std / repeats**0.5
    for n in plan.numbers:
        if n.n_clusters is None:
            parts = [
                error
                for (table, dataset, _, metric, method), error in found.items()
                if (table, dataset, metric, method) == (n.table, n.dataset, n.metric, n.method)
            ]
            found[*_heading(n), n.method] = _error_of_average(parts)
    return found


def verdict(printed: float | None, error: float | None, found: Measured | None) -> Verdict:
    """Equal within three points or two standard errors of the difference, five points at most; better or short beyond.

    Parameters
    ----------
    printed : float or None
    error : float or None
        Its standard error, if it can be known.
    found : Measured or None
    """
    if printed is None:
        return ""
    if found is None:
        return "not run"
    if found.repeats < ENOUGH or found.error is None:
        return "too few runs"
    of_difference = np.hypot(error or 0.0, found.error)
    margin = min(max(TOLERANCE, 2 * float(of_difference)), LARGEST)
    if abs(found.mean - printed) <= margin:
        return "equal"
    return "better" if found.mean > printed else "short"


def write_cells(path: Path, cells: Iterable[Cell]) -> None:
    """Write a tidy CSV, one line per cell.

    Parameters
    ----------
    path : Path
    cells : iterable of Cell
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, [field.name for field in fields(Cell)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(cell) for cell in cells)
    write_whole(path, text.getvalue().encode())


def read_cells(path: Path) -> list[Cell]:
    """Read what :func:`write_cells` wrote.

    Parameters
    ----------
    path : Path
    """
    with path.open(encoding="utf-8", newline="") as file:
        return [_cell(row) for row in csv.DictReader(file)]


def _cell(row: dict[str, str]) -> Cell:
    numbers = {name: float(row[name]) if row[name] else None for name in NUMBERS}
    return Cell(**{**row, **numbers, "repeats": int(row["repeats"])})  # type: ignore[arg-type]

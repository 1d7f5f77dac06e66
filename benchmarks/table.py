"""What was measured, as a table to read and as files to keep."""

from __future__ import annotations

import csv
import os
import platform
from dataclasses import asdict, dataclass, fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

import partwise

RESULTS = Path(__file__).parent / "results"
PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "torch",
    "torchnmf",
    "nimfa",
    "gensim",
    "pynndescent",
)


@dataclass
class Row:
    """One line of the table.

    Attributes
    ----------
    case, data : str
    ours, theirs : float
        Medians over the repeats, in `unit`.
    against : str
        What `theirs` belongs to.
    figure : float
        The median over the repeats of what the case measures: a ratio of CPU times unless stated otherwise.
    low, high : float
        Its smallest and largest value over the repeats.
    needed : str
        The project's goal for the figure: "≥ 4" or "≤ 1.2".
    our_end, their_end : float
        Objectives at the end of the runs, medians.
    unit, note : str
    load : float
        Load average of the machine at the end of the case, this process included.
    name : str
        The name of the case on the command line.
    """

    case: str
    data: str = ""
    against: str = ""
    ours: float = np.nan
    theirs: float = np.nan
    unit: str = "s"
    figure: float = np.nan
    low: float = np.nan
    high: float = np.nan
    needed: str = ""
    our_end: float = np.nan
    their_end: float = np.nan
    note: str = ""
    load: float = np.nan
    name: str = ""

    @property
    def met(self):
        """Whether the figure is what is needed: "yes", "no", or nothing if there is nothing to compare."""
        if not self.needed or np.isnan(self.figure):
            return ""
        sign, bound = self.needed.split()
        reached = self.figure >= float(bound) if sign == "≥" else self.figure <= float(bound)
        return "yes" if reached else "no"


def ratios(case, ours, theirs, **others):
    """A row from the repeats of two clocks: how many times ours fits into theirs."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    figures = theirs / ours
    return Row(
        case,
        ours=float(np.median(ours)),
        theirs=float(np.median(theirs)),
        figure=float(np.median(figures)),
        low=float(figures.min()),
        high=float(figures.max()),
        **others,
    )


def machine(mode):
    """What the figures depend on besides the code, without names or paths."""
    model = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").is_file():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), model)
    versions = ", ".join([f"partwise {partwise.__version__}", *(f"{name} {_version(name)}" for name in PACKAGES)])
    return {
        "run": mode,
        "cpu": f"{model}, {os.cpu_count()} cores",
        "system": f"{platform.system()}, Python {platform.python_version()}",
        "versions": versions,
    }


def _version(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _number(value):
    return "" if np.isnan(value) else f"{value:.3g}" if abs(value) < 1e4 else f"{value:,.0f}"


HEADER = ("case", "data", "against", "ours", "theirs", "figure", "min–max", "needed", "met", "end, ours/theirs", "note")


def cells(row):
    """A row of the table as text."""
    end = row.our_end / row.their_end
    span = "" if np.isnan(row.low) else f"{_number(row.low)}–{_number(row.high)}"
    return (
        row.case,
        row.data,
        row.against,
        f"{_number(row.ours)} {row.unit}" if not np.isnan(row.ours) else "",
        f"{_number(row.theirs)} {row.unit}" if not np.isnan(row.theirs) else "",
        _number(row.figure),
        span,
        row.needed,
        row.met,
        "" if np.isnan(end) else f"{end:.4f}",
        row.note + (f" [load {row.load:.1f}]" if row.load > 1.5 else ""),
    )


def update(rows, names, info, stem):
    """Write the rows of some cases to results/<stem>.csv, in place of their older ones, and make results/<stem>.md.

    Parameters
    ----------
    rows : list of Row
    names : iterable of str
        All existing cases, in their order; rows of others are dropped.
    info : dict
        From `machine`.
    stem : str
    """
    RESULTS.mkdir(exist_ok=True)
    new = {row.name for row in rows}
    rows = [row for row in read(stem) if row.name not in new] + rows
    write([row for name in names for row in rows if row.name == name], info, stem)


def read(stem):
    """The rows of an earlier run, if there is one."""
    path = RESULTS / f"{stem}.csv"
    if not path.is_file():
        return []
    kinds = {field.name: float if field.type == "float" else str for field in fields(Row)}
    with path.open(newline="") as file:
        return [Row(**{name: kind(line[name]) for name, kind in kinds.items()}) for line in csv.DictReader(file)]


def write(rows, info, stem):
    """results/<stem>.csv with everything, results/<stem>.md to read."""
    with (RESULTS / f"{stem}.csv").open("w", newline="") as file:
        names = [field.name for field in fields(Row)]
        writer = csv.DictWriter(file, [*names, "met"])
        writer.writeheader()
        writer.writerows({**asdict(row), "met": row.met} for row in rows)
    lines = [
        "# Speed and memory",
        "",
        "One thread, CPU time, medians; figures are ratios theirs / ours where nothing else is said. Cases may come",
        "from several runs; the load of the machine is given where other work went on beside them.",
        "",
        *(f"- {name}: {value}" for name, value in info.items()),
        "",
        "| " + " | ".join(HEADER) + " |",
        "|" + "---|" * len(HEADER),
        *("| " + " | ".join(cells(row)) + " |" for row in rows),
        "",
    ]
    (RESULTS / f"{stem}.md").write_text("\n".join(lines))

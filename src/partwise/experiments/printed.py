"""The numbers that the papers print: `printed.csv`, in per cent."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

AVERAGE = "Avg"


@dataclass(frozen=True)
class Printed:
    """One number of a table.

    Attributes
    ----------
    paper, table, dataset, metric, method : str
        As in the paper; metrics are "accuracy", "purity", "nmi_max", "nmi_sqrt" and "sparseness".
    n_clusters : int or None
        None for the row of averages.
    mean : float
    std : float or None
        None if the paper gives none.
    """

    paper: str
    table: str
    dataset: str
    n_clusters: int | None
    metric: str
    method: str
    mean: float
    std: float | None


@cache
def printed_numbers(paper: str) -> tuple[Printed, ...]:
    """All numbers of a paper, in the order of its tables.

    Parameters
    ----------
    paper : str
        One of :func:`paper_names`.
    """
    with files(__package__).joinpath("printed.csv").open(encoding="utf-8") as file:
        return tuple(
            Printed(
                paper,
                row["table"],
                row["dataset"],
                None if row["n_clusters"] == AVERAGE else int(row["n_clusters"]),
                row["metric"],
                row["method"],
                float(row["mean"]),
                float(row["std"]) if row["std"] else None,
            )
            for row in csv.DictReader(file)
            if row["paper"] == paper
        )

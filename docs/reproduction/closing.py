"""The papers' own methods: shares before and after one reading per paper, and the cells that remain short.

``before.csv`` holds the shares as they were when verdicts, repeats and versions had been settled, but readings had not,
and while runs of earlier code still counted. ``python -m docs.reproduction.closing`` prints its lines for the present
results.
"""

import csv
from pathlib import Path

import numpy as np

from partwise.experiments import load_protocol, paper_names, read_cells
from partwise.experiments.printed import AVERAGE
from partwise.experiments.tables import counts, markdown, plain_shares

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parents[1] / "results"
BEFORE = HERE / "before.csv"
COLUMNS = ("paper", "method", "measured", "at least printed − 3", "better or equal", "short")

# Why, as far as it is known, by method and data set.
REASONS = {
    ("CNMF", "ORL"): "200 sweeps of the rules, of which the paper does not give the number, have not converged",
    ("CNMF", "Yale"): "22 to 165 images, of which two per person are labelled: which ones is not known",
    ("GNMF", "Reuters"): "classes differ in size by a factor of 200, so a draw decides; the accuracy is not short",
    ("LLNMF", "COIL20"): "the accuracy is equal; start and ridge are readings, the grid is a part of the paper's",
    ("LLNMF", "WebACE"): "LLC, its start, is above its column; the grid is a part of the paper's",
    ("LLNMF", "WebKB4"): "the 1,000 terms and the stemming are ours; k-means, which has no setting, is short there too",
    ("NLCF", "ORL"): "with 20 to 40 images one of them is points of NMI; μ and the start are readings",
    ("NLCF", "MNIST"): "which 4,000 digits is not known; μ and the start are readings",
    ("NLCF", "Yale"): "μ and the start are readings",
    ("NLCF-G", "ORL"): "λ is not given",
    ("NLCF-G", "MNIST"): "λ is not given",
    ("NLCF-G", "Yale"): "λ is not given",
}


def own_cells():
    """The cells of every paper's own methods that the paper has."""
    for name, paper in paper_names().items():
        cells = read_cells(RESULTS / f"{name}.csv")
        for method in load_protocol(name).own_methods:
            yield paper, method, [cell for cell in cells if cell.method == method and cell.verdict]


def shares(cells):
    """Measured cells, the plain share, and verdicts, as text."""
    number, plain = counts(cells), plain_shares(cells)
    given = number["better"] + number["equal"] + number["short"]
    return [
        str(sum(cell.mean is not None for cell in cells)),
        f"{plain['≥ printed − 3']:.0%}" if plain else "–",
        f"{number['better'] + number['equal']} of {given}",
        str(number["short"]),
    ]


def closing_table():
    """Before and after, per own method."""
    with BEFORE.open(encoding="utf-8", newline="") as file:
        before = {(row["paper"], row["method"]): list(row.values())[2:] for row in csv.DictReader(file)}
    body = []
    for paper, method, cells in own_cells():
        now, number = shares(cells), counts(cells)
        both = [f"{old} → {new}" for old, new in zip(before[paper, method], now, strict=True)]
        body.append([paper, method, str(len(cells)), *both, str(number["too few runs"]), str(number["not run"])])
    head = ["paper", "method", "cells", *COLUMNS[2:], "too few runs", "not run"]
    return "\n".join(markdown(head, body))


def errors_of_difference(cell, repeats):
    """By how many standard errors of the difference a cell is short; the printed deviation counts if there is one."""
    theirs = cell.error if cell.printed_std is None else cell.printed_std / repeats**0.5
    return (cell.printed_mean - cell.mean) / float(np.hypot(theirs, cell.error))


def short_table():
    """The cells of own methods that are short, by data set, and why."""
    body = []
    for (_, method, cells), name in zip(own_cells(), _names(), strict=True):
        repeats = load_protocol(name).repeats
        for dataset in dict.fromkeys(cell.dataset for cell in cells if cell.verdict == "short"):
            short = [cell for cell in cells if (cell.dataset, cell.verdict) == (dataset, "short")]
            noise = sum(errors_of_difference(c, repeats) <= 2 for c in short if c.n_clusters != AVERAGE)
            where = ", ".join(f"{c.n_clusters} ({c.metric} {c.printed_mean:g} / {c.mean:.1f})" for c in short)
            body.append([method, dataset, where, str(noise), REASONS[method, dataset]])
    return "\n".join(markdown(["method", "data", "short at k", "within two errors", "why"], body))


def _names():
    return [name for name in paper_names() for _ in load_protocol(name).own_methods]


if __name__ == "__main__":
    print(",".join(COLUMNS))
    for paper, method, cells in own_cells():
        print(",".join([paper, method, *shares(cells)]))

"""How fast a stream should forget: the objective after two passes, by the power with which earlier samples fade.

    python -m studies.forgetting              # prints the table, writes studies/results/forgetting.csv

`forget_factor="auto"` lets a sample count in proportion to a power of its place in the stream. The study compares
powers on data sets that had no part in the choice of the default (MNIST and TDT2 had), in two random orders, in ten
batches. A figure is the loss on all samples, with the best codes for the components, over that of `fit`.
"""

from __future__ import annotations

import csv
import warnings
from pathlib import Path

import numpy as np
from sklearn.preprocessing import normalize

from benchmarks.stream import objective
from partwise import NMF
from partwise.core import stream

from .start_filler import load

SETS = ("digits", "semeion", "coil20", "cstr", "webkb4_1000")
POWERS = (0.0, 1.0, 2.0, 3.0, 5.0)
BATCHES, PASSES, ORDERS, K = 10, 2, 2, 10
RESULTS = Path(__file__).parent / "results" / "forgetting.csv"
FIELDS = ("data", "loss", "order", "power", "ratio")


def streamed(X, loss, power):
    """Components after two passes in batches."""
    before, stream.AUTO_POWER = stream.AUTO_POWER, power
    try:
        model = NMF(K, loss=loss, random_state=0)
        for _ in range(PASSES):
            for rows in np.array_split(np.arange(X.shape[0]), BATCHES):
                model.partial_fit(X[rows])
        return model.components_
    finally:
        stream.AUTO_POWER = before


def measured(name, loss):
    """Rows of one data set."""
    X = normalize(load(name)[0])
    for order in range(ORDERS):
        shuffled = X[np.random.RandomState(order).permutation(X.shape[0])]
        whole = objective(shuffled, NMF(K, loss=loss, random_state=0).fit(shuffled).components_, loss)
        for power in POWERS:
            ratio = objective(shuffled, streamed(shuffled, loss, power), loss) / whole
            yield dict(zip(FIELDS, (name, loss, order, power, f"{ratio:.5f}"), strict=True))


def read():
    """The rows of the file."""
    with RESULTS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def table(rows):
    """Lines of Markdown: means over the orders, by data and power."""
    lines = [f"| loss | data | {' | '.join(f'{power:g}' for power in POWERS)} |", f"|---|---|{'---|' * len(POWERS)}"]
    for loss, name in dict.fromkeys((row["loss"], row["data"]) for row in rows):
        mine = [row for row in rows if (row["loss"], row["data"]) == (loss, name)]
        means = (np.mean([float(row["ratio"]) for row in mine if float(row["power"]) == power]) for power in POWERS)
        lines.append(f"| {loss} | {name} | {' | '.join(f'{mean:.4f}' for mean in means)} |")
    return lines


def main():
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        for loss in ("frobenius", "kullback-leibler"):
            for name in SETS:
                rows = list(measured(name, loss))
                writer.writerows(rows)
                file.flush()
                print(table(rows)[-1], flush=True)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()

"""Shared components of groups of unequal size: how often GroupNMF finds all of them, on draws made for nothing else.

    python -m studies.unequal_groups    # prints the table, writes studies/results/unequal_groups.csv

Data are made as for `studies.groups`, with three equal, four unequal and six unequal groups and other seeds. All is
found if the smallest cosine of a true shared component with the one found for it is at least 0.95.
"""

from __future__ import annotations

import csv
import warnings
from pathlib import Path

import numpy as np

from partwise import GroupNMF

from .groups import LOSSES, SHARED, planted, smallest_cosine

LAYOUTS = {
    "three equal groups": (100, 100, 100),
    "four unequal groups": (40, 60, 120, 200),
    "six unequal groups": (20, 40, 60, 80, 100, 150),
}
EFFECTS, SIZES, COUNTS, SEEDS = ("own component", "offset"), (0.5, 2.0), (1.0, 3.0, 10.0), range(600, 605)
ENOUGH = 0.95
RESULTS = Path(__file__).parent / "results" / "unequal_groups.csv"
HEAD = ("groups", "effect", "size", "mean count", "repeat", "loss", "smallest cosine")


def measure():
    """All rows."""
    cases = [(name, *case) for name in LAYOUTS for case in np.ndindex(len(EFFECTS), len(SIZES), len(COUNTS))]
    for name, effect, size, count in cases:
        given = EFFECTS[effect], SIZES[size], COUNTS[count]
        for seed in SEEDS:
            X, groups, H = planted(*given, seed, LAYOUTS[name])
            for loss in LOSSES:
                model = GroupNMF(SHARED, loss=loss, random_state=seed).fit(X, groups=groups)
                yield name, *given, seed, loss, f"{smallest_cosine(H, model.components_[:SHARED]):.3f}"


def table(rows):
    """Lines of Markdown: by groups and mean count, in how many draws all is found, and the lowest cosine."""
    yield (
        "| groups | mean count | Kullback–Leibler: all found | lowest cosine | squared error: all found |"
        " lowest cosine |"
    )
    yield "|:--|--:|--:|--:|--:|--:|"
    for name, count in dict.fromkeys((row["groups"], row["mean count"]) for row in rows):
        cells = []
        for loss in reversed(LOSSES):
            chosen = [row for row in rows if (row["groups"], row["mean count"], row["loss"]) == (name, count, loss)]
            values = np.array([float(row["smallest cosine"]) for row in chosen])
            cells += [f"{(values >= ENOUGH).sum()} of {len(values)}", f"{values.min():.2f}"]
        yield f"| {name} | {float(count):g} | {' | '.join(cells)} |"


def read():
    """The rows that are kept."""
    with RESULTS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def main():
    """Measure, keep, print."""
    warnings.simplefilter("ignore")
    rows = list(measure())
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([HEAD, *rows])
    print("\n".join(table(read())))


if __name__ == "__main__":
    main()

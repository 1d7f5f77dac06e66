"""Data with many zeros under β-divergences other than Kullback–Leibler: steps in blocks against multiplicative rules.

    python -m studies.zeros    # writes studies/results/zeros.csv; rows that are there are not measured again

Steps in blocks share a Gram matrix that stands for the curvatures of all entries. If β < 2, those of zeros are far from
those of other entries, so steps must be short, or rows need matrices of their own. The study shows where they end all
the same; below β = 1 such data keep the multiplicative rules (`fits_in_blocks` in `terms/divergence.py`).
"""

from __future__ import annotations

import csv
import time
import warnings
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from partwise import Factorization
from partwise.terms import BetaDivergence

BETAS, SWEEPS = (0.5, 1.5), 300
# Random ones, by their seeds, and the one that estimators make by default, which has many zeros.
STARTS = ("0", "1", "2", "default")
RESULTS = Path(__file__).parent / "results" / "zeros.csv"


@dataclass(frozen=True, eq=False)
class InBlocks(BetaDivergence):
    """The divergence as one for which steps in blocks are made whatever its data."""

    def bind(self, X, y=None, rng=None, sample_weight=None):
        """Say so."""
        bound = super().bind(X, y, rng, sample_weight)
        bound.fits_in_blocks = True
        return bound


def measure(X, beta, start, sweeps=SWEEPS):
    """Objective and CPU seconds of both: (blocks, seconds, rules, seconds)."""
    first = {"random_state": 0} if start == "default" else {"init": "random", "random_state": int(start)}
    results = []
    for term, solver in ((InBlocks(beta), "newton"), (BetaDivergence(beta), "multiplicative")):
        model = Factorization(10, terms=[term], solver=solver, max_iter=sweeps, tol=0, **first)
        begin = time.process_time()
        results += [model.fit(X).objective_, time.process_time() - begin]
    return results


def table(rows):
    """Lines of Markdown: medians over the starts."""
    lines = [
        "| β | starts | end of steps in blocks / end of the rules | its range | CPU time, blocks / rules |",
        "|---|---|---|---|---|",
    ]
    for beta, is_default in product(BETAS, (False, True)):
        chosen = [row for row in rows if float(row[0]) == beta and (row[1] == "default") == is_default]
        own = np.array([[float(value) for value in row[2:]] for row in chosen])
        if len(own):
            ends, times = own[:, 0] / own[:, 2], own[:, 1] / own[:, 3]
            span = f"{ends.min():.3f}–{ends.max():.3f}"
            starts = "the default" if is_default else f"{len(own)} random"
            lines.append(f"| {beta:g} | {starts} | {np.median(ends):.3f} | {span} | {np.median(times):.1f} |")
    return lines


def read():
    """The rows of the last run."""
    if not RESULTS.is_file():
        return []
    with RESULTS.open(newline="") as file:
        return list(csv.reader(file))[1:]


def main():
    warnings.simplefilter("ignore")
    X = load_digits().data
    measure(X, 1.5, "0", 12)  # compile everything
    rows = read()
    done = {(float(beta), start) for beta, start, *_ in rows}
    for beta, start in sorted(set(product(BETAS, STARTS)) - done):
        rows.append([f"{beta:g}", start, *(f"{value:.6g}" for value in measure(X, beta, start))])
        with RESULTS.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["beta", "start", "blocks", "blocks seconds", "rules", "rules seconds"])
            writer.writerows(rows)
    print("\n".join(table(rows)))


if __name__ == "__main__":
    main()

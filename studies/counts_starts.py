"""Where Kullback–Leibler fits of counts end: Newton steps from ten starts against the multiplicative rules.

    python -m studies.counts_starts            # prints the table, writes studies/results/counts_starts.csv
    python -m studies.counts_starts tdt2-10    # one case; the rows of the others stay

The first sweeps decide in which minimum a run ends. For every start the study divides our objective after 200 sweeps by
that of the rules after 1,000: at or below one, nothing is lost by being fast.
"""

from __future__ import annotations

import csv
import sys
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from partwise import NMF, datasets

from .real_data import FOLDER

STARTS, OUR_SWEEPS, RULES_SWEEPS = 10, 200, 1000
CASES = {"made-up-10": ("made-up", 10), "tdt2-10": ("tdt2", 10), "tdt2-30": ("tdt2", 30)}
RESULTS = Path(__file__).parent / "results" / "counts_starts.csv"


def load(name):
    """Counts: of words, or made up with as few positive entries."""
    if name != "made-up":
        return datasets.load(name, FOLDER).X.astype(np.float64)
    rng = np.random.default_rng(0)
    rate = rng.gamma(0.3, size=(3_000, 15)) @ rng.gamma(0.3, size=(15, 1_000))
    return sp.csr_array(rng.poisson(rate * (0.05 / rate.mean())), dtype=np.float64)


def measure(case):
    """Rows (case, start, our objective, that of the rules), one by one."""
    name, k = CASES[case]
    X = load(name)
    for seed in range(STARTS):
        how = {"loss": "kullback-leibler", "init": "random", "random_state": seed, "tol": 0}
        ours = NMF(k, max_iter=OUR_SWEEPS, **how).fit(X).objective_
        rules = NMF(k, max_iter=RULES_SWEEPS, solver="multiplicative", **how).fit(X).objective_
        yield case, seed, f"{ours:.6f}", f"{rules:.6f}"


def report(rows):
    """Print the distribution of the ratios for every case."""
    print("case         starts  lowest  quarter   median  three quarters  highest  at or below")
    for case in CASES:
        ratios = np.array([float(ours) / float(rules) for name, _, ours, rules in rows if name == case])
        if len(ratios):
            cuts = np.quantile(ratios, [0, 0.25, 0.5, 0.75, 1])
            print("{:12s} {:6d}  {:.5f} {:.5f}  {:.5f}  {:.5f}         {:.5f}".format(case, len(ratios), *cuts), end="")
            print(f"  {int((ratios <= 1).sum())}")


def main():
    warnings.simplefilter("ignore")
    chosen = sys.argv[1:] or list(CASES)
    rows = []
    if RESULTS.is_file():
        with RESULTS.open(newline="") as file:
            rows = [tuple(row) for row in list(csv.reader(file))[1:] if row[0] not in chosen]
    for case in chosen:
        for row in measure(case):
            rows.append(row)
            print(*row, flush=True)
            with RESULTS.open("w", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(["case", "start", "ours", "rules"])
                writer.writerows(sorted(rows, key=lambda row: (list(CASES).index(row[0]), int(row[1]))))
    report(rows)


if __name__ == "__main__":
    main()

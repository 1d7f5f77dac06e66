"""Where Kullback–Leibler fits of counts end: Newton steps from ten starts against the multiplicative rules.

    python -m studies.counts_starts            # prints the table, writes studies/results/counts_starts.csv
    python -m studies.counts_starts tdt2-10    # one case; the rows of the others stay

Every start takes minutes. Numbers that are in the file are not computed again: delete a row, or one number of it, to
repeat that. The rules take most of the time, and do not change with our solver.
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
NAMES = {"made-up": "made-up counts, 3,000 × 1,000", "tdt2": "TDT2, counts of words"}
RESULTS = Path(__file__).parent / "results" / "counts_starts.csv"


def load(name):
    """Counts: of words, or made up with as few positive entries."""
    if name != "made-up":
        return datasets.load(name, FOLDER).X.astype(np.float64)
    rng = np.random.default_rng(0)
    rate = rng.gamma(0.3, size=(3_000, 15)) @ rng.gamma(0.3, size=(15, 1_000))
    return sp.csr_array(rng.poisson(rate * (0.05 / rate.mean())), dtype=np.float64)


def measure(case, known):
    """Rows (case, start, our objective, that of the rules), one by one; `known` has some of the two for some starts."""
    name, k = CASES[case]
    X = load(name)
    for seed in range(STARTS):
        ours, rules = known.get(seed, ("", ""))
        if ours and rules:
            continue
        how = {"loss": "kullback-leibler", "init": "random", "random_state": seed, "tol": 0}
        ours = ours or f"{NMF(k, max_iter=OUR_SWEEPS, **how).fit(X).objective_:.6f}"
        rules = rules or f"{NMF(k, max_iter=RULES_SWEEPS, solver='multiplicative', **how).fit(X).objective_:.6f}"
        yield case, str(seed), ours, rules


def read():
    """The rows of all runs so far."""
    if not RESULTS.is_file():
        return []
    with RESULTS.open(newline="") as file:
        return [tuple(row) for row in list(csv.reader(file))[1:]]


def table(rows):
    """The distribution of the ratios for every case, as lines of Markdown."""
    lines = [
        "| case | starts | lowest | quarter | median | three quarters | highest | at or below one |",
        "|---" * 8 + "|",
    ]
    for case, (name, k) in CASES.items():
        whole = [row for row in rows if row[0] == case and all(row)]
        ratios = np.array([float(ours) / float(rules) for _, _, ours, rules in whole])
        if len(ratios):
            cuts = " | ".join(f"{cut:.4f}" for cut in np.quantile(ratios, [0, 0.25, 0.5, 0.75, 1]))
            title = f"{NAMES[name]}, {k} components"
            lines.append(f"| {title} | {len(ratios)} | {cuts} | {int((ratios <= 1).sum())} |")
    return lines


def main():
    warnings.simplefilter("ignore")
    rows = read()
    for case in sys.argv[1:] or CASES:
        for row in measure(case, {int(seed): numbers for name, seed, *numbers in rows if name == case}):
            rows = [other for other in rows if other[:2] != row[:2]] + [row]
            print(*row, flush=True)
            with RESULTS.open("w", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(["case", "start", "ours", "rules"])
                writer.writerows(sorted(rows, key=lambda row: (list(CASES).index(row[0]), int(row[1]))))
    print("\n".join(table(rows)))


if __name__ == "__main__":
    main()

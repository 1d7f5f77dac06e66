"""Consensus components against single fits, on planted programs of unequal abundance.

    python -m studies.consensus         # prints the table, writes studies/results/consensus.csv

Six programs over 60 features, each used by the samples less than the one before (the last a sixth as much as the
first), make the means of 200 samples; data are Poisson counts with 10 to 0.3 of them per entry on average. Of 20 fits
from random starts, `best` is the one with the lowest objective, `typical` their average; `consensus` is what
`ConsensusNMF` makes of the same fits, `best quarter` what it makes of the five with the lowest objectives
(`best_share=0.25`), `bootstrap` what it makes of 20 fits to bootstrap samples of the rows, and `bagged` the mean of 20
fits to randomly weighted samples from where the best fit ended (`n_bagged=20`), which was chosen among others on draws
100 to 123. Scores are mean cosines of the true programs with those found for them. The numbers of programs that
`ConsensusNMF` chooses from 3 to 9 are counted too.
"""

from __future__ import annotations

import csv
import warnings
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment

from partwise import NMF
from partwise.selection import ConsensusNMF
from partwise.selection.bagging import bagged
from partwise.selection.programs import TooFewAgree, find_programs, unit_rows
from partwise.solvers import Options, solve_many

PROGRAMS, SAMPLES, FEATURES, RATIO = 6, 200, 60, 0.7
COUNTS, DRAWS, REPLICATES = (10.0, 3.0, 1.0, 0.3), 12, 20
RANKS, CHOICES = range(3, 10), 4
LOSSES = ("frobenius", "kullback-leibler")
METHODS = ("typical", "best", "consensus", "best quarter", "bootstrap", "bagged")
COMPARED = ("consensus", "best quarter", "bagged")
# Those of cNMF.
NEIGHBORHOOD = 0.3
OPTIONS = Options(500, 1e-4, inner=True)
RESULTS = Path(__file__).parent / "results" / "consensus.csv"
HEAD = ("loss", "mean count", "draw", "method", "mean cosine", "smallest cosine", "programs")


def planted(count, seed):
    """Counts and the programs that made them."""
    rng = np.random.RandomState(seed)
    H = rng.gamma(0.3, size=(PROGRAMS, FEATURES))
    H /= H.sum(axis=1, keepdims=True)
    mean = (rng.gamma(0.5, size=(SAMPLES, PROGRAMS)) * RATIO ** np.arange(PROGRAMS)) @ H
    return rng.poisson(count * mean / mean.mean()).astype(float), H


def cosines(truth, found):
    """Of the true programs with those found, each with another one."""
    S = unit_rows(truth) @ unit_rows(found).T
    return S[linear_sum_assignment(-S)]


def replicates(X, posed, seed, resample=False):
    """Objectives, components at unit norm, and factors of fits from random starts."""
    rng = np.random.RandomState(seed)

    def problems():
        for start in rng.randint(2**31 - 1, size=REPLICATES):
            weight = np.bincount(rng.randint(len(X), size=len(X)), minlength=len(X)).astype(float)
            replicate = posed.replicate(int(start))
            yield replicate.reweighted(weight) if resample else replicate

    ends = [
        (end.result.objective, unit_rows(end.state.components), (end.state.W, end.state.Ht))
        for _, end in solve_many(problems(), OPTIONS)
    ]
    return sorted(ends, key=lambda end: end[0])


def consensus(fits):
    """The components that they agree on, or nothing."""
    found = np.vstack([components for _, components, _ in fits])
    try:
        return find_programs(found, PROGRAMS, n_neighbors=int(NEIGHBORHOOD * len(fits))).components
    except TooFewAgree:
        return np.zeros((PROGRAMS, FEATURES))


def rows_of(loss, count, draw):
    """(method, mean cosine, smallest cosine)."""
    X, truth = planted(count, draw)
    posed = NMF(PROGRAMS, loss=loss).problem(X)
    fits = replicates(X, posed, draw)
    single = np.mean([cosines(truth, components) for _, components, _ in fits], axis=0)
    others = {
        "best": fits[0][1],
        "consensus": consensus(fits),
        "best quarter": consensus(fits[: REPLICATES // 4]),
        "bootstrap": consensus(replicates(X, posed, draw, resample=True)),
        "bagged": bagged(posed, fits[0][2], REPLICATES, OPTIONS, draw),
    }
    for method, values in {"typical": single, **{name: cosines(truth, H) for name, H in others.items()}}.items():
        yield method, f"{values.mean():.4f}", f"{values.min():.4f}", ""


def chosen(loss, count, draw):
    """The number of programs that is chosen, and the cosines of the first six."""
    X, truth = planted(count, draw)
    estimator = NMF(loss=loss, tol=OPTIONS.tol, max_iter=OPTIONS.max_iter)
    model = ConsensusNMF(estimator, list(RANKS), n_replicates=REPLICATES, random_state=draw).fit(X)
    found = np.vstack([model.components_, np.zeros((PROGRAMS, FEATURES))])
    values = cosines(truth, found)
    return "chosen", f"{values.mean():.4f}", f"{values.min():.4f}", model.n_components_


def measure():
    """All rows."""
    for loss in LOSSES:
        for count in COUNTS:
            for draw in range(DRAWS):
                for row in rows_of(loss, count, draw):
                    yield loss, count, draw, *row
            for draw in range(CHOICES):
                yield loss, count, draw, *chosen(loss, count, draw)
            print(loss, count, flush=True)


def read():
    """The rows that were kept."""
    with RESULTS.open(encoding="utf-8", newline="") as file:
        return [
            (loss, float(count), int(draw), method, float(mean), float(least), programs)
            for loss, count, draw, method, mean, least, programs in list(csv.reader(file))[1:]
        ]


def scores(rows, loss, count, method):
    """Mean cosines of a method, draw by draw."""
    return np.array([row[4] for row in rows if row[:2] == (loss, count) and row[3] == method])


def table(rows):
    """Lines of Markdown: means over the draws, and how far the consensus is ahead of the best fit."""
    lines = [
        "| loss | counts per entry | "
        + " | ".join(METHODS)
        + " | "
        + " | ".join(f"{method} − best" for method in COMPARED)
        + " | numbers chosen |",
        "|:--|--:|" + "--:|" * len(METHODS) + ":--|" * (len(COMPARED) + 1),
    ]
    for loss in LOSSES:
        for count in COUNTS:
            by_method = {method: scores(rows, loss, count, method) for method in METHODS}
            ahead = " | ".join(_ahead(by_method[name], by_method["best"]) for name in COMPARED)
            numbers = sorted(int(row[6]) for row in rows if row[:2] == (loss, count) and row[3] == "chosen")
            means = " | ".join(f"{values.mean():.3f}" for values in by_method.values())
            lines.append(f"| {loss} | {count:g} | {means} | {ahead} | {', '.join(map(str, numbers))} |")
    return lines


def _ahead(values, others):
    """The mean of the differences, and its standard error."""
    gains = values - others
    return f"{gains.mean():+.4f} ± {gains.std(ddof=1) / np.sqrt(len(gains)):.4f}"


def main():
    """Measure, keep, print."""
    warnings.simplefilter("ignore")
    rows = list(measure())
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([HEAD, *rows])
    print("\n".join(table(read())))


if __name__ == "__main__":
    main()

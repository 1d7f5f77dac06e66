"""Rules of choice compared: paths through the strengths, compared with labels only afterwards.

    python -m studies.selection_rules            # continues where it stopped; rows in results/paths.csv.gz
    python -m studies.selection_rules --report   # the table of rules in docs/selection.md, from that file

The paths are those of the estimators, on the draws of `studies.selection`, up to where the choice is made: nothing is
continued to convergence. What a rule picks is compared with the best strength by labels, from the method's own start
and for all draws of a data set, as in the study.
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from itertools import product
from pathlib import Path

import numpy as np

from partwise.metrics import clustering_accuracy
from partwise.selection.choice import follow
from partwise.selection.criteria import stability
from partwise.selection.judging import shares
from partwise.selection.trials import CRITERIA, Trials

from .kept_rows import add_rows, read_rows
from .selection import METHODS, REPEATS, SETS, draw
from .selection_report import write

RESULTS = Path(__file__).parent / "results" / "paths.csv.gz"
WORTH = (*CRITERIA, "stability")
HEADER = ("data", "repeat", "method", "value", "start", "accuracy", *WORTH)
FOLLOWED = ("GraphNMF", "LocalLearningNMF", "LocalCoordinateNMF")
# The present rule was found on these repeats, without the sets that were kept out.
DESIGN_REPEATS = 8

LINKS_AND_DATA = ("connectedness", "modularity", "silhouette")
RULES = {
    "median of four (the present rule)": (np.median, CRITERIA),
    "median of connectedness, modularity, silhouette": (np.median, LINKS_AND_DATA),
    "mean of four": (np.mean, CRITERIA),
    "mean of connectedness, modularity, silhouette": (np.mean, LINKS_AND_DATA),
    "median of all five": (np.median, WORTH),
    **{f"{name} alone": (np.median, (name,)) for name in WORTH},
}


def follow_paths(name, repeat):
    """A row for every trial of every method."""
    X, y = draw(name, repeat)
    for method in FOLLOWED:
        kind, parameter, strengths = METHODS[method]
        recipe = kind(int(y.max()) + 1, random_state=repeat)
        trials = Trials(recipe.problem(X))
        for row in follow(trials, parameter, (0.0, *strengths), {}):
            agreement = stability([trial.labels for trial in row])
            for start, trial in enumerate(row):
                numbers = clustering_accuracy(y, trial.labels), *(trial.criteria[name] for name in CRITERIA), agreement
                yield name, repeat, method, trial.parameters[parameter], start, *(f"{x:.5f}" for x in numbers)


def run():
    """Repeat by repeat over all sets; rows already in the file are not repeated."""
    warnings.simplefilter("ignore")
    done = {(row["data"], int(row["repeat"])) for row in read_rows(RESULTS)}
    for repeat, name in product(range(REPEATS), SETS):
        if (name, repeat) not in done:
            add_rows(RESULTS, HEADER, follow_paths(name, repeat))
            print(f"repeat {repeat} {name}", flush=True)


def report(rows):
    """Write the table of rules into the page."""
    paths = defaultdict(list)
    for row in rows:
        paths[row["method"], row["data"], int(row["repeat"])].append(row)
    lines = [
        "| rule | draws | " + " | ".join(f"{method}: mean, worst" for method in FOLLOWED) + " | lose > 4, of all |",
        "|" + "---|" * (len(FOLLOWED) + 3),
    ]
    for rule, (combine, names) in RULES.items():
        for part, belongs in (
            (f"first {DESIGN_REPEATS}", lambda repeat: repeat < DESIGN_REPEATS),
            ("others", lambda repeat: repeat >= DESIGN_REPEATS),
        ):
            losses = lost({key: found for key, found in paths.items() if belongs(key[2])}, combine, names)
            cells = [f"{np.mean(list(gaps.values())):+.1f}, {min(gaps.values()):+.1f}" for gaps in losses.values()]
            far = [gap < -4 for gaps in losses.values() for gap in gaps.values()]
            lines.append(f"| {rule} | {part} | {' | '.join(cells)} | {sum(far)} of {len(far)} |")
    write("selection_rules.py", "\n".join(lines))


def lost(paths, combine, names):
    """Points of accuracy against the best strength by labels: {method: {set: points}}."""
    picked, by_strength = defaultdict(list), defaultdict(list)
    for (method, name, _), rows in paths.items():
        accuracy = 100 * np.array([float(row["accuracy"]) for row in rows])
        worth = np.array([[[float(row[criterion])] for row in rows] for criterion in names])
        losses = combine(shares(worth, worth), axis=0)
        picked[method, name].append(accuracy[losses.argmin()])
        by_strength[method, name].append(accuracy[[row["start"] == "0" for row in rows]])
    gaps = defaultdict(dict)
    for (method, name), found in picked.items():
        gaps[method][name] = float(np.mean(found) - np.mean(by_strength[method, name], axis=0).max())
    return gaps


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--report", action="store_true", help="write the table")
    if parser.parse_args().report:
        report(read_rows(RESULTS))
    else:
        run()

"""Where the defaults are behind the papers' tuned methods: would another start or another rule for labels help?

    python -m studies.behind            # continues where it stopped; results/behind.csv
    python -m studies.behind --report   # prints the table of docs/reproduction/findings.md from that file

GraphNMF chooses its strength among fits on two paths through the strengths, and fits that start from the normalised cut
of the graph at every strength (docs/selection.md). Compared are the two paths alone; with a third path that starts from
the cut at the largest strength and goes down; and with the largest entry of a code as a second rule for labels beside
k-means. In all of them the four criteria pick without labels. The best trial by labels says what any pick could reach.
The papers' rules with a drifting scale (λ = 10, 100 sweeps) and the normalised cut of the same neighbours stand beside
them.

Draws of Reuters and TDT2 are those of the GNMF paper's protocol with 6 classes, from number 1,000 on, which no reading
and no rule has seen; the others are the last draws of `studies.selection`. At most 2,000 samples of a draw are used.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np

from partwise import GraphNMF, NormalizedCut
from partwise.core.threads import one_thread
from partwise.experiments import load_protocol
from partwise.experiments.paper_starts import STARTS
from partwise.experiments.plan import Place, Plan
from partwise.experiments.preparation import draw_classes, prepare
from partwise.metrics import clustering_accuracy, normalized_mutual_information
from partwise.selection.choice import follow
from partwise.selection.judging import best_place, losses
from partwise.selection.trials import FIRST, SHORT, Trials

from .selection import REPEATS, STRENGTHS, draw

CORPORA, N_CLASSES, FIRST_DRAW, MOST = ("Reuters", "TDT2"), 6, 1000, 2_000
TEXTS = ("webkb4", "webace", "newsgroup4", "cstr")
IMAGES = ("coil100", "coil20", "orl32", "yale32", "semeion", "digits", "mnist10k", "pix")
DRAWS = 10
RESULTS = Path(__file__).parent / "results" / "behind.csv"
HEADER = ("data", "draw", "way", "accuracy", "nmi")
WAYS = {
    "two paths": "two paths",
    "down": "and a path down from the cut",
    "chosen": "and fits from the cut (the present rule)",
    "rules": "two paths, and largest entries",
    "best k-means": "best by labels, k-means",
    "best entry": "best by labels, largest entry",
    "cut": "normalised cut",
    "drifting": "papers' rules",
}


def drawn(name, number):
    """X and classes of one draw."""
    if name in CORPORA:
        protocol = load_protocol("gnmf")
        method = protocol.methods["GNMF"]
        run = Plan(protocol).run(Place(name, N_CLASSES), method, method.settings(name)[0], FIRST_DRAW + number)
        sample = draw_classes(prepare(run.data, run.data.prepare), N_CLASSES, run.seeds[0])
        X, y = sample.X, sample.y
    else:
        X, y = draw(name, REPEATS - 1 - number)
    if len(y) > MOST:
        rows = np.sort(np.random.RandomState(number).choice(len(y), MOST, replace=False))
        X, y = X[rows], np.unique(y[rows], return_inverse=True)[1].ravel()
    return X, y


def measure(name, number):
    """A row for every way."""
    X, y = drawn(name, number)
    k = int(y.max()) + 1
    trials = Trials(GraphNMF(k, random_state=number).problem(X))
    strengths = (0.0, *STRENGTHS)
    rows = follow(trials, "graph_strength", strengths, {})
    paths = [row[:2] for row in rows]
    down = [trials.run({"graph_strength": strengths[-1]}, trials.cut_start({"graph_strength": strengths[-1]}), FIRST)]
    for strength in reversed(strengths[:-1]):
        down.append(trials.run({"graph_strength": strength}, down[-1].factors, SHORT))
    entries = [[_by_largest_entry(trials, trial, k) for trial in row] for row in paths]
    drifting = GraphNMF(
        k, graph_strength=10.0, solver="multiplicative", scale=None, max_iter=100, tol=0, random_state=number
    )
    drifting.set_params(init=STARTS["unit components"](X, k, number, drifting.get_params()))
    labels = {
        "two paths": _picked(paths),
        "down": _picked([[*row, trial] for row, trial in zip(paths, reversed(down), strict=True)]),
        "chosen": _picked(rows),
        "rules": _picked([[*row, *others] for row, others in zip(paths, entries, strict=True)]),
        "best k-means": _best(paths, y),
        "best entry": _best(entries, y),
        "cut": NormalizedCut(k, graph=trials.edges, random_state=number).fit(X).labels_,
        "drifting": drifting.fit(X).labels_,
    }
    for way, found in labels.items():
        scores = clustering_accuracy(y, found), normalized_mutual_information(y, found)
        yield name, number, way, *(f"{score:.4f}" for score in scores)


def _by_largest_entry(trials, trial, k):
    labels = trial.factors[0].argmax(axis=1)
    return replace(trial, labels=labels, criteria=trials.judge(labels, k))


def _picked(rows):
    """The labels that the present rule takes."""
    value, start = best_place(losses(rows, rows), np.array([[trial.distinct for trial in row] for row in rows]))
    return rows[value][start].labels


def _best(rows, y):
    return max((trial.labels for row in rows for trial in row), key=lambda labels: clustering_accuracy(y, labels))


def run():
    """Draw by draw over all sets; draws already in the file are not repeated."""
    warnings.simplefilter("ignore")
    done = set()
    if RESULTS.is_file():
        with RESULTS.open(newline="") as file:
            done = {(row["data"], int(row["draw"])) for row in csv.DictReader(file)}
    else:
        RESULTS.write_text(",".join(HEADER) + "\n")
    for number in range(DRAWS):
        for name in (*CORPORA, *TEXTS, *IMAGES):
            if (name, number) not in done:
                with one_thread():
                    rows = list(measure(name, number))
                with RESULTS.open("a", newline="") as file:
                    csv.writer(file).writerows(rows)
                print(f"draw {number} {name}", flush=True)


def report():
    """The table: mean accuracy / NMI, in per cent."""
    scores = defaultdict(list)
    with RESULTS.open(newline="") as file:
        for row in csv.DictReader(file):
            scores[row["data"], row["way"]].append((100 * float(row["accuracy"]), 100 * float(row["nmi"])))
    lines = ["| data | " + " | ".join(WAYS.values()) + " |", "|" + "---|" * (len(WAYS) + 1)]
    for name in dict.fromkeys(data for data, _ in scores):
        cells = ["{:.1f} / {:.1f}".format(*np.mean(scores[name, way], axis=0)) for way in WAYS]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--report", action="store_true", help="print the table")
    if not parser.parse_args().report:
        run()
    print(report())

"""Make some of the committed runs again: are they what the code gives today, and how long does a run take?

    python -m docs.reproduction.check [PAPER …]

One committed run per method and data set, with the middle number of clusters, unless ``--each N`` asks for more. A
method whose scores differ by more than rounding explains needs a higher ``version`` in its protocol; then its runs are
made again.
"""

import argparse
import time
from pathlib import Path

from partwise.experiments import Journal, load_protocol, paper_names
from partwise.experiments.plan import Plan
from partwise.experiments.runs import execute

RESULTS = Path(__file__).resolve().parents[2] / "results"
# In per cent: on another processor single samples may change their cluster.
ROUNDING = 1.0


def committed_runs(paper, method=None):
    """The runs of a protocol that are in the journal, with their scores."""
    plan = Plan(load_protocol(paper), method=method)
    journal = Journal(RESULTS / "runs" / f"{paper}.csv")
    for place in plan.places:
        for method in plan.methods:
            for setting in method.settings(place.dataset):
                for draw in plan.draws(place):
                    run = plan.run(place, method, setting, draw)
                    if run in journal:
                        yield run, journal.scores(run)


def difference(run, scores):
    """The largest difference of a score, in points, when the run is made again."""
    found = execute(run)
    return max(abs(found[name] - scores[name]) for name in scores)


def sample(pairs, each):
    """From every method and data set some runs, the middle ones."""
    groups = {}
    for run, scores in pairs:
        groups.setdefault((run.method.name, run.data.name), []).append((run, scores))
    for group in groups.values():
        first = max(0, (len(group) - each) // 2)
        yield from group[first : first + each]


def main():
    """Print a line per run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("papers", nargs="*", metavar="PAPER")
    parser.add_argument("--each", type=int, default=1)
    options = parser.parse_args()
    for paper in options.papers or paper_names():
        for run, scores in sample(committed_runs(paper), options.each):
            start = time.process_time()
            moved = difference(run, scores)
            seconds = time.process_time() - start
            verdict = "same" if moved <= ROUNDING else "DIFFERENT"
            where = f"{paper} {run.method.name} {run.data.name} {run.n_clusters} draw {run.draw} {run.setting_text}"
            print(f"{verdict:9} {moved:6.2f} {seconds:7.2f} s  {where}", flush=True)


if __name__ == "__main__":
    main()

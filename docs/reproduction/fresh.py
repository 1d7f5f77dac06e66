"""Runs that nobody has seen before, against the committed ones: the table of ``README.md``.

    partwise reproduce PAPER --draws-from 1000 --one-in 10

makes them, for about one in ten of the cells. Two means of the same thing differ by less than two standard errors of
their difference in 95 of 100 cases, if runs are independent. Where all classes are used there is one draw of classes,
and only the starts are new.
"""

from pathlib import Path

import numpy as np

from partwise.experiments import Journal, compare, load_protocol, paper_names
from partwise.experiments.plan import Plan
from partwise.experiments.tables import markdown
from partwise.experiments.verdicts import ENOUGH

RESULTS = Path(__file__).resolve().parents[2] / "results"
FIRST_DRAW, ONE_IN = 1000, 10


def pairs(paper):
    """Cells with enough runs in both: the committed one, and the one of fresh draws."""
    protocol = load_protocol(paper)
    found = []
    for first, name in ((0, paper), (FIRST_DRAW, f"{paper}-from-{FIRST_DRAW}")):
        plan = Plan(protocol, first_draw=first, one_in=ONE_IN)
        cells = compare(plan, Journal(RESULTS / "runs" / f"{name}.csv"))
        found.append({(c.dataset, c.n_clusters, c.metric, c.method): c for c in cells if c.repeats >= ENOUGH})
    committed, fresh = found
    return [(committed[key], fresh[key]) for key in committed if key in fresh]


def agrees(one, other):
    """Within two standard errors of the difference; two columns without any deviation must be equal."""
    return abs(one.mean - other.mean) <= 2 * np.hypot(one.error, other.error) + 0.005


def fresh_table():
    """Per paper: cells, in how many places, how many agree, and the mean difference.

    Methods and metrics of a place (a data set and a number of clusters) share its draws: their differences go together.
    """
    body = []
    for name, paper in paper_names().items():
        found = pairs(name)
        if found:
            number = sum(agrees(one, other) for one, other in found)
            shift = np.mean([other.mean - one.mean for one, other in found])
            places = len({(cell.dataset, cell.n_clusters) for cell, _ in found})
            body.append([paper, str(len(found)), str(places), f"{number} ({number / len(found):.0%})", f"{shift:+.1f}"])
    if not body:
        return "None has been made yet."
    return "\n".join(markdown(["paper", "cells", "places", "agree", "mean of fresh − committed"], body))

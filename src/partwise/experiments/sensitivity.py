"""How results depend on the parameters of a grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .journal import Journal
from .plan import Place, Plan
from .protocol import MethodPlan


@dataclass(frozen=True)
class Sensitivity:
    """Scores of a method over its grid on one data set.

    Attributes
    ----------
    method, dataset, metric : str
    values : dict of str to list
        The parameters that vary, each with its values.
    means : dict of tuple to float
        For every point of the grid, in per cent, the mean over the numbers of clusters and draws on which all points
        were run.
    """

    method: str
    dataset: str
    metric: str
    values: dict[str, list[Any]]
    means: dict[tuple[Any, ...], float]


def sensitivities(plan: Plan, journal: Journal) -> list[Sensitivity]:
    """The results of the finished runs for every grid with more than one point, and for the paper's figures."""
    datasets = dict.fromkeys(place.dataset for place in plan.places)
    found = []
    for method in plan.methods:
        for dataset in datasets:
            compared = [
                (place, draw)
                for place in plan.places
                for draw in (plan.draws(place) if place.dataset == dataset else ())
            ]
            drawn = [(place, plan.first_draw) for place in plan.figure_places(method) if place.dataset == dataset]
            found += _over(plan, journal, method, dataset, method.settings(dataset), compared)
            found += _over(plan, journal, method, dataset, method.settings(dataset, drawn=True), drawn)
    return found


def _over(
    plan: Plan,
    journal: Journal,
    method: MethodPlan,
    dataset: str,
    settings: list[dict[str, Any]],
    draws: Sequence[tuple[Place, int]],
) -> list[Sensitivity]:
    """Means over those draws on which all settings were run."""
    values = {name: list(dict.fromkeys(setting[name] for setting in settings)) for name in settings[0]}
    varied = {name: options for name, options in values.items() if len(options) > 1}
    metrics = dict.fromkeys(m for place, names in plan.places.items() if place.dataset == dataset for m in names)
    found = []
    for metric in metrics if varied else ():
        rows = []
        for place, draw in draws:
            scores = [journal.scores(plan.run(place, method, setting, draw)) for setting in settings]
            row = [s[metric] for s in scores if s is not None and metric in s]
            if len(row) == len(settings):
                rows.append(row)
        if rows:
            points = [tuple(setting[name] for name in varied) for setting in settings]
            means = dict(zip(points, np.mean(rows, axis=0).tolist(), strict=True))
            found.append(Sensitivity(method.name, dataset, metric, varied, means))
    return found

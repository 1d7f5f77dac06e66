"""One draw of a paper's protocol, fitted again for display: the runs themselves keep only scores."""

from __future__ import annotations

import time
import warnings

import numpy as np

from ..core.interruption import fit_whole
from ..core.threads import one_thread
from ..files import DataSet
from .comparison import Comparison
from .journal import Journal
from .outcomes import Outcome, describe_fit
from .plan import Place, Plan
from .preparation import Sample, draw_classes, draw_labels, prepare
from .protocol import MethodPlan
from .runs import Run, build, find_estimator, has_components, is_available

# As many clusters as possible, up to this.
CLUSTERS = 10


def example(plan: Plan, journal: Journal) -> Comparison | None:
    """The first draw of the smallest data set at hand, by all methods that have components; None if there is none.

    Parameters
    ----------
    plan : Plan
    journal : Journal
        Knows which settings of a grid were best.
    """
    here = [place for place in plan.places if place.dataset not in plan.absent]
    available = [method for method in plan.methods if is_available(method)]
    methods = [method for method in available if has_components(find_estimator(method.estimator))]
    if not here or not methods:
        return None
    smallest = min(dict.fromkeys(place.dataset for place in here), key=lambda name: _n_entries(plan, name))
    same = [place for place in here if place.dataset == smallest]
    small = [place for place in same if place.n_clusters <= CLUSTERS]
    place = max(small, key=lambda place: place.n_clusters) if small else min(same, key=lambda place: place.n_clusters)
    first = plan.run(place, methods[0], methods[0].settings(place.dataset)[0], 0)
    shared = _sample(first, ())
    steps = plan.protocol.datasets[place.dataset].prepare
    return Comparison(
        data=DataSet(
            f"{place.dataset}, {place.n_clusters} classes",
            shared.X,
            shared.y,
            shared.class_names,
            shared.image_shape,
            "",
            "",
            shared.terms,
        ),
        X=shared.X,
        preparation=f"Preparation: {', '.join(steps) or 'none'}",
        known=np.full(len(shared.y), -1, np.intp),
        outcomes=tuple(_outcome(plan, journal, place, method) for method in methods),
        seed=first.seeds[0],
    )


def _n_entries(plan: Plan, dataset: str) -> int:
    data = plan.protocol.datasets[dataset]
    return int(prepare(data, data.prepare).X.size)


def _sample(run: Run, further: tuple[str, ...]) -> Sample:
    return draw_classes(prepare(run.data, run.data.prepare + further), run.n_clusters, run.seeds[0])


def _outcome(plan: Plan, journal: Journal, place: Place, method: MethodPlan) -> Outcome:
    best = plan.best_settings(journal, place, method)
    setting = next(iter(best.values()), method.settings(place.dataset)[0])
    run = plan.run(place, method, setting, 0)
    sample = _sample(run, method.prepare)
    known = np.full(len(sample.y), -1, np.intp)
    if method.labelled:
        known = draw_labels(sample.y, method.labelled, run.seeds[1])
    model = build(run, sample, run.seeds[2])
    with warnings.catch_warnings(), one_thread():
        # As in the runs: a paper's number of sweeps is part of its protocol.
        warnings.simplefilter("ignore")
        clock = time.perf_counter()
        labels = np.asarray(fit_whole(model, sample.X, known if method.labelled else None).labels_)
        seconds = time.perf_counter() - clock
    return describe_fit(method.name, model, labels, sample.y, known, seconds)

"""What it costs to leave a parameter open: CPU time of a fit with "auto" over that of one with the chosen value."""

from __future__ import annotations

import warnings

import numpy as np

import partwise
from partwise.selection.grids import fixed_strengths

from .measure import clock
from .problems import problem
from .table import Row


def cost_of_auto(method, parameter, name, seeds=(0, 1, 2), needed="≤ 6"):
    """A row: whole fits to convergence with one parameter open, from the data to the factors, graph included."""
    X, y, data = problem(name)
    k = int(y.max()) + 1
    make = getattr(partwise, method)
    opened, single, chosen = [], [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        make(**{"n_components": 2, parameter: "auto", "max_iter": 2}, random_state=0).fit(X[:40])  # compile
        for seed in seeds:
            begin = clock()
            others = {**fixed_strengths(make), **({} if parameter == "n_components" else {"n_components": k})}
            model = make(**{**others, parameter: "auto"}, random_state=seed).fit(X)
            opened.append(clock() - begin)
            begin = clock()
            make(**{**others, **model.selection_.choice}, random_state=seed).fit(X)
            single.append(clock() - begin)
            chosen.append(model.selection_.choice[parameter])
    figures = np.array(opened) / np.array(single)
    return [
        Row(
            f"{method}, {parameter}='auto', in single fits",
            f"{data} k={k}",
            "a single fit",
            float(np.median(opened)),
            float(np.median(single)),
            figure=float(np.median(figures)),
            low=float(figures.min()),
            high=float(figures.max()),
            needed=needed,
            note=f"chosen: {', '.join(f'{value:.3g}' for value in chosen)}; theirs is the single fit",
        )
    ]

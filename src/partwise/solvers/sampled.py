"""A start from a sample of the rows: most of the way at a fraction of the cost."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..core.objective import Objective
from ..core.operand import Operand
from ..core.state import State
from ..core.types import Array
from .choice import choose_solver
from .codes import code_samples
from .loop import Options, minimise
from .starts import random_start

SAMPLE_SHARE = 8
LEAST_ROWS_PER_COMPONENT = 10
SWEEPS = 40
PASSES = 50


def sampled_start(
    X: Operand,
    n_components: int,
    rng: np.random.RandomState,
    fit_to: Callable[[Operand], Objective],
    options: Options,
) -> tuple[Array, Array]:
    """Fit an eighth of the rows for 40 sweeps, then solve once for the codes of all.

    Parameters
    ----------
    X : Operand
    n_components : int
    rng : numpy.random.RandomState
    fit_to : callable
        Makes the fit, without penalties, of a sample.
    options : Options
        Of the fit that will start from here.

    Returns
    -------
    W : ndarray of shape (n_samples, n_components)
    Ht : ndarray of shape (n_features, n_components)
    """
    n = X.shape[0]
    size = min(n, max(n // SAMPLE_SHARE, LEAST_ROWS_PER_COMPONENT * n_components))
    sample = X.take(np.sort(rng.choice(n, size, replace=False)))
    objective = fit_to(sample)
    start = State(sample, *random_start(sample, n_components, rng))
    with sample.at_work():
        result = minimise(objective, choose_solver("auto", objective), [lambda: start], options.inside(SWEEPS, 0.0))
    W, Ht = result.state.W, result.state.Ht
    return code_samples(objective.terms, X, Ht, W, max_passes=PASSES), Ht

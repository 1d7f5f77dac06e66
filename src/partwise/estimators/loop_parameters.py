"""How a fit runs: the parameters of the loop."""

from .options import Callbacks, Count, NonNegative, RandomState, Verbosity
from .parameters import Parametrised


class LoopParameters(Parametrised):
    """When the loop stops, where it starts, and what it reports.

    Parameters
    ----------
    max_iter : int
        Most sweeps; a sweep is the codes, then the components.
    tol : float
        Stop when a sweep lowers the objective by less than this share of it, on average over the last five, and a
        projected gradient step could not gain a larger share of the fit either (multiplicative steps, which
        cannot lift entries near zero, are stopped by the decrease alone), or when the objective no longer changes as
        far as its type resolves it. It means the same for every loss, solver and
        precision: at 1e-4 scikit-learn's `NMF` stops with a similar error, usually after more sweeps.
        0 runs exactly `max_iter` sweeps.
    n_init : int
        Number of starts; all are run for a tenth of `max_iter` and the best is continued. Starts from singular vectors
        are always the same, so only one is made.
    warm_start : bool
        Start from the last solution if the shapes agree.
    random_state : int, RandomState or None
        Source of random numbers; an int makes fits repeatable.
    verbose : int
        1 shows a progress bar, also while "auto" is choosing. Without a terminal or a notebook, or without rich, it
        prints every tenth sweep and every value that "auto" tries; 2 prints every sweep.
    callbacks : callable, Callback or list of these
        Called after every sweep, see `partwise.callbacks`.
    """

    max_iter: Count = 500
    tol: NonNegative = 1e-6
    n_init: Count = 1
    warm_start: bool = False
    random_state: RandomState = None
    verbose: Verbosity = 0
    callbacks: Callbacks = None

"""Solvers, which minimise any sum of terms and know no method.

The names below are those of which methods are made; the rest is imported from its module.
"""

from .batches import begin_stream, check_streams, fit_anew, take_batch
from .choice import choose_dual_solver, choose_solver
from .codes import code_rows, code_samples, coding_terms
from .cuts import cut_embedding
from .group_start import GroupStart
from .loop import Options, Result
from .many import solve_many
from .multiplicative import Multiplicative
from .point import Solver
from .problem import Minimum, Problem, solve
from .scale import codes_power, normalise, rescaled, warn_if_dead
from .search import minimise
from .spectral import spectral_embedding
from .starting import DualStart, FreeStart, NamedStart, Start, TriStart
from .starts import feature_residuals, start_from_labels
from .tri_multiplicative import TriMultiplicative

__all__ = [
    "DualStart",
    "FreeStart",
    "GroupStart",
    "Minimum",
    "Multiplicative",
    "NamedStart",
    "Options",
    "Problem",
    "Result",
    "Solver",
    "Start",
    "TriMultiplicative",
    "TriStart",
    "begin_stream",
    "check_streams",
    "choose_dual_solver",
    "choose_solver",
    "code_rows",
    "code_samples",
    "codes_power",
    "coding_terms",
    "cut_embedding",
    "feature_residuals",
    "fit_anew",
    "minimise",
    "normalise",
    "rescaled",
    "solve",
    "solve_many",
    "spectral_embedding",
    "start_from_labels",
    "take_batch",
    "warn_if_dead",
]

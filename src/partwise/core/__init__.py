"""What terms and solvers share: the data door, the state of a fit, and the forms an objective takes.

The names below are those of which methods are made; the rest is imported from its module.
"""

from .door import has_nan, is_lent, read_data, values_of
from .dual import FeatureKernel, GivenKernel, KernelMatrix
from .fixed import Fixed
from .memory import check_fits
from .objective import Objective
from .operand import Missing, Operand
from .reading import StoredRows
from .state import State
from .storage import as_operand, group_means
from .term import BoundTerm, Term
from .threads import one_thread
from .tri import TriState
from .types import CODES, COMPONENTS, FACTORS, Array, Factor, IntArray, column_norms, dot64
from .units import Powers, Unit, Unscalable, no_function, scaled

__all__ = [
    "CODES",
    "COMPONENTS",
    "FACTORS",
    "Array",
    "BoundTerm",
    "Factor",
    "FeatureKernel",
    "Fixed",
    "GivenKernel",
    "IntArray",
    "KernelMatrix",
    "Missing",
    "Objective",
    "Operand",
    "Powers",
    "State",
    "StoredRows",
    "Term",
    "TriState",
    "Unit",
    "Unscalable",
    "as_operand",
    "check_fits",
    "column_norms",
    "dot64",
    "group_means",
    "has_nan",
    "is_lent",
    "no_function",
    "one_thread",
    "read_data",
    "scaled",
    "values_of",
]

"""Components that repeat others: under a quadratic penalty on the codes it pays to split a component."""

from collections.abc import Sequence

from ..core import CODES, Array, BoundTerm, Factor
from ..core.warn import warn
from ..exceptions import DuplicateComponentsWarning
from ..metrics.distinct import repeats
from ..terms.smoothness import BoundSmoothness

# Cosine above which two components are the same.
SAME = 0.99


def warn_if_duplicate(W: Array, H: Array, terms: Sequence[BoundTerm], unit: Factor | None) -> None:
    """Warn if neighbours have made components repeat.

    Two equal halves of a component fit the data as well as the whole. A penalty that grows with the square of the codes
    is a quarter for each, a half for both. Where codes have unit norm, it doubles instead.

    Parameters
    ----------
    W, H : ndarray
        Codes and components.
    terms : sequence of BoundTerm
    unit : {"codes", "components"} or None
        The factor that has unit norm.
    """
    penalties = (getattr(term, "penalty", term) for term in terms)
    if unit == CODES or not any(isinstance(penalty, BoundSmoothness) for penalty in penalties):
        return
    k = len(H)
    used = (H > 0).any(axis=1) & (W > 0).any(axis=0)
    count = int(repeats(H[used], SAME).sum())
    if count:
        warn(
            f"{k - count} of {k} components are distinct; the others repeat them, because the penalty is smaller for "
            "two halves of a component than for the whole. Clusters do not suffer. For a list of distinct "
            "parts or topics use a smaller strength, fewer components, or NMF.",
            DuplicateComponentsWarning,
        )

"""Estimators that can choose the number of their components."""

from dataclasses import field

from .base import BaseFactorization
from .options import ComponentsOrAuto


class OpenFactorization(BaseFactorization):
    """A factorisation whose number of components may be left open.

    Parameters
    ----------
    n_components : int, "auto" or sequence of int
        Number of parts, k. "auto" chooses it without labels, a sequence among its values; see `selection_`.

    Attributes
    ----------
    selection_ : partwise.selection.Selection
        If a parameter was open: the values tried, what each was worth, and the choice; ``print`` it or call its
        ``plot``. The final fit continues from the best one.
    """

    n_components: ComponentsOrAuto = field(default=8, kw_only=False)  # type: ignore[assignment]

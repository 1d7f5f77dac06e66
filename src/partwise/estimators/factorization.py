"""Any sum of terms, for people who invent methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from ..core.operand import Missing
from ..core.term import Term
from ..terms import BetaDivergence, Frobenius
from ..terms.divergence import order
from .labelled import LabelledFactorization
from .units import Units, Unscalable, codes_unit


class Factorization(LabelledFactorization):
    r"""Minimise any sum of terms over codes W ≥ 0 (n × k) and components H ≥ 0 (k × m).

        Σ_t term_t(W, H)

    Parameters
    ----------
    terms : sequence of Term
        The summands, from `partwise.terms` or your own; None is the squared error alone. A fit uses
        `y` if a term has ``use_labels=True``.
    missing : {None, "nan", "unstored"}
        Entries of X that are unknown: none, those that are NaN, or those that a sparse X does not store. A
        sample of which nothing is known has a code of zeros, unless a term links it to others.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from partwise import Factorization
    >>> from partwise.terms import L1, BetaDivergence, NeighborGraph
    >>> X, y = load_digits(return_X_y=True)
    >>> terms = [BetaDivergence("kullback-leibler"), NeighborGraph(10.0), L1(0.1)]
    >>> model = Factorization(10, terms=terms, max_iter=20, tol=0, random_state=0).fit(X)
    >>> sorted(model.history_)
    ['fit', 'graph', 'l1 codes', 'objective', 'time']
    """

    terms: Annotated[Sequence[Term] | None, list, tuple, None] = None
    missing: Missing = None

    _paper = "any sum of terms"
    _cost = "2 T + what the terms add"

    def _terms(self) -> list[Term]:
        terms: list[Term] = [Frobenius()] if self.terms is None else list(self.terms)
        for term in terms:
            if not isinstance(term, Term):
                raise TypeError(f"terms holds {term!r}; every element must be a partwise.terms.Term.")
        if not terms:
            raise ValueError("terms is empty; give at least a fit, for example [partwise.terms.Frobenius()].")
        return terms

    def _units(self) -> Units:
        orders = {_order(term) for term in self._terms()}
        if len(orders) > 1:
            raise Unscalable("terms are added that grow differently with X")
        codes = codes_unit(self.scale)
        return Units(codes, 1 - codes, orders.pop())

    def _uses_labels(self) -> bool:
        terms = self.terms if isinstance(self.terms, list | tuple) else ()
        return any(getattr(term, "use_labels", False) for term in terms)


def _order(term: Term) -> float:
    """As which power of the unit of X a fit grows."""
    if isinstance(term, Frobenius):
        return 2.0
    if isinstance(term, BetaDivergence):
        return order(term.beta)
    raise Unscalable(f"the strength of the term {type(term).__name__} may have a unit")

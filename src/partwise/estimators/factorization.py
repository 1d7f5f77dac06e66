"""Any sum of terms, for inventing methods."""

from collections.abc import Sequence
from typing import Annotated, Any

from ..core import CODES, COMPONENTS, FACTORS, Factor, Missing, Term, Unit, Unscalable
from ..core.domains import NON_NEGATIVE, Domain, Free, OneEntry, Simplex, UnitNorm
from ..solvers import FreeStart, Start
from ..terms import Frobenius
from .attaching import Attaching
from .labelled import LabelledFactorization
from .options import DomainName

DOMAINS: dict[DomainName, Domain] = {
    "non-negative": NON_NEGATIVE,
    "free": Free(),
    "unit-norm": UnitNorm(),
    "simplex": Simplex(),
    "one-entry": OneEntry(),
}


class Factorization(Attaching, LabelledFactorization):
    r"""Minimise any sum of terms over codes W (n × k) and components H (k × m), each in its own domain.

        Σ_t term_t(W, H)

    The terms and the domains determine the solver, and no sweep raises the objective. Impossible combinations are
    refused before any work: a divergence needs factors without negative entries, for example.

    Parameters
    ----------
    terms : sequence of Term
        The summands, from `partwise.terms` or your own; None is just the squared error. A fit uses `y` if a term has
        ``use_labels=True``.
    codes : {"non-negative", "free", "unit-norm", "simplex", "one-entry"} or Domain
        What the codes may be: without negative entries; of either sign (then X may have either sign too); with unit
        norm over the samples; with a sum of one for every sample; with one entry for every sample. `partwise.domains`
        has more: ``Sparse``, and ``Fixed`` for codes or single entries that are known. Codes of new samples are of the
        same kind, where it applies to a single sample.
    components : {"non-negative", "free", "unit-norm", "simplex", "one-entry"} or Domain
        The same for the components, each of which may have unit norm or a sum of one; with "one-entry" every feature
        belongs to one component. `partwise.domains` also has ``RankOne``.
    missing : {None, "nan", "unstored"}
        Entries of X that are unknown: none, those that are NaN, or those that a sparse X does not store. A
        sample without any known entry has a code of zeros, unless a term links it to others.

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

    Semi-NMF with a graph: components of either sign for centred data, neighbours with similar codes.

    >>> from partwise.terms import Frobenius
    >>> semi = Factorization(10, terms=[Frobenius(), NeighborGraph(10.0)], components="free", max_iter=20, tol=0)
    >>> bool((semi.fit(X - X.mean(axis=0)).components_ < 0).any())
    True

    Codes that are shares of the components:

    >>> shares = Factorization(10, terms=[BetaDivergence("kullback-leibler")], codes="simplex", max_iter=20, tol=0)
    >>> bool(abs(shares.fit(X).embedding_.sum(axis=1) - 1).max() < 1e-9)
    True
    """

    _takes_blocks = True
    _takes_workers = True

    terms: Annotated[Sequence[Term] | None, list, tuple, None] = None
    codes: DomainName | Domain = "non-negative"
    components: DomainName | Domain = "non-negative"
    missing: Missing = None

    def _terms(self) -> list[Term]:
        terms: list[Term] = [Frobenius()] if self.terms is None else list(self.terms)
        for term in terms:
            if not isinstance(term, Term):
                raise TypeError(f"terms holds {term!r}; every element must be a partwise.terms.Term.")
        if not terms:
            raise ValueError("terms is empty; give at least a fit, for example [partwise.terms.Frobenius()].")
        return terms

    def _domains(self) -> dict[Factor, Domain]:
        given: dict[Factor, DomainName | Domain] = {CODES: self.codes, COMPONENTS: self.components}
        return {factor: DOMAINS[domain] if isinstance(domain, str) else domain for factor, domain in given.items()}

    def _start(self, shape: tuple[int, int], dtype: Any) -> Start:
        domains = self._domains()
        free = [factor for factor in FACTORS if domains[factor].signed]
        if not free:
            return super()._start(shape, dtype)
        if isinstance(self.init, str) and self.init not in ("auto", "kmeans", "random"):
            raise ValueError(f"init={self.init!r} has no start of either sign. Use 'kmeans', 'random' or arrays.")
        return FreeStart(**self._start_fields(shape, dtype), free=COMPONENTS if COMPONENTS in free else CODES)

    def _unit_for(self, exponent: int, dtype: Any) -> Unit:
        if any(domain != NON_NEGATIVE for domain in self._domains().values()):
            raise Unscalable("a domain may have a unit")
        return super()._unit_for(exponent, dtype)

    def _uses_labels(self) -> bool:
        terms = self.terms if isinstance(self.terms, list | tuple) else ()
        return any(getattr(term, "use_labels", False) for term in terms)

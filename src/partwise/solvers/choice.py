"""Which solver minimises a given objective."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Literal

from ..core.domains import NON_NEGATIVE, Domain, Free, NonNegative, Simplex
from ..core.fixed import rest_of
from ..core.objective import Objective
from ..core.past import Past
from ..core.types import CODES, COMPONENTS, Factor
from .alternating import Alternating
from .coordinate import Coordinate
from .free import FreeCoordinate, FreeMultiplicative
from .gentle import Hastened
from .multiplicative import Multiplicative
from .newton import Newton, is_free, is_swept, keeps_domains, steps_in_blocks
from .piecewise import Piecewise, goes_in_pieces
from .point import Solver
from .projected import Projected
from .revival import Reviving
from .row_assignment import RowAssignment
from .row_coordinate import RowCoordinate

SolverName = Literal["auto", "coordinate", "newton", "multiplicative", "assignment"]


def choose_solver(
    name: SolverName, objective: Objective, powers: Mapping[Factor, float] | None = None
) -> Callable[[], Solver]:
    """A maker of fresh solvers for the objective; refuses an impossible choice before any work.

    Parameters
    ----------
    name : {"auto", "coordinate", "newton", "multiplicative", "assignment"}
    objective : Objective
    powers : dict of factor to float, optional
        Of the multiplicative rule, where a paper prints others than descent requires.
    """
    codes, components = objective.domains[CODES], objective.domains[COMPONENTS]
    _refuse_signs(objective)
    if name == "newton" and not (objective.has_logarithms or steps_in_blocks(objective)):
        raise ValueError(
            "solver='newton' needs the Kullback–Leibler divergence, or another β-divergence of data that are mostly "
            "known, and quadratic penalties that can be swept row by row. Use solver='auto'."
        )
    if name == "assignment":
        return partial(RowAssignment, objective)
    if name in ("auto", "newton") and (steps_in_blocks(objective) or keeps_domains(objective)):
        _refuse_rules(objective)
        return _revived(objective, partial(Newton, objective))
    if name == "auto" and goes_in_pieces(objective):
        return partial(Piecewise, objective)
    if is_swept(objective):
        return _for_non_negative(name, objective, powers)
    if codes == NON_NEGATIVE and isinstance(components, Free) and not objective.without_entries():
        if name == "multiplicative":
            return partial(FreeMultiplicative, objective, powers)
        return partial(FreeCoordinate, objective)
    if name == "multiplicative" or objective.without_quadratic():
        _refuse_rules(objective)
        return partial(Multiplicative, objective, powers)
    if name != "auto":
        factor, domain = _special(objective)[0]
        raise ValueError(f"solver={name!r} does not keep the {factor} {domain.words}. Use solver='auto'.")
    return partial(Alternating, objective)


def _for_non_negative(
    name: SolverName, objective: Objective, powers: Mapping[Factor, float] | None
) -> Callable[[], Solver]:
    without, products = objective.without_quadratic(), objective.without_entries()
    if name == "auto":
        swept = objective.has_row_squares or not (without or products)
        if not swept and objective.has_entrywise and is_free(objective) and powers is None:
            return _revived(objective, partial(Hastened, objective))
        name = "coordinate" if swept else "multiplicative"
    if name == "coordinate" and not objective.has_row_squares:
        _refuse_coordinate(without, products)
    solvers: dict[str, Callable[[Objective], Solver]] = {
        "multiplicative": partial(Multiplicative, powers=powers),
        "coordinate": RowCoordinate if objective.has_row_squares else Coordinate,
    }
    return _revived(objective, partial(solvers[name], objective))


def _revived(objective: Objective, new_solver: Callable[[], Solver]) -> Callable[[], Solver]:
    """With components moved to samples when no sample uses them, where a term ties them to samples.

    Components that no sample of a batch uses may be those of earlier ones, and stay.
    """
    if any(isinstance(term, Past) for term in objective.terms):
        return new_solver
    if any(term.anchored for term in objective.terms) and objective.domains[COMPONENTS] == NON_NEGATIVE:
        return lambda: Reviving(objective, new_solver)
    return new_solver


def choose_dual_solver(
    name: str, objective: Objective, powers: Mapping[Factor, float] | None = None
) -> Callable[[], Solver]:
    """The same for components made of samples, whose kernel is a product: there are no entries to sweep.

    `powers` are those of the multiplicative rule, where a paper prints others than descent requires.
    """
    return partial(Multiplicative, objective, powers) if name == "multiplicative" else partial(Projected, objective)


def _special(objective: Objective) -> list[tuple[Factor, Domain]]:
    """The factors that are not simply non-negative."""
    return [(factor, domain) for factor, domain in objective.domains.items() if domain != NON_NEGATIVE]


def _refuse_rules(objective: Objective) -> None:
    """Say why multiplicative rules cannot keep the factors in their domains, if they cannot."""
    for factor, domain in _special(objective):
        if isinstance(rest_of(domain), NonNegative | Simplex):
            continue
        without = objective.without_quadratic()
        if without:
            raise ValueError(
                f"The term {without[0]!r} is not quadratic, and no solver for such terms keeps the {factor} "
                f"{domain.words}. Use the squared error on complete data, or {factor} that are only non-negative."
            )
        raise ValueError(f"solver='multiplicative' does not keep the {factor} {domain.words}. Use solver='auto'.")
    steep = [name for name, term in zip(objective.names, objective.terms, strict=True) if term.steep]
    if steep and any(isinstance(rest_of(domain), Simplex) for domain in objective.domains.values()):
        raise ValueError(
            f"The term {steep[0]!r} has no step on the simplex: a β-divergence needs β from 1 to 2 for it, and "
            "orthogonal codes have none."
        )


def _refuse_signs(objective: Objective) -> None:
    """Refuse terms that need non-negative entries where these may be negative."""
    for factor, domain in objective.domains.items():
        if not domain.signed:
            continue
        for name, term in zip(objective.names, objective.terms, strict=True):
            if not term.offers_quadratic or term.counts_entries(factor):
                raise ValueError(
                    f"The term {name!r} needs {factor} without negative entries, but Free() allows them. Use the "
                    "squared error on complete data, l2 instead of l1, or another domain."
                )


def _refuse_coordinate(without: list[str], products: list[str]) -> None:
    """Say why coordinate descent is impossible, if it is."""
    if without:
        raise ValueError(
            f"solver='coordinate' is not compatible with the term {', '.join(map(repr, without))}: it needs the "
            "quadratic form of every term, and a divergence has none. Use solver='multiplicative' or solver='auto'."
        )
    if products:
        raise ValueError(
            f"solver='coordinate' is not compatible with the term {', '.join(map(repr, products))}: it sweeps the "
            "entries of S, but with this many neighbours S has too many and is only applied. Use fewer neighbours, "
            "solver='multiplicative' or solver='auto'."
        )

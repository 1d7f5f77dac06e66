"""Which solver minimises a given objective."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Literal

from ..core.domains import Free, OneEntry, RankOne, Simplex, Sparse, UnitNorm
from ..core.objective import Objective
from ..core.types import CODES, COMPONENTS, Factor
from .columns import Columns
from .coordinate import Coordinate
from .free_components import FreeCoordinate, FreeMultiplicative
from .modes import Modes
from .multiplicative import Multiplicative
from .newton import Newton
from .point import Solver
from .projected import Projected
from .revival import Reviving
from .row_assignment import RowAssignment
from .unit_codes import UnitCodes
from .unit_sums import UnitSums

SolverName = Literal["auto", "coordinate", "newton", "multiplicative"]


def choose_solver(
    name: SolverName, objective: Objective, powers: Mapping[Factor, float] | None = None
) -> Callable[[], Solver]:
    """A maker of fresh solvers for the objective; refuses an impossible choice before any work.

    Parameters
    ----------
    name : {"auto", "coordinate", "newton", "multiplicative"}
    objective : Objective
    powers : dict of factor to float, optional
        Of the multiplicative rule, where a paper prints others than descent asks for.
    """
    if name == "newton" and not objective.has_logarithms:
        raise ValueError(
            "solver='newton' needs the Kullback–Leibler divergence, and penalties that are quadratics which can be "
            "swept row by row. Use solver='auto'."
        )
    codes, components = objective.domains[CODES], objective.domains[COMPONENTS]
    if isinstance(codes, OneEntry):
        return partial(RowAssignment, objective)
    if isinstance(components, RankOne):
        return partial(Modes, objective)
    if isinstance(codes, Sparse) or isinstance(components, Sparse):
        return partial(Columns, objective)
    if isinstance(components, Simplex):
        return partial(UnitSums, objective)
    if isinstance(components, Free):
        if name == "coordinate":
            return partial(FreeCoordinate, objective)
        return partial(FreeMultiplicative, objective, powers)
    if isinstance(codes, UnitNorm):
        return _unit_codes_solver(name, objective)
    without, products = objective.without_quadratic(), objective.without_entries()
    if name == "auto":
        name = "newton" if objective.has_logarithms else "multiplicative" if without or products else "coordinate"
    if name == "coordinate":
        _refuse(without, products)
    solvers: dict[str, Callable[[Objective], Solver]] = {
        "multiplicative": partial(Multiplicative, powers=powers),
        "coordinate": Coordinate,
        "newton": Newton,
    }
    new_solver = partial(solvers[name], objective)
    if any(term.anchored for term in objective.terms):
        return lambda: Reviving(objective, new_solver)
    return new_solver


def choose_dual_solver(
    name: str, objective: Objective, powers: Mapping[Factor, float] | None = None
) -> Callable[[], Solver]:
    """The same for components made of samples, whose kernel is a product: there is nothing to sweep by entries.

    `powers` are those of the multiplicative rule, where a paper prints others than descent asks for.
    """
    return partial(Multiplicative, objective, powers) if name == "multiplicative" else partial(Projected, objective)


def _unit_codes_solver(name: SolverName, objective: Objective) -> Callable[[], Solver]:
    if name != "auto":
        raise ValueError(
            f"solver={name!r} does not keep the codes at unit norm, which scale='codes' asks for; that scale has a "
            "solver of its own. Use solver='auto', or scale='auto'."
        )
    without = objective.without_quadratic()
    if without:
        raise ValueError(
            f"scale='codes' is not compatible with the term {', '.join(map(repr, without))}, which is no quadratic of "
            "the codes. Use loss='frobenius', or scale='auto'."
        )
    return lambda: UnitCodes(objective)


def _refuse(without: list[str], products: list[str]) -> None:
    """Say why coordinate descent is impossible, if it is."""
    if without:
        raise ValueError(
            f"solver='coordinate' is not compatible with the term {', '.join(map(repr, without))}: it needs the "
            "quadratic form of every term, and a divergence or a fit with missing or weighted entries has none. "
            "Use solver='multiplicative' or solver='auto'."
        )
    if products:
        raise ValueError(
            f"solver='coordinate' is not compatible with the term {', '.join(map(repr, products))}: it sweeps the "
            "entries of S, and with so many neighbours S has too many and is only applied. Use fewer neighbours, "
            "solver='multiplicative' or solver='auto'."
        )

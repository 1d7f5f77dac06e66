"""The values from which a parameter is chosen, and the check of a user's own values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from inspect import signature
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np

from ..solvers.problem import Problem
from ..terms.divergence import order
from ..terms.entries import known_share

Kind = Literal["strength", "neighbors", "components"]
AUTO = "auto"


@dataclass(frozen=True)
class Grid:
    """The values of one parameter, in rising order.

    Attributes
    ----------
    kind : {"strength", "neighbors", "components"}
        What the parameter is; it decides how its values are tried and judged.
    values : tuple of float
    meanwhile : float
        The value while other parameters are chosen first, and when nothing can be chosen.
    refined : bool
        Adapt the values to the data, and also try numbers of components between the best and its neighbours. Not
        for values given by the user.
    """

    kind: Kind
    values: tuple[float, ...]
    meanwhile: float
    refined: bool = True

    def given(self, name: str, values: Any) -> Grid:
        """The same with the user's own values, checked."""
        least = 0 if self.kind == "strength" else 1
        what = "numbers of at least 0" if self.kind == "strength" else "integers of at least 1"
        wanted = Real if self.kind == "strength" else Integral
        listed: list[Any] = list(values) if isinstance(values, Iterable) and not isinstance(values, str) else [values]
        if not listed:
            raise ValueError(f"{name} is empty; give the {what} to choose from, or 'auto'.")
        for value in listed:
            if (
                isinstance(value, bool)
                or not isinstance(value, wanted)
                or not np.isfinite(float(value))
                or value < least
            ):
                raise ValueError(f"{name} holds {value!r}; a list to choose from must hold {what}.")
        distinct = tuple(sorted({value.item() if isinstance(value, np.generic) else value for value in listed}))
        return replace(self, values=distinct, meanwhile=distinct[len(distinct) // 2], refined=False)

    def at_most(self, largest: int) -> Grid:
        """Without values too large for the data."""
        kept = tuple(value for value in self.values if value <= largest)
        return replace(self, values=kept or (max(largest, 1),))

    def positive(self) -> Grid:
        """Without 0."""
        return replace(self, values=tuple(value for value in self.values if value > 0))


# Powers of ten, from where a penalty has no effect to where nothing else has.
STRENGTHS = Grid("strength", (0.0, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0), 10.0)
# From 10 on, the codes of many data sets vanish altogether.
COORDINATE_STRENGTHS = Grid("strength", (0.0, 0.001, 0.01, 0.1, 1.0), 0.1)
NEIGHBORS = Grid("neighbors", (3, 5, 10, 20), 5)
RANKS = Grid("components", (2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64), 8)
ORDER: tuple[Kind, ...] = ("components", "neighbors", "strength")


def open_parameters(recipe: Any, selectable: Mapping[str, Grid]) -> dict[str, Grid]:
    """The parameters to choose, in the order in which they are chosen, with checked grids.

    Parameters
    ----------
    recipe : estimator
    selectable : mapping of str to Grid
        What the method can choose.
    """
    grids: dict[str, Grid] = {}
    for name, grid in sorted(selectable.items(), key=lambda item: ORDER.index(item[1].kind)):
        value = getattr(recipe, name)
        if isinstance(value, str):
            grids[name] = grid.positive() if name == "coordinate_strength" and _has_fixed_graph(recipe) else grid
        elif not isinstance(value, Real):
            grids[name] = grid.given(name, value)
    if grids:
        _refuse(recipe, grids)
    return grids


def _has_fixed_graph(recipe: Any) -> bool:
    """Whether there is a graph of a given strength, which has a different unit where coordinates do not count."""
    strength = getattr(recipe, "graph_strength", 0)
    return isinstance(strength, Real) and float(strength) > 0


def _refuse(recipe: Any, grids: Mapping[str, Grid]) -> None:
    """Refuse what cannot be chosen."""
    for name, grid in grids.items():
        if grid.kind == "neighbors" and getattr(recipe, "graph", None) is not None:
            raise ValueError(f"{name}={getattr(recipe, name)!r} has nothing to choose: the graph is given.")
        strength = getattr(recipe, "graph_strength", None)
        if grid.kind == "neighbors" and isinstance(strength, Real) and strength == 0:
            raise ValueError(f"{name}={getattr(recipe, name)!r} has nothing to choose: graph_strength is 0.")
    if not isinstance(recipe.init, str) and "n_components" in grids:
        raise ValueError("n_components is to be chosen, but init=(W, H) fixes it. Use init='auto', or a number.")


def fixed_strengths(kind: type) -> dict[str, float]:
    """Numbers for the strengths that an estimator chooses by default: its fallback values.

    Parameters
    ----------
    kind : type
        The estimator.
    """
    defaults = signature(kind).parameters
    selectable: Mapping[str, Grid] = getattr(kind, "_selectable", {})
    return {
        name: grid.meanwhile
        for name, grid in selectable.items()
        if grid.kind == "strength" and defaults[name].default == AUTO
    }


def strength_unit(problem: Problem, name: str) -> float:
    """The unit of a strength, so that one grid serves all data, whatever their unit.

    Next to the squared error, where components have unit norm, strengths have no unit. Next to the Kullback-Leibler
    divergence, which grows like X and not like X², they have that of 1 / X: Σ X / ‖X‖². Codes of unit norm, and those
    that count components that look like samples, do not grow with X, and neither do penalties on them; on a free scale
    they grow like √X.

    Parameters
    ----------
    problem : Problem
        With numbers for open parameters.
    name : str
        The strength.
    """
    X = problem.X
    n = X.shape[0] if X.sample_weight is None else float(X.sample_weight.sum(dtype=np.float64))
    square = X.squared_norm if X.missing is None else X.known().squared_norm
    if square == 0:
        return 1.0
    total = X.mean() * n * X.shape[1] * known_share(X)
    divergence = any(order(getattr(fit, "beta", 2.0)) == 1 for fit in problem.fits)
    strengths = {term.strength_name: getattr(term, "strength", 0) for term in problem.terms}
    if problem.scale == "codes":
        return square / float(problem.n_components)
    if name == "graph_strength" and strengths.get("coordinate_strength", 0) > 0:
        return (total if divergence else square) / n
    if problem.scale is None:
        return 1.0 if divergence else math.sqrt(square / n)
    return total / square if divergence else 1.0

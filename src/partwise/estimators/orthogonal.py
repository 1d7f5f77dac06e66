"""Base class for estimators with orthogonal codes."""

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

import numpy as np

from ..core import CODES, Factor, State
from ..core.domains import Domain, OneEntry
from ..solvers import Options, Problem, rescaled, warn_if_dead
from .options import Assign, OrthogonalSolver
from .unweighted import UnweightedFactorization


class BaseOrthogonal(UnweightedFactorization):
    """Codes W ≥ 0 with WᵀW = I: every sample uses one component.

    Parameters
    ----------
    assign : {"argmax", "kmeans"}
        How codes become labels.
    """

    scale: Literal["codes"] = field(default="codes", init=False)  # type: ignore[assignment]
    solver: OrthogonalSolver = "auto"  # type: ignore[assignment]
    assign: Assign = "argmax"

    _auto_init = "kmeans"
    _coding_domain = OneEntry()
    _auto_solver = "assignment"

    def _domains(self) -> dict[Factor, Domain]:
        # The multiplicative rules only approach it.
        return {} if self.solver == "multiplicative" else {CODES: OneEntry()}

    def _normalised(self, state: State, unit: Factor | None, domains: Mapping[Factor, Domain]) -> State:
        """Codes at unit norm. A component that no sample uses keeps an empty column: any other would overlap."""
        warn_if_dead(state)
        norms = state.norms(CODES)
        return rescaled(state, CODES, np.where(norms > 0, norms, 1))

    def _fit_problem(self, problem: Problem, options: Options) -> None:
        super()._fit_problem(problem, options)
        # Even where the rules of the fit only approach it.
        self._coding_domain = OneEntry()

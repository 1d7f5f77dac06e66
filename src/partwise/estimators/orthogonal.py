"""What estimators share whose codes are orthogonal."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import StrOptions

from ..core.operand import Operand
from ..core.state import State
from ..core.types import CODES, Array, Factor, column_norms
from ..solvers.row_assignment import best_entry
from .base import BaseFactorization
from .scale import rescaled, warn_if_dead


class BaseOrthogonal(BaseFactorization):
    """Codes W ≥ 0 with WᵀW = I: every sample uses one component."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{name: rule for name, rule in BaseFactorization._parameter_constraints.items() if name != "scale"},
        "solver": [StrOptions({"auto", "assignment", "multiplicative"})],
    }

    _auto_init = "kmeans"
    scale = CODES

    def fit(self, X: Any, y: Any = None) -> Self:  # type: ignore[override]
        """Learn codes and components from the data.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Non-negative data.
        y : object
            Ignored.

        Returns
        -------
        self
        """
        return super().fit(X)

    def fit_transform(self, X: Any, y: Any = None) -> Array:  # type: ignore[override]
        """Fit, then code the same samples as if they were new.

        This equals ``fit(X).transform(X)``. The codes that the fit itself found are in `embedding_`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : object
            Ignored.

        Returns
        -------
        W : ndarray of shape (n_samples, n_components)
        """
        return self.fit(X).transform(X)

    def _normalised(self, state: State, unit: Factor | None) -> State:
        """Codes at unit norm. A component that no sample uses keeps an empty column: any other would overlap."""
        warn_if_dead(state)
        norms = state.norms(CODES)
        return rescaled(state, CODES, np.where(norms > 0, norms, 1))

    def _code(self, X: Operand) -> Array:
        """Of every new sample the one entry that orthogonal codes have."""
        Ht = np.array(self.components_.T, X.dtype, order="C")
        with X.at_work():
            return best_entry(X.dot(Ht), column_norms(Ht) ** 2)

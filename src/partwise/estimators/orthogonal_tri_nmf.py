"""Orthogonal non-negative matrix tri-factorisation: clusters of samples and of features at once."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..core import FACTORS, Array, Factor, IntArray, Objective, State, Term, Unit
from ..core.domains import Domain, OneEntry
from ..solvers import Minimum, Problem, Solver, Start, TriMultiplicative, TriStart, warn_if_dead
from ..terms.orthogonal_fit import TriFit, tri
from .options import ClusterInit, Count
from .orthogonal import BaseOrthogonal
from .validation import check_factor


class OrthogonalTriNMF(BaseOrthogonal):
    r"""Orthogonal non-negative matrix tri-factorisation (ONMTF): co-clustering.

    Minimises, over F ≥ 0 (n × k), S ≥ 0 (k × l) and G ≥ 0 (m × l),

        ‖X − F S Gᵀ‖²   subject to   FᵀF = I,  GᵀG = I

    (Ding, Li, Peng & Park, "Orthogonal nonnegative matrix t-factorizations for clustering", 2006). F clusters the
    samples, G the features, and S says how strongly they are associated. In the terms of the other estimators the
    codes are W = F and the components H = S Gᵀ.

    Parameters
    ----------
    n_components : int
        Number of clusters of samples, k.
    n_column_clusters : int
        Number of clusters of features, l; by default as many as of samples.
    solver : {"auto", "assignment", "multiplicative"}
        "assignment", the default, keeps both constraints exactly: every sample, then every feature, goes to the cluster
        that explains most of it, and S = FᵀXG. No sweep raises the objective. "multiplicative" makes the steps of the
        paper, F ← F ∘ √(XGSᵀ / FFᵀXGSᵀ), G likewise, S ← S ∘ √(FᵀXG / FᵀFSGᵀG). Its factors are orthogonal only in
        the limit, and its objective may rise on the way.
    init : {"auto", "kmeans", "random"} or (F, S, G)
        Where F and G start: clusters of k-means on samples and on features with 0.2 added, as in the paper, or uniform
        numbers; then S is FᵀXG up to a factor. "auto" is "kmeans" if there are enough samples and features.
    assign : {"argmax", "kmeans"}
        How codes become labels; features always go by "argmax".

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        F, with columns of unit norm.
    feature_embedding_ : ndarray of shape (n_features, n_column_clusters)
        G, with columns of unit norm.
    association_ : ndarray of shape (n_components, n_column_clusters)
        S.
    components_ : ndarray of shape (n_components, n_features)
        H = S Gᵀ.
    row_labels_ : ndarray of int, shape (n_samples,)
        Cluster of every sample: `labels_` under the name that co-clusterers use.
    column_labels_ : ndarray of int, shape (n_features,)
        Cluster of every feature.

    Notes
    -----
    A sweep costs two products with X, dense or sparse. New samples get a single entry, as orthogonal codes have. A
    sample or feature that is zero everywhere has an empty code and the label 0.

    Examples
    --------
    >>> import numpy as np
    >>> from partwise import OrthogonalTriNMF
    >>> X = np.kron([[5.0, 1.0, 0.0], [0.0, 2.0, 4.0]], np.ones((3, 2)))
    >>> model = OrthogonalTriNMF(2, n_column_clusters=3, random_state=0).fit(X)
    >>> sorted(np.bincount(model.row_labels_).tolist()), sorted(np.bincount(model.column_labels_).tolist())
    ([3, 3], [2, 2, 2])
    >>> bool(np.allclose(model.inverse_transform(model.embedding_), X))
    True
    """

    n_column_clusters: Count | None = None
    init: ClusterInit = "auto"

    def _terms(self) -> list[Term]:
        return [TriFit()]

    def _new_solver(self, objective: Objective) -> Callable[[], Solver]:
        return (
            partial(TriMultiplicative, objective) if self.solver == "multiplicative" else super()._new_solver(objective)
        )

    def _domains(self) -> dict[Factor, Domain]:
        return dict.fromkeys(FACTORS, OneEntry()) if super()._domains() else {}

    def _start(self, shape: tuple[int, int], dtype: Any) -> Start:
        return TriStart(**self._start_fields(shape, dtype), n_column_clusters=self._n_columns)

    @property
    def _n_columns(self) -> int:
        return self.n_column_clusters or self.n_components

    def _continues(self, shape: tuple[int, int]) -> bool:
        fits = hasattr(self, "association_") and self.association_.shape[1] == self._n_columns
        return fits and super()._continues(shape)

    def _given_start(self, shape: tuple[int, int], dtype: Any) -> tuple[Array, ...] | None:
        """F, G and S to start from, if the user gave them or a warm start has them."""
        (n, m), k, n_columns = shape, self.n_components, self._n_columns
        init = self.init
        if self._continues(shape):
            init = self.embedding_, self.association_, self.feature_embedding_
        if isinstance(init, str):
            return None
        if self.n_init != 1:
            raise ValueError(f"n_init is {self.n_init}; with a given start init=(F, S, G) it must be 1.")
        if len(init) != 3:
            raise ValueError("init must be the name of a start or three arrays (F, S, G).")
        F, S, G = init
        return (
            check_factor("F", F, (n, k), dtype),
            check_factor("G", G, (m, n_columns), dtype),
            check_factor("S", S, (k, n_columns), dtype),
        )

    def _normalised(self, state: State, unit: Factor | None, domains: Mapping[Factor, Domain]) -> State:
        """Both factors at unit norm, the scale in S."""
        state = tri(state).normalised()
        warn_if_dead(State(state.X, state.W, state.Ht @ state.S.T))
        return state

    def _settle(self, problem: Problem, minimum: Minimum) -> None:
        super()._settle(problem, minimum)
        state = tri(minimum.state)
        self.feature_embedding_, self.association_ = np.ascontiguousarray(state.Ht), state.S

    def _bring_outside(self, unit: Unit) -> None:
        super()._bring_outside(unit)
        self.association_ = unit.outside(self.association_, 1.0)

    @property
    def row_labels_(self) -> IntArray:
        """Cluster of every training sample: `labels_` under the name that co-clusterers use."""
        return self.labels_

    @property
    def column_labels_(self) -> IntArray:
        """Cluster of every feature."""
        check_is_fitted(self, "embedding_")
        return np.asarray(self.feature_embedding_.argmax(axis=1), np.intp)

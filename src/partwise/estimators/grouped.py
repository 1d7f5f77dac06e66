"""Samples that come in groups: components that all groups share, and components of one group."""

from __future__ import annotations

from copy import copy
from dataclasses import field
from numbers import Integral
from typing import Annotated, Any, Self

import numpy as np
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from ..core import CODES, Array, Factor, Fixed, IntArray, Operand
from ..core.domains import Domain
from ..solvers import GroupStart, Minimum, NamedStart, Problem
from .groups import Groups, find_groups
from .known_components import KnownComponents
from .options import Count
from .units import codes_outside

CountOrZero = Annotated[int, Interval(Integral, 0, None, closed="left")]


class GroupedCodes(KnownComponents):
    """Adds groups to the factorisation that it is mixed with.

    Parameters
    ----------
    n_components : int
        Number of components that all groups share.
    n_group_components : int
        Number of further components of every group. With 0 all components are shared, and no groups are needed.

    Attributes
    ----------
    groups_ : ndarray of shape (n_groups,)
        The groups of the fit, sorted; empty if it had none.
    component_groups_ : ndarray of int, shape (`n_components_`,)
        Index in `groups_` of the group that each component belongs to; −1 for the shared ones, which come first.
    """

    n_components: Count = field(default=8, kw_only=False)  # type: ignore[assignment]
    n_group_components: CountOrZero = 1

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn codes and components from the data.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Non-negative data.
        y : array-like of shape (n_samples,), optional
            Classes, −1 for unknown; ignored by methods that use no labels.
        sample_weight : array-like of shape (n_samples,), optional
            How often each sample counts in the fit.
        groups : array-like of shape (n_samples,), optional
            Group of every sample, a number or text: at least two groups, each with more than `n_group_components`
            samples.

        Returns
        -------
        self
        """
        self._given = None if groups is None else Groups(groups)
        try:
            return super().fit(X, y, sample_weight)
        finally:
            del self._given

    def problem(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Problem:
        """What `fit` would minimise, as a value: for those who study a method, vary it or solve it differently.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), optional
        sample_weight : array-like of shape (n_samples,), optional
        groups : array-like of shape (n_samples,), optional

        Returns
        -------
        problem : partwise.solvers.Problem
        """
        method = copy(self)
        method._given = None if groups is None else Groups(groups)
        return super(GroupedCodes, method).problem(X, y, sample_weight)

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Array:
        """Fit, then code the same samples as if they were new samples of their groups.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), optional
        sample_weight : array-like of shape (n_samples,), optional
        groups : array-like of shape (n_samples,), optional

        Returns
        -------
        W : ndarray of shape (n_samples, `n_components_`)
        """
        return self.fit(X, y, sample_weight, groups).transform(X, groups)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> IntArray:
        """Fit, and give the cluster of every sample: ``fit(X, y, sample_weight, groups).labels_``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), optional
        sample_weight : array-like of shape (n_samples,), optional
        groups : array-like of shape (n_samples,), optional

        Returns
        -------
        labels : ndarray of int, shape (n_samples,)
        """
        return self.fit(X, y, sample_weight, groups).labels_

    def transform(self, X: Any, groups: Any = None) -> Array:
        """Code new samples with the learned components, under the same terms.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        groups : array-like of shape (n_samples,), optional
            Group of every sample, one of `groups_`: samples use the shared components and those of their group. By
            default only the shared ones.

        Returns
        -------
        W : ndarray of shape (n_samples, `n_components_`)
        """
        if groups is None:
            return super().transform(X)
        new = self._checked_new(X)
        return codes_outside(self._unit, self._code_grouped(new, groups))

    def predict(self, X: Any, groups: Any = None) -> IntArray:
        """Cluster labels of new samples, by their codes of the shared components.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        groups : array-like of shape (n_samples,), optional
            As for `transform`.

        Returns
        -------
        labels : ndarray of int, shape (n_samples,)
        """
        if groups is None:
            return super().predict(X)
        return self._predict(X, lambda new: self._code_grouped(new, groups))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> float:
        """Minus the mean loss of a sample, with codes as `transform` gives them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : object
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
        groups : array-like of shape (n_samples,), optional
            As for `transform`.

        Returns
        -------
        score : float
        """
        return self._score(X, sample_weight, lambda new: self._code_grouped(new, groups))

    @property
    def groups_(self) -> Array:
        """The groups of the fit, sorted."""
        check_is_fitted(self, "embedding_")
        return self._names.copy()

    @property
    def component_groups_(self) -> IntArray:
        """Index in `groups_` of the group that each component belongs to, −1 for shared ones."""
        check_is_fitted(self, "embedding_")
        return self._owners.copy()

    def _groups(self) -> Groups | None:
        """The groups of the fit that is being made."""
        given: Groups | None = self.__dict__.get("_given")
        return given

    def _members(self) -> IntArray | None:
        groups = self._groups()
        return None if groups is None else groups.members

    @property
    def _n_fitted(self) -> int:
        groups = self._groups()
        return self.n_components + (0 if groups is None else len(groups.names) * self.n_group_components)

    def _operand(self, X: Any, weight: Array | None) -> Operand:
        groups = self._groups()
        if groups is not None:
            groups.check(X.shape[0], self.n_group_components)
        elif self.n_group_components:
            raise ValueError(
                f"No groups were given, but every group is to have n_group_components={self.n_group_components}. Name "
                "them, fit(X, groups=...): the second argument is y, which is ignored. If there are no groups, use "
                "n_group_components=0, or NMF."
            )
        return super()._operand(X, weight)

    def _domains(self) -> dict[Factor, Domain]:
        domains, groups = super()._domains(), self._groups()
        if groups is not None:
            owners, members = groups.owners(self.n_components, self.n_group_components), groups.members[:, None]
            others = (owners >= 0) & (owners != members)
            domains[CODES] = Fixed(np.zeros(others.shape), where=others)
        return domains

    def _start(self, shape: tuple[int, int], dtype: Any) -> NamedStart:
        start, groups = super()._start(shape, dtype), self._groups()
        if groups is None or not self.n_group_components:
            return start
        return GroupStart(
            **start.__dict__,
            groups=groups.members,
            n_shared=self.n_components,
            n_own=self.n_group_components,
            n_pinned=self._n_known(),
        )

    def _n_known(self) -> int:
        """How many of the first components something is known about."""
        if self.component_mask is not None:
            return self.n_components
        known = self.seed_components if self.fixed_components is None else self.fixed_components
        return 0 if known is None else len(np.array(known, ndmin=2))

    def _settle(self, problem: Problem, minimum: Minimum) -> None:
        groups = self._groups() or Groups([])
        self._names = groups.names
        self._owners = groups.owners(self.n_components, self.n_group_components)
        super()._settle(problem, minimum)

    def _code(self, X: Operand) -> Array:
        return self._code_grouped(X, None)

    def _code_unseen(self, X: Operand, rows: IntArray) -> Array:
        members = self._members()
        return super()._code_unseen(X, rows) if members is None else self._code_members(X.take(rows), members[rows])

    def _code_grouped(self, X: Operand, groups: Any) -> Array:
        return self._code_members(X, self._find_members(groups, X.shape[0]))

    def _find_members(self, groups: Any, n_samples: int) -> IntArray:
        """Index of the group of every new sample, −1 for none."""
        return np.full(n_samples, -1) if groups is None else find_groups(groups, self._names, n_samples)

    def _code_members(self, X: Operand, members: IntArray, Ht: Array | None = None) -> Array:
        """Codes of samples by the shared components and those of their group, −1 for none."""
        Ht = self._inner_components(X.dtype) if Ht is None else Ht
        codes = np.zeros((X.shape[0], Ht.shape[1]), X.dtype)
        for group in np.unique(members):
            rows = np.flatnonzero(members == group)
            used = (self._owners < 0) | (self._owners == group)
            # A component that is zero everywhere does not change the codes of the others.
            codes[rows] = np.where(used, self._code_by(X.take(rows), np.where(used, Ht, 0)), 0)
        return codes

    def _clustered(self, codes: Array, X: Operand) -> Array:
        """Only shared components count: clusters of all components would be groups."""
        return super()._clustered(codes, X)[:, self._owners < 0]

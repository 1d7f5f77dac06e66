"""What a fitted model can do: code, label, score and reconstruct samples."""

import math
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from ..clusters import Assignment
from ..core import (
    Array,
    BoundTerm,
    IntArray,
    Missing,
    Operand,
    State,
    Term,
    Unit,
    as_operand,
    read_data,
    scaled,
)
from ..core.dask_rows import check_form, collection_of, float_type, is_dask, is_frame, mapped
from ..core.domains import NON_NEGATIVE, Domain
from ..solvers import code_samples, coding_terms
from ..terms import BetaDivergence
from ..terms.divergence import order
from .sklearn_bases import TransformerMixin
from .units import check_new_X, codes_outside
from .validation import check_sample_weight, refuse_unknown, warn_unknown, what_is_missing


class FittedFactorization(TransformerMixin):
    """The half of every estimator that no longer needs training data."""

    embedding_: Array
    components_: Array
    # The terms by which new samples are coded.
    _coding: list[Term]
    # What the codes of new samples may be, and the lengths of the components if they are coded by those of unit norm.
    _coding_domain: Domain = NON_NEGATIVE
    _coding_lengths: Array | None = None
    history_: dict[str, list[float]]
    objective_: float
    _losses: list[Term]
    _assignment: Assignment
    # Whether the method takes data that are not in memory.
    _takes_blocks: ClassVar[bool] = False
    # Which entries of X are unknown; estimators that take them have a parameter of this name.
    missing: Missing = None
    # The unit of the fit, which differs from the data's if these were too large or too small.
    _unit: Unit = Unit()

    def _code(self, X: Operand) -> Array:
        """Codes in the unit of the fit."""
        return self._code_by(X, self._inner_components(X.dtype))

    def _code_by(self, X: Operand, Ht: Array) -> Array:
        """The same by given components."""
        with X.at_work():
            if self._coding_lengths is None:
                return code_samples(self._coding, X, Ht, self._coding_domain)
            lengths = self._coding_lengths.astype(X.dtype)
            return code_samples(self._coding, X, Ht / lengths, self._coding_domain) / lengths

    def _inner_components(self, dtype: Any) -> Array:
        """Hᵀ in the unit of the fit."""
        return np.array(self._unit.components_inside(self.components_).T, dtype, order="C")

    def _keep(self, terms: Sequence[BoundTerm], state: State) -> None:
        """Keep only what coding new samples needs of the terms, given where the fit ended."""
        self._coding = coding_terms(terms, state)

    def transform(self, X: Any) -> Array:
        """Code new samples with the learned components, under the same terms.

        Every sample is coded separately, from a fixed start, to convergence; if the method has a graph, it is linked
        to its nearest training samples. The codes of the training samples themselves are in `embedding_`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), data on disk, or dask array or DataFrame
            See :mod:`partwise.blocks`, also for codes that are too many for the memory.

        Returns
        -------
        W : ndarray of shape (n_samples, n_components), or dask array
            Codes of a dask array are computed when they are asked for, chunk by chunk, where the chunks are.
        """
        if is_dask(X):
            return mapped(X, self._sendable(X).transform, self.n_components_, float_type(X))
        new = self._checked_new(X)
        return new.room.kept(codes_outside(self._unit, self._code(new)))

    def _checked_new(self, X: Any) -> Operand:
        check_is_fitted(self, "embedding_")
        X = check_new_X(self, X, self.missing)
        new = as_operand(X, what_is_missing(X, self.missing))
        warn_unknown(new)
        return new

    def inverse_transform(self, X: Any) -> Array:
        """Bring codes back to the space of the data: W H, for codes W.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            The codes; the name is that of scikit-learn.

        Returns
        -------
        X_original : ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self, "embedding_")
        return rebuilt(X, self.components_)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the mean loss of a sample: −Σ_i s_i D(x_i, w_i H) / Σ_i s_i, with codes as `transform` gives them.

        Penalties shape the codes and the components, but do not count; so scores can be compared between any two values
        of any parameter except the loss, and between sets of any size. Larger is better, 0 is a perfect fit. Losses are
        sums over the known entries, so a sample without any known entry has none.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : object
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        score : float
        """
        return self._score(X, sample_weight, self._code)

    def _score(self, X: Any, sample_weight: Any, code: Callable[[Operand], Array]) -> float:
        check_is_fitted(self, "embedding_")
        X = check_new_X(self, X, self.missing)
        weight = check_sample_weight(sample_weight, X.shape[0], X.dtype)
        return -float(self._unit.outside(self._mean_loss(X, weight, code), self._unit.powers.objective))

    def _mean_loss(self, X: Any, weight: Array | None, code: Callable[[Operand], Array]) -> float:
        if not self._losses:
            raise ValueError(f"{type(self).__name__} has no fit among its terms, so there is nothing to score.")
        new = as_operand(X, what_is_missing(X, self.missing))
        refuse_unknown(new)
        loss = 0.0
        for _, piece in as_operand(X, new.missing, weight).pieces():
            samples, Ht = self._seen(piece)
            state = State(samples, code(as_operand(piece.array, piece.missing)), Ht)
            loss += sum(fit.bind(samples, sample_weight=piece.sample_weight).value(state) for fit in self._losses)
        return loss / float(X.shape[0] if weight is None else weight.sum(dtype=np.float64))

    def _seen(self, X: Operand) -> tuple[Operand, Array]:
        """Samples as the fit sees them, and Hᵀ in the same space."""
        return X, self._inner_components(X.dtype)

    @property
    def n_components_(self) -> int:
        """Number of components, whether given or chosen."""
        check_is_fitted(self, "embedding_")
        return int(self.embedding_.shape[1])

    @property
    def reconstruction_err_(self) -> float:
        """How far the training data are from W H, as in scikit-learn: ‖X − W H‖, or √(2 D) for a β-divergence D.

        It is the root of the fit's share of `objective_` (of twice the share for a β-divergence other than the squared
        error): samples and entries have their weights of the fit, and missing entries and penalties do not count.
        Methods with a kernel measure the distance in its space, robust ones by their own loss.
        """
        check_is_fitted(self, "embedding_")
        if len(self._losses) != 1:
            raise AttributeError(f"This {type(self).__name__} has {len(self._losses)} fits among its terms, not one.")
        loss = self._losses[0]
        halved = isinstance(loss, BetaDivergence) and order(loss.beta) != 2
        misfit = max(float(scaled(self._misfit(), -self._unit.history)), 0.0)
        return float(self._unit.outside(math.sqrt(misfit * (2 if halved else 1)), self._unit.powers.objective / 2))

    def _misfit(self) -> float:
        """What the fit adds to the objective."""
        return self.history_["fit"][-1]

    @property
    def labels_(self) -> IntArray:
        """Cluster of every training sample, computed on first access by the rule `assign`; of a stream's last batch."""
        check_is_fitted(self, "embedding_")
        return self._assignment.labels[-len(self.embedding_) :]

    def _clustered(self, codes: Array, X: Operand) -> Array:
        """The codes used for clustering: those of X, unless a method rescales its samples."""
        return codes

    def predict(self, X: Any) -> IntArray:
        """Cluster labels of new samples: numbers, even if the fit used labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of int, shape (n_samples,), or dask array
            As for `transform`.
        """
        if is_dask(X):
            model = self._sendable(X)
            model._assignment = self._assignment.for_new()
            return mapped(X, model.predict, None, np.dtype(np.intp))
        return self._predict(X, self._code)

    def _sendable(self, X: Any) -> Self:
        """The model without its training samples and what belongs to this process, for coding new samples elsewhere.

        These are a dask array or DataFrame; what is known of it is checked now.
        """
        check_is_fitted(self, "embedding_")
        check_form(X)
        X = collection_of(X)
        validate_data(self, X._meta if is_frame(X) else X, reset=False, skip_check_array=True)
        model = copy(self)
        model.embedding_ = np.empty((0, self.n_components_), self.embedding_.dtype)
        # Attributes of this object alone, which hold training codes or what cannot be sent.
        for name in ("_assignment", "callbacks"):
            model.__dict__.pop(name, None)
        return model

    def _predict(self, X: Any, code: Callable[[Operand], Array]) -> IntArray:
        new = self._checked_new(X)
        codes = self._clustered(code(new), new)
        return self._assignment.predict(codes.astype(self.embedding_.dtype, copy=False))

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)


def rebuilt(W: Any, components: Array) -> Array:
    """W H for codes that a user gives."""
    W = read_data(W, name="W")
    if W.shape[1] != len(components):
        raise ValueError(f"W has {W.shape[1]} columns; the model has {len(components)} components.")
    return np.asarray(W @ components)

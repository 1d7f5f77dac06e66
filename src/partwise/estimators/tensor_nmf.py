"""Non-negative tensor factorisation of samples that are images or arrays."""

from collections.abc import Sequence
from dataclasses import field
from typing import Annotated, Literal

import numpy as np

from ..core import COMPONENTS, Factor, Term, column_norms
from ..core.domains import Domain, RankOne
from ..core.outer_products import outer_products, split_modes
from ..solvers import Minimum, Problem
from ..terms import Frobenius
from .base import BaseFactorization


class TensorNMF(BaseFactorization):
    r"""Non-negative tensor factorisation (NTF): every component is an outer product of one vector per axis.

    Minimises, over codes W ≥ 0 (n × k) and vectors a_j, b_j, … ≥ 0 (one for each axis of a sample),

        Σ_i ‖X_i − Σ_j w_ij a_j ∘ b_j ∘ …‖²

    where X_i is sample i as an array of shape `sample_shape` (Shashua & Hazan, "Non-negative tensor factorization with
    applications to statistics and computer vision", ICML 2005, Eq. 1): the non-negative CP decomposition of the tensor
    of all samples. X stays a matrix, one flattened sample per row, and enters only products with matrices of k
    columns, so it may be sparse. Each block of unknowns is improved by coordinate descent in turn.

    Parameters
    ----------
    n_components : int
        Number of parts, k. Parts of rank one are simple: more of them are needed than in :class:`NMF`.
    sample_shape : tuple of int
        Shape of a sample, for example (32, 32); its product is the number of features, in C order. None: samples are
        vectors, and this is :class:`NMF`.
    init : {"auto", "random", "nndsvd", "nndsvda", "kmeans", "sampled"} or (W, H)
        Start. "auto" is "nndsvda". Its components are reduced to rank one by their sums along the axes.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The flattened outer products, of unit norm.
    mode_factors_ : list of ndarray of shape (sample_shape[a], n_components)
        The vectors of every axis as columns of unit norm.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from partwise import TensorNMF
    >>> X, _ = load_digits(return_X_y=True)
    >>> model = TensorNMF(10, sample_shape=(8, 8), random_state=0, max_iter=50, tol=0).fit(X)
    >>> [factor.shape for factor in model.mode_factors_]
    [(8, 10), (8, 10)]
    """

    _takes_blocks = True

    sample_shape: Annotated[Sequence[int] | None, tuple, list, None] = None
    # Every axis has a vector to stretch: components get unit norm in the end.
    scale: Literal["auto"] = field(default="auto", init=False)
    solver: Literal["auto"] = field(default="auto", init=False)

    def _terms(self) -> list[Term]:
        return [Frobenius()]

    def _domains(self) -> dict[Factor, Domain]:
        return {COMPONENTS: RankOne(self.sample_shape)}

    def _settle(self, problem: Problem, minimum: Minimum) -> None:
        super()._settle(problem, minimum)
        H, dtype = self.components_, self.components_.dtype
        modes = split_modes(H.T, (H.shape[1],) if self.sample_shape is None else self.sample_shape)
        norms = [np.maximum(column_norms(mode), np.finfo(dtype).tiny).astype(dtype) for mode in modes]
        self.mode_factors_ = [mode / norm for mode, norm in zip(modes, norms, strict=True)]
        self.components_ = np.ascontiguousarray(outer_products(self.mode_factors_).T)

"""Non-negative matrix factorisation of samples that come in groups."""

from dataclasses import field
from typing import Any, Literal

from ..core import Array, Operand
from .grouped import GroupedCodes
from .intervals import CodeSome
from .nmf import NMF


class GroupNMF(GroupedCodes, NMF):
    r"""Non-negative matrix factorisation with components that all groups share and components of single groups.

    Samples come in groups: batches, patients, studies, speakers. Minimises, over codes and components ≥ 0,

        Σ_g D(X_g, W_g H + U_g V_g) + penalties

    H (k × m) are the shared components; V_g are the components of group g, which only its samples use. What differs
    between the groups goes into V_g, and H is what they have in common (as in integrative NMF, Yang & Michailidis,
    "A non-negative matrix factorization method for detecting modules in heterogeneous omics multi-modal data", 2016,
    and Welch et al., "Single-cell multi-omic integration …", 2019, where each shared component has its own deviation
    in every group instead). As one factorisation X ≈ W H it is :class:`NMF` whose codes are zero where a component
    belongs to another group. D and the penalties are those of :class:`NMF`, and so is everything else: missing entries,
    known components, sparse data.

    Parameters
    ----------
    init : {"auto", "random", "nndsvd", "nndsvda", "kmeans", "sampled"} or (W, H)
        Start of a short fit in which all samples use all components. Each group then gets the components that it uses
        almost alone, so that as little as possible of what the fit explains is lost; if the start itself leads to a
        lower objective in as many sweeps, it is kept instead. Given factors have
        n_components + n_groups · n_group_components components and are used as they are.
    fixed_components : array of shape (n_fixed, n_features)
        Known components, non-negative: the first of the shared ones, exactly as given.
    seed_components : array of shape (n_seeds, n_features)
        Where to look for the first shared components.
    component_mask : array of bool, shape (n_components, n_features)
        Where shared components may be other than zero.

    Attributes
    ----------
    components_ : ndarray of shape (`n_components_`, n_features)
        The shared components, then those of the first group, of the second, and so on.
    embedding_ : ndarray of shape (n_samples, `n_components_`)
        The codes of the training samples; zero for components of other groups.
    labels_ : ndarray of int, shape (n_samples,)
        Clusters of the training samples, by the codes of the shared components.

    Notes
    -----
    `fit` takes the groups as ``fit(X, groups=…)``, and refuses to go without them unless n_group_components is 0. In a
    pipeline they are a parameter of the step, or routed (``set_fit_request(groups=True)``). New samples of a group are
    coded with ``transform(X, groups=…)``; samples of no known group by the shared components alone.

    Effects that add to the data are what components of a group can represent. If a batch multiplies every feature by
    its own, large factor, divide the features by their means in the group first.

    Examples
    --------
    >>> import numpy as np
    >>> from partwise import GroupNMF
    >>> rng = np.random.RandomState(0)
    >>> shared, own = rng.gamma(0.3, size=(4, 60)), rng.gamma(0.3, size=(2, 60))
    >>> groups = np.repeat(["first", "second"], 100)
    >>> effect = np.where(groups[:, None] == "first", own[0], own[1]) * rng.gamma(1.0, size=(200, 1))
    >>> X = rng.poisson(9 * (rng.gamma(0.5, size=(200, 4)) @ shared + effect))
    >>> model = GroupNMF(4, random_state=0).fit(X, groups=groups)
    >>> model.components_.shape, model.component_groups_
    ((6, 60), array([-1, -1, -1, -1,  0,  1]))
    """

    # Codes of new samples depend on their groups, which are not read in blocks.
    _takes_blocks = False
    # Components of a group are learned from all its samples.
    _streams = False
    forget_factor: Literal["auto"] = field(default="auto", init=False)

    def transform_intervals(
        self, X: Any, *, groups: Any = None, n_resamples: int = 100, level: float = 0.9, random_state: Any = None
    ) -> tuple[Array, Array]:
        """Bootstrap intervals of the codes that `transform` gives, as in :meth:`NMF.transform_intervals`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        groups : array-like of shape (n_samples,), optional
            As for `transform`.
        n_resamples : int, default=100
        level : float, default=0.9
            Share of the codes inside an interval.
        random_state : int, RandomState or None, default=None

        Returns
        -------
        low, high : ndarray of shape (n_samples, `n_components_`)
        """

        def coder(new: Operand) -> CodeSome:
            members = self._find_members(groups, new.shape[0])
            return lambda some, Ht, rows: self._code_members(some, members[rows], Ht)

        return self._intervals(X, n_resamples, level, random_state, coder)

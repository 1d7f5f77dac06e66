"""Groups of samples as users give them: batches, patients, studies."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import Array, IntArray


class Groups:
    """The groups of a fit.

    Parameters
    ----------
    given : array-like of shape (n_samples,)
        Group of every sample: numbers or text.

    Attributes
    ----------
    names : ndarray of shape (n_groups,)
        Sorted.
    members : ndarray of int, shape (n_samples,)
        Index of every sample's group.
    """

    def __init__(self, given: Any):
        self.names, members = np.unique(read_groups(given), return_inverse=True)
        self.members: IntArray = members.ravel()

    def check(self, n_samples: int, n_own: int) -> None:
        """Refuse groups that do not fit the data, or cannot have components of their own."""
        _check_length(len(self.members), n_samples)
        if len(self.names) == 1:
            raise ValueError(
                f"groups has one group, {self.names[0]!s}: there is nothing to share. Give at least two groups, or no "
                "groups, which is plain NMF."
            )
        sizes, needed = np.bincount(self.members), max(2, n_own + 1)
        if (sizes < needed).any():
            small = int(np.flatnonzero(sizes < needed)[0])
            raise ValueError(
                f"Group {self.names[small]!s} has {sizes[small]} sample(s); n_group_components={n_own} needs at least "
                f"{needed} in every group. Merge small groups, or leave them out and code them later with transform."
            )

    def owners(self, n_shared: int, n_own: int) -> IntArray:
        """Index of the group that each component belongs to, −1 for shared ones."""
        return np.concatenate([np.full(n_shared, -1), np.repeat(np.arange(len(self.names)), n_own)])


def find_groups(given: Any, names: Array, n_samples: int) -> IntArray:
    """Index in `names`, those of a fit, of the group of every new sample."""
    groups = read_groups(given)
    _check_length(len(groups), n_samples)
    place = {name: index for index, name in enumerate(names.tolist())}
    found = np.array([place.get(name, -1) for name in groups.tolist()], np.intp)
    if (found < 0).any():
        known = ", ".join(map(repr, names[:10].tolist())) + (", …" if len(names) > 10 else "")
        raise ValueError(
            f"Group {groups[found < 0].tolist()[0]!r} is not one of the fit, which had {known or 'no groups'}. Code "
            "samples of other groups without `groups`, by the shared components alone."
        )
    return found


def read_groups(given: Any) -> Array:
    """Groups as an array of numbers or of text."""
    if np.ndim(given) == 0 and isinstance(given, str):
        raise ValueError(
            f"groups={given!r} was given; give the group of every sample itself, such as adata.obs[{given!r}]."
        )
    groups = np.asarray(given)
    if groups.ndim == 2 and groups.shape[1] == 1:
        groups = groups[:, 0]
    if groups.ndim != 1:
        raise ValueError(f"groups has shape {groups.shape}; it must have one dimension, with one group per sample.")
    if groups.dtype.kind == "O":
        unknown = [group is None or group != group for group in groups]
        if any(unknown):
            raise ValueError(f"The group of sample {unknown.index(True)} is unknown; every sample needs one.")
        groups = groups.astype(str) if any(isinstance(group, str) for group in groups) else np.array(groups.tolist())
    if groups.dtype.kind == "T":
        groups = groups.astype(str)
    if groups.dtype.kind not in "biufU":
        raise ValueError(f"groups has dtype {groups.dtype}; give the group of every sample as a number or as text.")
    if groups.dtype.kind == "f" and not np.isfinite(groups).all():
        place = int(np.flatnonzero(~np.isfinite(groups))[0])
        raise ValueError(f"The group of sample {place} is {groups[place]}; every sample needs one.")
    return groups


def _check_length(n_given: int, n_samples: int) -> None:
    if n_given != n_samples:
        raise ValueError(f"groups has {n_given} entries and X has {n_samples} samples; give one group per sample.")

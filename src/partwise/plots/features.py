"""The largest entries of every component, by name: what a topic is about."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from ..core.numbers import check_number
from ..core.types import Array, IntArray
from .fitted import attribute
from .views import table, view


@dataclass(frozen=True, eq=False)
class TopFeatures:
    """The largest entries of every component, largest first.

    Attributes
    ----------
    names : ndarray of str, shape (n_components, n)
    shares : ndarray of shape (n_components, n)
        Every entry as a share of the sum of its component.
    """

    names: Array
    shares: Array

    def __str__(self) -> str:
        """A line per component."""
        width = len(str(len(self.names) - 1))
        return "\n".join(f"{j:>{width}d}  {' '.join(line)}" for j, line in enumerate(self.names))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """A row per component."""
        lines = [", ".join(line) for line in self.names]
        return view(table({"component": range(len(lines)), "largest features": lines}))


def top_features(model: Any, names: Sequence[str] | None = None, n: int = 10) -> TopFeatures:
    """The features with the largest entries in each component, as a table.

    Parameters
    ----------
    model : estimator or array-like of shape (n_components, n_features)
        A fitted model with `components_`, or components themselves.
    names : sequence of str, optional
        Names of the features; by default those of the columns of the data frame that the model was fitted to, or
        numbers.
    n : int, default=10
        Features per component.

    Returns
    -------
    table : TopFeatures

    Examples
    --------
    >>> import numpy as np
    >>> from partwise.plots import top_features
    >>> print(top_features(np.array([[0, 1, 3], [5, 0, 1]]), ["apple", "pear", "plum"], n=2))
    0  plum pear
    1  apple plum
    """
    components, features = named_components(model, names)
    top = largest_entries(components, check_number("n", n))
    totals = np.abs(components).sum(axis=1, keepdims=True)
    shares = np.take_along_axis(components, top, axis=1) / np.where(totals > 0, totals, 1)
    return TopFeatures(features[top], shares)


def named_components(model: Any, names: Sequence[str] | None) -> tuple[Array, Array]:
    """The components of a model, or those given, and a name for every feature."""
    components = np.asarray(
        model if hasattr(model, "__array__") or np.iterable(model) else attribute(model, "components_")
    )
    if components.ndim != 2:
        raise ValueError(f"The model has components of shape {components.shape}; they must form a matrix.")
    if names is None:
        names = getattr(model, "feature_names_in_", None)
    if names is None:
        names = [f"feature {f}" for f in range(components.shape[1])]
    if len(names) != components.shape[1]:
        raise ValueError(f"{len(names)} names were given for {components.shape[1]} features.")
    return components, np.array([str(name) for name in names], dtype=object)


def leading_names(weights: Array, names: Sequence[str], n: int, without: Collection[str] = ()) -> list[str]:
    """Names of the largest positive entries of a component; the next take the places of those left out.

    Parameters
    ----------
    weights : ndarray of shape (n_features,)
    names : sequence of str
    n : int
    without : collection of str
        Names to leave out, in lower case, such as stop words.
    """
    ranked = largest_entries(weights[None], len(weights))[0]
    kept = (names[f] for f in ranked.tolist() if weights[f] > 0 and names[f].lower() not in without)
    return list(islice(kept, n))


def largest_entries(components: Array, n: int) -> IntArray:
    """Columns of the n largest entries of every row, largest first; equal ones in their own order."""
    return np.argsort(-components, axis=1, kind="stable")[:, :n]

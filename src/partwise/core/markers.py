"""Masks of components from the names of features: marker genes, anchor words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

import numpy as np

from .types import Array


def marker_mask(markers: Mapping[Any, Iterable[str]], names: Iterable[str], n_components: int) -> Array:
    """Where components may be other than zero, if some features belong to known components: a `component_mask`.

    A marker is a feature of the components that list it, and of no other: genes that only one kind of cell has, words
    that only one topic uses. All other features are open to every component.

    Parameters
    ----------
    markers : mapping of str to sequence of str
        Names of features by component; the first entry is for the first component, and so on. Components without
        markers come after these.
    names : sequence of str
        Names of all features: `feature_names_in_`, ``adata.var_names`` or a vectorizer's ``get_feature_names_out()``.
    n_components : int

    Returns
    -------
    mask : ndarray of bool, shape (n_components, n_features)

    Examples
    --------
    >>> from partwise.domains import marker_mask
    >>> marker_mask({"fruit": ["apple"], "trees": ["oak"]}, ["apple", "green", "oak"], 3)
    array([[ True,  True, False],
           [False,  True,  True],
           [False,  True, False]])
    """
    names = list(names)
    place = {name: column for column, name in enumerate(names)}
    if len(place) < len(names):
        twice = next(name for column, name in enumerate(names) if place[name] != column)
        raise ValueError(
            f"Several features have the name {twice!r}. Call adata.var_names_make_unique() first, or rename them."
        )
    if len(markers) > n_components:
        raise ValueError(f"There are markers of {len(markers)} components, but n_components={n_components}.")
    listed = np.zeros((n_components, len(place)), bool)
    for row, (component, features) in enumerate(markers.items()):
        if isinstance(features, str):
            raise ValueError(f"The markers of {component!r} are a text; give a list of names: [{features!r}].")
        for feature in features:
            if feature not in place:
                close = get_close_matches(str(feature), [str(name) for name in place], 1)
                raise ValueError(
                    f"The marker {feature!r} of {component!r} is not the name of a feature."
                    + (f" Is it {close[0]!r}?" if close else "")
                )
            listed[row, place[feature]] = True
        if not listed[row].any():
            raise ValueError(f"There are no markers of {component!r}. Leave it out, or name at least one feature.")
    return listed | ~listed.any(axis=0)

"""Samples with names and links, as AnnData holds them: recognised by their attributes, without importing anndata."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

ATTRIBUTES = ("X", "obs_names", "var_names", "obsp")


def is_annotated(X: Any) -> bool:
    """Whether X is an AnnData, or has all that we use of one."""
    # Not hasattr of the object: X of a view is a copy, made when it is asked for.
    return all(hasattr(type(X), name) or name in getattr(X, "__dict__", {}) for name in ATTRIBUTES)


def matrix_of(X: Any) -> Any:
    """The matrix of annotated samples in memory; anything else as it is."""
    if not is_annotated(X) or getattr(X, "isbacked", False):
        return X
    if X.X is None:
        raise ValueError(
            f"{type(X).__name__}.X is None. Name a layer: partwise.from_anndata(adata, layer=…), {_known(_layers(X))}."
        )
    return X.X


class _Named:
    """What has the names and links of annotated data."""

    adata: Any

    @property
    def obs_names(self) -> Any:
        return self.adata.obs_names

    @property
    def var_names(self) -> Any:
        return self.adata.var_names

    @property
    def obsp(self) -> Any:
        return self.adata.obsp


@dataclass(frozen=True, eq=False)
class Layer(_Named):
    """A layer of annotated data in place of its X, with its names and links.

    Parameters
    ----------
    adata : AnnData
    layer : str
    """

    adata: Any
    layer: str

    @property
    def X(self) -> Any:  # noqa: D102
        return self.adata.layers[self.layer]

    @property
    def layers(self) -> Any:  # noqa: D102
        return self.adata.layers

    @property
    def shape(self) -> tuple[int, int]:  # noqa: D102
        n_samples, n_features = self.adata.shape
        return n_samples, n_features

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, samples: Any) -> Layer:
        return Layer(self.adata[samples], self.layer)


@dataclass(frozen=True, eq=False)
class Instead(_Named):
    """Another matrix in place of X, with the names and links of annotated data.

    Parameters
    ----------
    X : array or sparse matrix
    adata : AnnData
    """

    X: Any
    adata: Any


def instead_of(given: Any, matrix: Any) -> Any:
    """A matrix made of data, with the names and links that these have as they were given."""
    return Instead(matrix, given) if is_annotated(given) else matrix


def empty_table(X: Any) -> Any:
    """The names of the features as scikit-learn reads them: a DataFrame without rows."""
    import pandas as pd  # type: ignore[import-untyped]  # AnnData needs it too

    names = pd.Index(X.var_names)
    if not names.is_unique:
        raise ValueError(
            f"Several variables have the name {names[names.duplicated()][0]!r}, so features cannot be told apart by "
            "name. Call adata.var_names_make_unique() first."
        )
    return pd.DataFrame(columns=names)


def check_layer(adata: Any, layer: str) -> None:
    """Refuse a layer that annotated data do not have."""
    if layer not in _layers(adata):
        raise ValueError(f"There is no layer {layer!r}; {_known(_layers(adata))}.")


def check_annotated(adata: Any) -> None:
    """Refuse what is no AnnData and has nothing of one."""
    if not is_annotated(adata):
        raise TypeError(
            f"adata is {type(adata).__name__}; give an AnnData, or an object with the attributes "
            f"{', '.join(ATTRIBUTES)}."
        )


def _layers(adata: Any) -> Mapping[str, Any]:
    """The layers, if there may be any."""
    layers: Mapping[str, Any] = getattr(adata, "layers", {})
    return layers


def links_of(X: Any, name: str) -> Any:
    """A matrix over pairs of samples by its name in `obsp`."""
    obsp: Mapping[str, Any] | None = getattr(X, "obsp", None)
    if obsp is None:
        raise ValueError(
            f"graph={name!r} is the name of a matrix in adata.obsp, but X is {type(X).__name__}. Give an AnnData as X, "
            "or the matrix itself as graph."
        )
    if name not in obsp:
        raise ValueError(f"There is no graph {name!r} in obsp; {_known(obsp)}.")
    return obsp[name]


def _known(named: Mapping[str, Any]) -> str:
    """What there is instead."""
    return f"there are {', '.join(map(repr, named))}" if len(named) else "there are none"

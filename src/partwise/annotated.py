"""AnnData in and out: a layer as data, and the results of a fit beside the data they belong to.

Every estimator takes an AnnData in memory as X, and reads the names of its features. anndata itself is not imported.
"""

from __future__ import annotations

from numbers import Number
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .core.annotated import Layer, check_annotated, check_layer
from .core.types import Array

# What is kept of a fit beside its parameters.
SETTLED = (
    *("objective_", "n_iter_", "stop_reason_", "groups_", "component_groups_"),
    *("stability_", "stability_error_", "cosine_", "cosine_error_"),
)


def from_anndata(adata: Any, layer: str | None = None) -> Any:
    """An AnnData as samples for any estimator: its X, or one of its layers.

    Parameters
    ----------
    adata : AnnData
        In memory.
    layer : str, optional
        The name of a layer. By default X, which estimators take anyway: ``fit(adata)``.

    Returns
    -------
    samples : object
        What `fit` and all other methods of estimators take as X. It shares the memory of `adata`.

    Examples
    --------
    ``NMF(8, loss="kullback-leibler").fit(partwise.from_anndata(adata, layer="counts"))``
    """
    if layer is None:
        return adata
    check_annotated(adata)
    check_layer(adata, layer)
    return Layer(adata, layer)


def to_anndata(model: Any, adata: Any, key: str = "partwise", codes: Any = None) -> None:
    """Write codes, components and settings of a fitted model into an AnnData.

    Codes go to ``adata.obsm["X_" + key]``, components to ``adata.varm[key]``, one column for each, and the settings,
    the end of the fit and how stable components are to ``adata.uns[key]``, all of it such that ``adata.write_h5ad`` can
    store it. Features that the model was not fitted to, such as genes left out before, have zeros in the components.

    Parameters
    ----------
    model : estimator
        Fitted.
    adata : AnnData
        Changed in place.
    key : str, default="partwise"
    codes : array of shape (n_obs, n_components), optional
        Codes of the samples in `adata`, as `transform` gives them. By default `embedding_`, for the samples of the fit.
    """
    check_is_fitted(model, "embedding_")
    check_annotated(adata)
    if not isinstance(key, str) or not key or "/" in key:
        raise ValueError(f"key={key!r} was given; files need a name without a slash.")
    codes = np.asarray(model.embedding_ if codes is None else codes)
    n_samples, names = len(adata.obs_names), np.asarray(adata.var_names, dtype=object)
    if codes.ndim != 2 or len(codes) != n_samples:
        raise ValueError(
            f"There are codes of shape {codes.shape} and {n_samples} observations; they must agree. For other samples "
            "than those of the fit, give codes=model.transform(adata)."
        )
    if codes.shape[1] != model.embedding_.shape[1]:
        raise ValueError(
            f"There are {codes.shape[1]} codes of every sample, but the model has {model.embedding_.shape[1]}."
        )
    components = getattr(model, "components_", None)
    loadings = None if components is None else _loadings(model, components, names)
    adata.obsm[f"X_{key}"] = codes
    if loadings is not None:
        adata.varm[key] = loadings
    adata.uns[key] = _settings(model)


def _loadings(model: Any, components: Array, names: Array) -> Array:
    """Components as columns, with a row for every feature of the data, in their order."""
    fitted = getattr(model, "feature_names_in_", None)
    if fitted is None or np.array_equal(fitted, names):
        if components.shape[1] != len(names):
            raise ValueError(
                f"The model has {components.shape[1]} features without names, and adata has {len(names)} variables. "
                "Fit it to an AnnData, which has names, or give one with just these variables."
            )
        return np.ascontiguousarray(components.T)
    place = {name: row for row, name in enumerate(names.tolist())}
    if len(place) < len(names):
        raise ValueError("The variable names are not unique; call adata.var_names_make_unique() before the fit.")
    unknown = [name for name in fitted if name not in place]
    if unknown:
        raise ValueError(
            f"{len(unknown)} features of the model, such as {unknown[0]!r}, are not among the variables of adata."
        )
    loadings = np.zeros((len(names), len(components)), components.dtype)
    loadings[[place[name] for name in fitted]] = components.T
    return loadings


def _settings(model: Any) -> dict[str, Any]:
    """Parameters and the end of the fit, as values that files can hold."""
    from . import __version__

    params = {name: _plain(value) for name, value in model.get_params(deep=False).items() if value is not None}
    settings = {"estimator": type(model).__name__, "version": __version__, "params": params}
    for name in SETTLED:
        if hasattr(model, name):
            settings[name.rstrip("_")] = _plain(getattr(model, name))
    return settings


def _plain(value: Any) -> Any:
    """Numbers, text and arrays as they are, anything else as text."""
    if isinstance(value, bool | str | Number):
        return value
    if isinstance(value, np.ndarray | range) or (isinstance(value, list | tuple) and all(map(np.isscalar, value))):
        array = np.asarray(value)
        if array.dtype.kind in "biufU":
            return array
    return repr(value)

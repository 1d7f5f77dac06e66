"""Models on disk: a fitted estimator as arrays and a description, in an npz file without pickles.

The file holds the class's name, the parameters as JSON, and the fitted attributes: arrays, numbers, text, and objects
of partwise's own classes written the same way (`files.plain`). A new estimator or term needs no code to join: its class
is known if it is defined in one of the rooms of `ROOMS`. Nothing else can be named by a file, and nothing in it
is executed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.utils.validation import check_is_fitted

from .core.dask_rows import brought
from .core.types import Array
from .core.warn import warn
from .earlier_formats import from_format_1
from .files.archive import Refused
from .files.described import Format
from .files.plain import Packer, Unpacker, stored_attributes

FORMAT = Format("partwise model", "a model of partwise", 2)
# Rooms whose classes may be in a file.
ROOMS = ("core", "terms", "graphs", "clusters", "selection", "estimators")
# What belongs to a process rather than to a model: callbacks, and what meta-estimators are asked to pass.
UNSAVED = ("_skl_callbacks", "_metadata_request")


class Persistent:
    """Gives an estimator `save`, and pickles that record which version of partwise wrote them.

    Must come before `BaseEstimator` among the bases.
    """

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file that :func:`partwise.load` reads.

        Everything that `transform`, `predict` and `labels_` need is included, even the training samples if the method
        links new samples to them. Parameters are restored, with data among them as plain arrays: a data frame as an
        array, a sparse matrix of any format as CSR or CSC. Requests for metadata (`set_fit_request`) are not saved.

        Parameters
        ----------
        path : path-like
            An npz file without pickles; replaced whole.

        Raises
        ------
        ValueError
            If a parameter is a function, an object of a class that is not partwise's, or a callback: only data are
            saved. Use pickle for these.
        WriteError
            An OSError that says in one sentence why the file cannot be written.
        """
        check_is_fitted(self)
        # Labels are computed when first asked for; a saved model has them.
        getattr(self, "labels_", None)
        save_model(self, path)

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        state = {name: brought(value) for name, value in state.items()}
        return {**state, "_partwise_version": _version()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        written = state.pop("_partwise_version", "unknown")
        if written != _version():
            warn(
                InconsistentVersionWarning(
                    estimator_name=type(self).__name__,
                    current_sklearn_version=f"partwise {_version()}",
                    original_sklearn_version=f"partwise {written}",
                ),
            )
        super().__setstate__(state)  # type: ignore[misc]


def save_model(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to a file; see :meth:`Persistent.save`."""
    kind, classes = type(estimator), known_classes()
    name = kind.__name__
    if classes.get(name) is not kind:
        raise ValueError(f"{name} is not an estimator of partwise; use pickle to keep it.")
    packer = Packer(classes)
    parameters = estimator.get_params(deep=False)
    if parameters.get("callbacks") is not None:
        raise ValueError("callbacks cannot be saved; call set_params(callbacks=None) on the fitted model first.")
    fitted = {key: value for key, value in stored_attributes(estimator).items() if key not in {*parameters, *UNSAVED}}
    description = {
        "class": name,
        "parameters": {key: packer.pack(value, key) for key, value in parameters.items()},
        "fitted": {key: packer.pack(value, f"{name}.{key}") for key, value in fitted.items()},
    }
    FORMAT.write(path, description, packer.arrays, compress=True)


def load(path: str | os.PathLike[str], *, max_bytes: int | None = None) -> Any:
    """Read a model that `save` has written.

    Parameters
    ----------
    path : path-like
    max_bytes : int, optional
        Most bytes that the model may take in memory; by default 4 GiB, or half of the machine's memory if that is less.
        A small file can declare a large model.

    Returns
    -------
    model : estimator
        Its `transform`, `predict` and `labels_` are those of the saved model, bit for bit.

    Raises
    ------
    ReadError
        A ValueError that says in one sentence why the file cannot be read.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_digits
    >>> import partwise
    >>> X = load_digits().data
    >>> path = os.path.join(tempfile.mkdtemp(), "digits.npz")
    >>> partwise.NMF(10, random_state=0).fit(X).save(path)
    >>> partwise.load(path).transform(X[:2]).shape
    (2, 10)
    """
    with FORMAT.read(path, max_bytes) as (header, arrays):
        return READERS[header["format_version"]](header, arrays)


def _read_2(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> Any:
    classes = known_classes()
    unpacker = Unpacker(arrays, classes)
    kind = classes.get(header["class"])
    if kind is None or not issubclass(kind, BaseEstimator):
        raise Refused(f"it holds a {header['class']!r}, which is not an estimator of this version")
    parameters = {key: unpacker.unpack(tree) for key, tree in header["parameters"].items()}
    model: Any = kind(**parameters)
    model.__dict__.update({key: unpacker.unpack(tree) for key, tree in header["fitted"].items()})
    _check_factors(model)
    return model


def _read_1(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> Any:
    return _read_2(from_format_1(header, arrays), arrays)


# A reader for every format ever written.
READERS: dict[int, Callable[[Mapping[str, Any], Mapping[str, Array]], Any]] = {1: _read_1, 2: _read_2}


def _check_factors(model: Any) -> None:
    """Check that the factors fit each other and the number of features: compiled code relies on it."""
    m, codes = model.n_features_in_, model.embedding_
    if not isinstance(m, int) or not isinstance(codes, np.ndarray) or codes.ndim != 2 or codes.dtype.kind != "f":
        raise Refused("its factors are not what they should be")
    components = getattr(model, "components_", None)
    if components is not None and (components.shape != (codes.shape[1], m) or components.dtype.kind != "f"):
        raise Refused(
            f"its components have shape {components.shape}, which does not fit {m} features and codes of shape "
            f"{codes.shape}"
        )


def known_classes() -> dict[str, type]:
    """The classes that a file may name, by name: all that are defined in partwise's rooms.

    The rooms' modules are imported here, since nothing else may have imported them yet. A file cannot influence what is
    imported.
    """
    found: dict[str, type] = {}
    for room in ROOMS:
        package = import_module(f"{__package__}.{room}")
        for entry in iter_modules(package.__path__, f"{package.__name__}."):
            defined = vars(import_module(entry.name)).items()
            found.update(
                {key: value for key, value in defined if isinstance(value, type) and value.__module__ == entry.name}
            )
    return found


def _version() -> str:
    from . import __version__

    return __version__

"""``partwise fit``: a model from a file of data."""

from __future__ import annotations

import argparse
import inspect
import json
import warnings
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from .. import estimators
from ..core.interruption import fit_whole
from ..core.types import Array
from ..files.data_set import describe
from ..files.texts import listed
from ..files.writing import WriteError
from ..plots.features import leading_names
from .arguments import CommandError, add_columns, add_seed, add_stop_words, check_output, components
from .inputs import read_file, stop_words
from .lines import say

IF_INTERRUPTED = "no model was written"
DESCRIPTION = """\
Fit a method to the data in a file or folder, and save the model.

The data: .npz, .npy, .csv, .tsv, .mtx, .mat, a folder of images, or a folder of
texts; sub-folders are classes. Methods that learn from labels are given those
of the file. Parameters of the method are set by name, as in

  partwise fit GraphNMF faces.npz --components 40 --set graph_strength=5 \\
      --set solver=multiplicative --output faces-model.npz
"""
NAMES_SHOWN = 10
# Python's spelling of what JSON spells differently.
WORDS = {"True": True, "False": False, "None": None, "inf": float("inf")}


def add(parser: argparse.ArgumentParser) -> None:
    """The arguments."""
    parser.add_argument("method", metavar="METHOD", choices=methods(), help=f"one of {', '.join(methods())}")
    parser.add_argument("file", metavar="FILE", type=Path, help="the data")
    parser.add_argument("--output", metavar="MODEL", type=Path, required=True, help="where to write the model (.npz)")
    parser.add_argument("--components", metavar="K", type=components, help="number of components, or auto")
    parser.add_argument(
        "--set",
        metavar="NAME=VALUE",
        dest="settings",
        action="append",
        default=[],
        help="a parameter of the method; may be given several times",
    )
    add_columns(parser)
    add_stop_words(parser)
    add_seed(parser)


def methods() -> list[str]:
    """The names of all estimators."""
    return sorted(
        name
        for name in estimators.__all__
        if inspect.isclass(kind := getattr(estimators, name)) and issubclass(kind, BaseEstimator)
    )


def run(options: argparse.Namespace) -> None:
    """Check, read, fit, save."""
    check_output(options.output, options.file)
    model = _model(options)
    data = read_file(options.file, options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            fit_whole(model, data.X, data.y if (data.y >= 0).any() else None)
        except (ValueError, TypeError) as error:
            # How a parameter is set in Python becomes how it is set here.
            sentence = _sentence(error).replace(f"{options.method}(missing='nan')", "--set missing=nan")
            raise CommandError(sentence) from None
        if data.terms is not None:
            model.feature_names_in_ = np.array(data.terms, object)
        _save(model, options.output)
    say(*describe(data), *(f"note: {note}" for note in dict.fromkeys(str(warning.message) for warning in caught)))
    if hasattr(model, "selection_"):
        # A block per parameter, which begins with the value and the reason.
        say(*(f"chosen: {block.splitlines()[0]}" for block in str(model.selection_).split("\n\n")))
    if hasattr(model, "n_iter_"):
        say(f"{options.method}: {model.n_iter_} sweeps, objective {model.objective_:.6g} ({model.stop_reason_})")
    if data.terms is not None and hasattr(model, "components_"):
        without = listed(stop_words(options)) if sp.issparse(data.X) else ()  # columns may be named like stop words
        say(*top_features(model.components_, data.terms, without))
    say(f"model written to {options.output}")


def top_features(components: Array, names: Sequence[str], without: Collection[str]) -> list[str]:
    """A line per component with its most heavily weighted words or columns, but without some."""
    return [
        f"component {number}: {', '.join(leading_names(weights, names, NAMES_SHOWN, without))}"
        for number, weights in enumerate(np.asarray(components))
    ]


def _model(options: argparse.Namespace) -> Any:
    kind = getattr(estimators, options.method)
    settings = dict(_setting(text) for text in options.settings)
    if options.components is not None:
        settings["n_components"] = options.components
    known = kind().get_params(deep=False)
    for name in settings:
        if name not in known or name == "callbacks":
            raise CommandError(f"{options.method} has no parameter {name!r} to set; it has {', '.join(sorted(known))}.")
    return kind(**{"random_state": options.seed, **settings})


def _setting(text: str) -> tuple[str, Any]:
    """NAME=VALUE: a number, true, false, null, or text. Nothing is evaluated."""
    name, equals, value = text.partition("=")
    if not equals:
        raise CommandError(f"--set {text!r} is not of the form NAME=VALUE.")
    if value in WORDS:
        return name, WORDS[value]
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        return name, value
    if isinstance(parsed, list | dict):
        raise CommandError(f"--set {name} takes a number, true, false, null or text, not {value!r}.")
    return name, parsed


def _save(model: Any, path: Path) -> None:
    try:
        model.save(path)
    except WriteError as error:
        raise CommandError(str(error)) from None


def _sentence(error: Exception) -> str:
    """An estimator's error message in one line."""
    return " ".join(str(error).split())

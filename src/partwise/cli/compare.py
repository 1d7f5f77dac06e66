"""``partwise compare``: every method on one data set, a table, and a picture of the parts."""

from __future__ import annotations

import argparse
import importlib.util
import time
from pathlib import Path

import numpy as np
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from .. import datasets
from ..core.types import Array, IntArray
from ..experiments.preparation import draw_labels
from ..report import PartsRow, draw_parts, picture_bytes, picture_format
from .arguments import CommandError, add_seed, check_writable, whole_number
from .comparison import Outcome, default_methods, match_components, run_method, warm_up
from .display import Display, choose_display
from .table import LEGEND

IF_INTERRUPTED = "no picture was written"
DESCRIPTION = """\
Run k-means (20 restarts), NMF, GraphNMF and ConstrainedNMF on a data set, with
its samples scaled to unit norm.

Prints accuracy (clusters matched to classes), the same on the unlabelled
samples alone, normalised mutual information (by the larger entropy), purity and
time, and draws the learned parts into a file.

Clusters are read off the codes by k-means with 20 restarts. Only ConstrainedNMF
sees labels. The time goes from the data to the clusters, on one thread;
compilation happens beforehand and is not counted.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """The arguments."""
    known = ", ".join(datasets.names())
    parser.add_argument("data", metavar="DATA", type=_data_set, help=f"name of a data set: {known}")
    parser.add_argument(
        "--output",
        metavar="FILE",
        type=Path,
        help="where to draw the learned parts: .png, .pdf or .svg (default: partwise-DATA.png)",
    )
    parser.add_argument(
        "--labels-per-class",
        metavar="N",
        type=whole_number(1),
        default=5,
        help="labelled samples of each class that ConstrainedNMF may see (default: %(default)s)",
    )
    parser.add_argument(
        "--components",
        metavar="K",
        type=whole_number(1),
        help="number of components and clusters (default: the number of classes)",
    )
    add_seed(parser)


def _data_set(text: str) -> str:
    if text not in datasets.names():
        known = ", ".join(datasets.names())
        raise argparse.ArgumentTypeError(f"there is no data set {text!r}, known are: {known}")
    return text


def run(options: argparse.Namespace) -> None:
    """Check everything that can be checked, then run, print and draw.

    Parameters
    ----------
    options : argparse.Namespace
        data, output, labels_per_class, components, seed.
    """
    output = _check_output(options.output or Path(f"partwise-{options.data}.png"))
    display = choose_display()
    data = _load_images(options.data)
    k = _check_components(options.components or len(data.class_names), data)
    known = draw_labels(data.y, _check_labels_per_class(options.labels_per_class, data), options.seed)
    X = normalize(data.X)
    # One thread each: times compare, and small data gains nothing from more.
    with display, threadpool_limits(1):
        display.say(
            f"{data.name}: {X.shape[0]} samples, {X.shape[1]} features, {len(data.class_names)} classes; "
            "samples scaled to unit norm"
        )
        display.say(
            f"{k} components, labels of {int((known >= 0).sum())} samples "
            f"({options.labels_per_class} per class) for ConstrainedNMF, seed {options.seed}"
        )
        outcomes = _run_all(X, data.y, known, k, options.seed, display)
    display.table(outcomes)
    for line in LEGEND:
        display.say(line.format(hidden=int((known < 0).sum())))
    picture = _draw(data, X, known, outcomes, options.seed, picture_format(output))
    try:
        output.write_bytes(picture)
    except OSError as error:
        raise CommandError(f"{output} cannot be written: {error.strerror}.") from None
    display.say(f"learned parts drawn in {output}")


def _run_all(X: Array, y: IntArray, known: IntArray, k: int, seed: int, display: Display) -> list[Outcome]:
    methods = default_methods(k, seed)
    preparing = "compilation"
    display.begin(preparing)
    clock = time.perf_counter()
    warm_up(methods)
    display.end(preparing, f"{time.perf_counter() - clock:.1f} s, charged to no method")
    outcomes = []
    for method in methods:
        outcome = run_method(method, X, y, known, display.begin(method.name))
        display.end(method.name, f"{outcome.ending}, accuracy {outcome.accuracy:.3f}")
        for note in outcome.notes:
            display.say(f"{method.name}: note: {note}")
        outcomes.append(outcome)
    return outcomes


def _draw(data: datasets.DataSet, X: Array, known: IntArray, outcomes: list[Outcome], seed: int, format: str) -> bytes:
    """The picture: components in the order of the classes that use them, and a sample of each class."""
    assert data.image_shape is not None  # checked when the data were loaded
    shown = np.array([np.flatnonzero((data.y == label) & (known < 0))[0] for label in np.unique(data.y)])
    rows = []
    for outcome in outcomes:
        order, favourites = match_components(outcome, data.y)
        rows.append(
            PartsRow(
                outcome.name,
                outcome.components[order],
                f"accuracy {outcome.accuracy:.3f}\nNMI {outcome.nmi:.3f}",
                [data.class_names[label] for label in favourites],
                outcome.codes[shown] @ outcome.components,
            )
        )
    k, labelled = len(outcomes[0].components), int((known >= 0).sum())
    figure = draw_parts(
        rows,
        data.image_shape,
        samples=X[shown],
        title=f"{data.name}: the parts that each method learns",
        subtitle=f"{len(X)} samples, {k} components, {labelled} labels for ConstrainedNMF, seed {seed}",
        parts_heading="Components; below each, the class that uses it most",
        samples_heading="A sample of each class, and what each method makes of it: code times components",
    )
    return picture_bytes(figure, format)


def _load_images(name: str) -> datasets.DataSet:
    try:
        data = datasets.load(name)
    except datasets.DataSetError as error:
        raise CommandError(str(error)) from None
    if data.image_shape is None:
        raise CommandError(f"{name} holds no images, so its parts cannot be drawn.")
    return data


def _check_output(path: Path) -> Path:
    if importlib.util.find_spec("matplotlib") is None:
        raise CommandError("the picture needs matplotlib, which is not installed: pip install 'partwise[cli]'.")
    try:
        picture_format(path)
    except ValueError as error:
        raise CommandError(f"{error}.") from None
    return check_writable(path)


def _check_components(k: int, data: datasets.DataSet) -> int:
    most = min(data.X.shape)
    if k > most:
        raise CommandError(f"--components is {k}; {data.name} can need {most} at most.")
    return k


def _check_labels_per_class(n: int, data: datasets.DataSet) -> int:
    smallest = int(np.bincount(data.y).min())
    if n >= smallest:
        raise CommandError(
            f"--labels-per-class is {n}; the smallest class of {data.name} has {smallest} samples, "
            "and some must stay unlabelled."
        )
    return n

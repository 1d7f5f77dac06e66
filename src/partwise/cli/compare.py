"""``partwise compare``: every method on one data set, a table, and a page or a picture for people."""

from __future__ import annotations

import argparse
import importlib.util
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from .. import NMF, datasets
from ..core.interruption import fit_whole
from ..core.threads import one_thread
from ..core.types import IntArray
from ..experiments.comparison import (
    Comparison,
    Method,
    Outcome,
    default_methods,
    match_components,
    run_method,
    warm_up,
)
from ..plots import PartsRow, draw_parts, picture_bytes, picture_format
from ..report import comparison_page
from .arguments import CommandError, add_columns, add_seed, check_output, components, whole_number, write_whole
from .display import Display, choose_display
from .inputs import LABELS_PER_CLASS, choose_components, choose_labels, describe, known_or_there, load, prepare
from .table import legend

IF_INTERRUPTED = "nothing was written"
DESCRIPTION = """\
Run k-means (20 restarts), NMF, GraphNMF and ConstrainedNMF on a data set, with
its samples scaled to unit norm (counts of words are weighted by tf-idf before).

DATA is the name of a data set or a file or folder of yours: .npz, .npy, .csv,
.tsv, .mtx, .mat, a folder of images, or a folder of texts; sub-folders are
classes.

Prints accuracy (clusters matched to classes), the same on the unlabelled
samples alone, normalised mutual information (by the larger entropy), purity and
time, and writes a page that shows how the methods converge, what they learn and
what they confuse. Data without labels have no scores, and need --components.

Clusters are read off the codes by k-means with 20 restarts. Only ConstrainedNMF
sees labels. The time goes from the data to the clusters, on one thread;
compilation happens beforehand and is not counted.
"""
PAGE = ".html"
# Of GraphNMF, for the curve on the page.
STRENGTHS = (0.1, 1.0, 10.0, 100.0, 1000.0)


def add(parser: argparse.ArgumentParser) -> None:
    """The arguments."""
    known = ", ".join(datasets.names())
    parser.add_argument("data", metavar="DATA", type=known_or_there, help=f"a file, a folder, or one of: {known}")
    parser.add_argument(
        "--output",
        metavar="FILE",
        type=Path,
        help="where to write: a page (.html), or for images a picture of the parts alone (.png, .pdf, .svg) "
        "(default: partwise-DATA.html)",
    )
    parser.add_argument(
        "--labels-per-class",
        metavar="N",
        type=whole_number(1),
        help=f"labelled samples of each class that ConstrainedNMF may see "
        f"(default: {LABELS_PER_CLASS}, fewer if a class is small)",
    )
    parser.add_argument(
        "--components",
        metavar="K",
        type=components,
        help="number of components and clusters, or auto (default: the number of classes)",
    )
    add_columns(parser)
    add_seed(parser)


def run(options: argparse.Namespace) -> None:
    """Check everything that can be checked, then run, print and write.

    Parameters
    ----------
    options : argparse.Namespace
        data, output, labels_per_class, components, label_column, drop_columns, header, seed.
    """
    output = options.output or Path(f"partwise-{Path(options.data).stem}{PAGE}")
    as_page = _check_format(output)
    check_output(output, Path(options.data))
    display = choose_display()
    data = load(options.data, options)
    if not as_page and (data.image_shape is None or not (data.y >= 0).any()):
        raise CommandError(f"{data.name} holds no images of known classes, so no picture can be drawn; ask for a page.")
    k = choose_components(data, options.components)
    known = choose_labels(data, options.labels_per_class, options.seed)
    X, preparation = prepare(data)
    comparison = Comparison(data, X, preparation, known, (), options.seed)
    labelled = int((known >= 0).sum())
    labels = _labels(known) if labelled else "no labels, so ConstrainedNMF is left out"
    # One thread each: times compare, and small data gains nothing from more.
    with display, one_thread():
        for line in [*describe(data), preparation]:
            display.say(line)
        if k is None:
            k = _number_of_components(X, options.seed, display)
        display.say(f"{k} components, {labels}, seed {options.seed}")
        methods = default_methods(k, options.seed, labelled > 0)
        outcomes = _run_all(comparison, methods, display)
        comparison = replace(comparison, outcomes=tuple(outcomes))
        if as_page:
            comparison = replace(comparison, strengths=tuple(_vary_strength(comparison, methods, display)))
    display.table(outcomes)
    for line in legend(outcomes, int(((data.y >= 0) & (known < 0)).sum())):
        display.say(line)
    if as_page:
        settings = {"data": options.data, "components": str(k), "labels": labels, "seed": str(options.seed)}
        write_whole(output, comparison_page(comparison, settings).encode("utf-8"))
        display.say(f"report written to {output}")
    else:
        write_whole(output, _draw(comparison, picture_format(output)))
        display.say(f"learned parts drawn in {output}")


def _number_of_components(X: Any, seed: int, display: Display) -> int:
    """The number that NMF chooses."""
    step = "number of components"
    callback = display.begin(step)
    try:
        model = fit_whole(NMF("auto", random_state=seed, callbacks=[callback]), X)
    except ValueError as error:
        raise CommandError(f"--components auto: {' '.join(str(error).split())}") from None
    k = len(model.components_)
    display.end(step, f"{k}, as NMF chooses it")
    return k


def _labels(known: IntArray) -> str:
    per_class = int(np.bincount(known[known >= 0]).max())
    return f"labels of {int((known >= 0).sum())} samples ({per_class} per class) for ConstrainedNMF"


def _run_all(comparison: Comparison, methods: list[Method], display: Display) -> list[Outcome]:
    preparing = "compilation"
    display.begin(preparing)
    clock = time.perf_counter()
    warm_up(methods)
    display.end(preparing, f"{time.perf_counter() - clock:.1f} s, charged to no method")
    outcomes = []
    for method in methods:
        outcome = _run_one(comparison, method, display)
        score = "" if outcome.accuracy is None else f", accuracy {outcome.accuracy:.3f}"
        display.end(method.name, f"{outcome.ending}{score}")
        for note in outcome.notes:
            display.say(f"{method.name}: note: {note}")
        outcomes.append(outcome)
    return outcomes


def _run_one(comparison: Comparison, method: Method, display: Display) -> Outcome:
    try:
        return run_method(method, comparison.X, comparison.data.y, comparison.known, display.begin(method.name))
    except ValueError as error:
        # What a method cannot do with these data, such as finding five neighbours among four samples.
        raise CommandError(f"{method.name}: {' '.join(str(error).split())}") from None


def _vary_strength(comparison: Comparison, methods: list[Method], display: Display) -> list[tuple[float, Outcome]]:
    """GraphNMF with given strengths instead of the one that it chooses."""
    found = [(method, o) for method, o in zip(methods, comparison.outcomes, strict=True) if method.name == "GraphNMF"]
    if not found or found[0][1].accuracy is None:
        return []
    method, curve = found[0][0], []
    for strength in STRENGTHS:
        name = f"GraphNMF, strength {strength:g}"
        model = clone(method.model).set_params(graph_strength=strength)
        outcome = _run_one(comparison, Method(name, model), display)
        display.end(name, f"{outcome.ending}, accuracy {outcome.accuracy:.3f}")
        curve.append((strength, outcome))
    return curve


def _draw(comparison: Comparison, format: str) -> bytes:
    """The picture: components in the order of the classes that use them, and a sample of each class."""
    data, X, known = comparison.data, comparison.X, comparison.known
    assert data.image_shape is not None  # checked when the data were loaded
    shown = np.array([np.flatnonzero((data.y == label) & (known < 0))[0] for label in np.unique(data.y[data.y >= 0])])
    rows = []
    for outcome in comparison.outcomes:
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
    k, labelled = len(comparison.outcomes[0].components), int((known >= 0).sum())
    figure = draw_parts(
        rows,
        data.image_shape,
        samples=X[shown],
        title=f"{data.name}: the parts that each method learns",
        subtitle=f"{len(X)} samples, {k} components, {labelled} labels for ConstrainedNMF, seed {comparison.seed}",
        parts_heading="Components; below each, the class that uses it most",
        samples_heading="A sample of each class, and what each method makes of it: code times components",
    )
    return picture_bytes(figure, format)


def _check_format(path: Path) -> bool:
    """Whether it is a page; if not, it must be a picture that can be drawn."""
    if path.suffix.lower() == PAGE:
        return True
    if importlib.util.find_spec("matplotlib") is None:
        raise CommandError("the picture needs matplotlib, which is not installed: pip install 'partwise[cli]'.")
    try:
        picture_format(path)
    except ValueError as error:
        raise CommandError(f"{error}, nor in {PAGE}.") from None
    return False

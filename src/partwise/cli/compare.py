"""``partwise compare``: several methods on one data set, a table, and a page or a picture."""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path

import numpy as np

from .. import datasets
from ..experiments.comparison import LABELS_PER_CLASS, Comparison, compare_methods
from ..experiments.outcomes import match_components
from ..experiments.score_table import legend
from ..plots import PartsRow, draw_parts, picture_bytes, picture_format
from ..report import comparison_page
from .arguments import (
    CommandError,
    add_columns,
    add_seed,
    add_stop_words,
    check_output,
    components,
    whole_number,
    write_whole,
)
from .display import choose_display
from .inputs import known_or_there, load

IF_INTERRUPTED = "nothing was written"
DESCRIPTION = """\
Run k-means (20 restarts), NMF, GraphNMF and ConstrainedNMF on a data set, with
its samples scaled to unit norm (word counts are first weighted by tf-idf).

DATA is the name of a data set, or your own file or folder: .npz, .npy, .csv,
.tsv, .mtx, .mat, a folder of images, or a folder of texts; sub-folders are
classes.

Prints accuracy (clusters matched to classes), accuracy on the unlabelled
samples only, normalised mutual information (by the larger entropy), purity and
time, and writes a page that shows how the methods converge, what they learn and
what they confuse. Data without labels need --components; their scores are the
four criteria by which "auto" chooses.

Codes are clustered by k-means with 20 restarts. Only ConstrainedNMF sees
labels. The time runs from the data to the clusters, on one thread;
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
        help="where to write: a page (.html), or for images a picture of only the parts (.png, .pdf, .svg) "
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
    add_stop_words(parser)
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
    with display:
        try:
            comparison = compare_methods(
                data,
                n_components=options.components,
                labels_per_class=options.labels_per_class,
                graph_strengths=STRENGTHS if as_page else (),
                seed=options.seed,
                steps=display,
            )
        except ValueError as error:
            raise CommandError(_in_options(str(error))) from None
    display.table(comparison.outcomes)
    for line in legend(comparison.outcomes, comparison.n_hidden):
        display.say(line)
    if as_page:
        settings = {
            "data": options.data,
            "components": str(comparison.n_components),
            "labels": comparison.labels,
            "seed": str(options.seed),
        }
        write_whole(output, comparison_page(comparison, settings).encode("utf-8"))
        display.say(f"report written to {output}")
    else:
        write_whole(output, _draw(comparison, picture_format(output)))
        display.say(f"learned parts drawn in {output}")


def _in_options(sentence: str) -> str:
    """A sentence about parameters as one about the options that set them."""
    return sentence.replace("n_components", "--components").replace("labels_per_class", "--labels-per-class")


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
    counts = f"{len(X)} samples, {comparison.n_components} components, {int((known >= 0).sum())} labels"
    figure = draw_parts(
        rows,
        data.image_shape,
        samples=X[shown],
        title=f"{data.name}: the parts that each method learns",
        subtitle=f"{counts} for ConstrainedNMF, seed {comparison.seed}",
        parts_heading="Components; below each, the class that uses it most",
        samples_heading="A sample of each class, and each method's reconstruction of it: code times components",
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

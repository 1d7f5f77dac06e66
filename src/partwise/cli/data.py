"""``partwise data``: the known data sets, which of them are here, and who may use them."""

from __future__ import annotations

import argparse
from pathlib import Path

from .. import datasets
from .arguments import CommandError
from .lines import say

IF_INTERRUPTED = "the list is not complete"
DESCRIPTION = """\
List the known data sets: their size, where they are on this computer, where
they come from, and who may use them.

Data sets are looked for in a folder of npz files (--folder, or the variable
PARTWISE_DATA), then in the cache. Those with a public source are downloaded
when they are first used.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--folder", metavar="FOLDER", type=Path, help="folder of npz files (default: PARTWISE_DATA)")


def run(options: argparse.Namespace) -> None:
    """Print the list.

    Parameters
    ----------
    options : argparse.Namespace
        folder.
    """
    say(
        "digits: 1797 x 64, 10 classes; handwritten digits", "  here: part of scikit-learn", "  terms of use: CC BY 4.0"
    )
    for name, entry in sorted(datasets.CATALOGUE.items()):
        try:
            path = datasets.find(name, options.folder)
        except datasets.DataSetError as error:
            raise CommandError(str(error)) from None
        size = f"{entry.shape[0]} x {entry.shape[1]}, {entry.classes} classes"
        say(
            f"{name}: {size}; {entry.what}",
            f"  here: {path}" if path is not None else f"  not here; source: {entry.source}",
            f"  terms of use: {entry.licence}",
            f"  cite: {entry.citation}",
        )

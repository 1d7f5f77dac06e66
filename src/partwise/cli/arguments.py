"""The command line's grammar: commands, options, and what each accepts."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from .. import __version__
from ..datasets import names

DESCRIPTION = "Parts-based representations: non-negative matrix factorisation that respects neighbours and labels."

COMPARE = """\
Run k-means (20 restarts), NMF, GraphNMF and ConstrainedNMF on a data set, with
its samples scaled to unit norm.

Prints accuracy (clusters matched to classes), the same on the unlabelled
samples alone, normalised mutual information (by the larger entropy), purity and
time, and draws the learned parts into a file.

Clusters are read off the codes by k-means with 20 restarts. Only ConstrainedNMF
sees labels. The time goes from the data to the clusters, on one thread;
compilation happens beforehand and is not counted.
"""


# Commands that live in modules of their own, with HELP, DESCRIPTION, WHEN_INTERRUPTED, add(parser)
# and run(options).
FURTHER_COMMANDS = {"data": "data", "reproduce": "reproduce"}


class CommandError(Exception):
    """Something the user can put right, said in one sentence."""


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are one sentence each."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and leave."""
        sentence = message.removesuffix(".")
        self.exit(2, f"{self.prog}: {sentence}; see {self.prog} --help.\n")


def build_parser() -> Parser:
    """The whole grammar."""
    parser = Parser(prog="partwise", description=DESCRIPTION, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"partwise {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands", parser_class=Parser)
    compare = commands.add_parser(
        "compare",
        help="run all methods on a data set and compare them",
        description=COMPARE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    known = ", ".join(names())
    compare.add_argument("data", metavar="DATA", type=_data_set, help=f"name of a data set: {known}")
    compare.add_argument(
        "--output",
        metavar="FILE",
        type=Path,
        help="where to draw the learned parts: .png, .pdf or .svg (default: partwise-DATA.png)",
    )
    compare.add_argument(
        "--labels-per-class",
        metavar="N",
        type=whole_number(1),
        default=5,
        help="labelled samples of each class that ConstrainedNMF may see (default: %(default)s)",
    )
    compare.add_argument(
        "--components",
        metavar="K",
        type=whole_number(1),
        help="number of components and clusters (default: the number of classes)",
    )
    compare.add_argument(
        "--seed",
        metavar="N",
        type=whole_number(0, 2**32 - 1),
        default=0,
        help="of every random choice (default: %(default)s)",
    )
    for name, command in FURTHER_COMMANDS.items():
        module = importlib.import_module(f".{command}", __package__)
        command_parser = commands.add_parser(
            name,
            help=module.HELP,
            description=module.DESCRIPTION,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        module.add(command_parser)
        command_parser.set_defaults(run=module.run, when_interrupted=module.WHEN_INTERRUPTED)
    return parser


def _data_set(text: str) -> str:
    if text not in names():
        raise argparse.ArgumentTypeError(f"there is no data set {text!r}, known are: {', '.join(names())}")
    return text


def whole_number(lowest: int, highest: int | None = None) -> Callable[[str], int]:
    """A parser of whole numbers within bounds."""
    bounds = f"{lowest} or more" if highest is None else f"from {lowest} to {highest}"

    def parse(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = lowest - 1
        if number < lowest or (highest is not None and number > highest):
            raise argparse.ArgumentTypeError(f"it must be a whole number, {bounds}, not {text!r}")
        return number

    return parse

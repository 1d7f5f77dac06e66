"""What all commands share: the parser, the types of arguments, and the form of error messages."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NoReturn, Protocol

from .. import __version__
from ..files import writing

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

DESCRIPTION = "Parts-based representations: non-negative matrix factorisation that respects neighbours and labels."


class CommandError(Exception):
    """An error that the user can correct, in one sentence."""


class Command(Protocol):
    """A module that is a command.

    Attributes
    ----------
    DESCRIPTION : str
        What the command does, in lines of 80 characters at most.
    IF_INTERRUPTED : str
        What has not happened after Ctrl-C.
    """

    DESCRIPTION: str
    IF_INTERRUPTED: str

    def add(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments to its parser."""

    def run(self, options: argparse.Namespace) -> None:
        """Carry it out; a CommandError says what cannot be done."""


class Parser(argparse.ArgumentParser):
    """A parser whose error messages are one sentence each."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and exit."""
        sentence = message.removesuffix(".")
        self.exit(2, f"{self.prog}: {sentence}; see {self.prog} --help.\n")

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        """Print; unlike the method it overrides, it does not hide that a device is full."""
        print(message, end="", file=file or sys.stderr)


def build_parser(helps: Mapping[str, str], chosen: Mapping[str, Command]) -> Parser:
    """The grammar: what every command is for, and the chosen ones in full."""
    parser = Parser(prog="partwise", description=DESCRIPTION, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"partwise {__version__}")
    choice = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands", parser_class=Parser)
    for name, text in helps.items():
        command = choice.add_parser(
            name, help=text, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
        )
        if name in chosen:
            command.description = chosen[name].DESCRIPTION
            chosen[name].add(command)
    return parser


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


def components(text: str) -> int | Literal["auto"]:
    """A number of components, or "auto"."""
    return "auto" if text == "auto" else whole_number(1)(text)


def add_columns(parser: argparse.ArgumentParser) -> None:
    """Add the options about the columns of a table."""
    parser.add_argument(
        "--label-column", metavar="NAME", help="the column of a table that holds the classes; none if no column does"
    )
    parser.add_argument(
        "--drop-column",
        metavar="NAME",
        dest="drop_columns",
        action="append",
        default=[],
        help="a column of a table to leave out; may be given several times",
    )
    parser.add_argument(
        "--text-column",
        metavar="NAME",
        dest="text_columns",
        action="append",
        help="the column of a table whose words are counted; may be given several times; none if no column's are "
        "(default: one named text, or the only one that holds prose)",
    )
    parser.add_argument(
        "--encoding", metavar="NAME", help="how a table stores characters, such as cp1252 (default: UTF-8)"
    )
    parser.add_argument(
        "--header",
        choices=("yes", "no"),
        help="whether the first row of a table holds names (default: inferred)",
    )


def add_stop_words(parser: argparse.ArgumentParser) -> None:
    """Add --stop-words."""
    parser.add_argument(
        "--stop-words",
        metavar="WORDS",
        default="english",
        help="words of texts that are not counted: english, none, or a file of words (default: %(default)s)",
    )


def add_seed(parser: argparse.ArgumentParser) -> None:
    """Add --seed."""
    parser.add_argument(
        "--seed",
        metavar="N",
        type=whole_number(0, 2**32 - 1),
        default=0,
        help="seed of every random choice (default: %(default)s)",
    )


def check_output(path: Path, *inputs: Path) -> None:
    """Check before any work that a file can be written and is not one of the inputs."""
    for source in inputs:
        if path.exists() and source.exists() and path.samefile(source):
            raise CommandError(f"{path} is an input and would be overwritten; give another --output.")
    try:
        writing.check_writable(path)
    except writing.WriteError as error:
        raise CommandError(str(error)) from None


def write_whole(path: Path, content: bytes) -> None:
    """Write a file, or say in one sentence why not."""
    try:
        writing.write_whole(path, content)
    except writing.WriteError as error:
        raise CommandError(str(error)) from None

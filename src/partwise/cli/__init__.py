"""The command line: ``partwise compare digits``.

A new command is a module with `add` and `run` (:class:`partwise.cli.arguments.Command`), and a line in `COMMANDS`.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module

from .arguments import Command, CommandError, build_parser

__all__ = ["main"]

# The modules of this package that are commands, and what each is for. Only the requested one is imported.
COMMANDS = {
    "compare": "run all methods on a data set and compare them",
    "fit": "fit a method to data in a file and save the model",
    "apply": "code and label data in a file with a saved model",
    "data": "list the known data sets",
    "reproduce": "repeat the experiments of a paper",
}

IMPOSSIBLE, UNHEARD = 2, 1
INTERRUPTED = 130  # as shells report a process that Ctrl-C ended


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments; by default those of the process.

    Returns
    -------
    code : int
        0 on success, 1 if the output could not be printed, 2 if the request cannot be carried out, 130 after Ctrl-C.
    """
    _open_closed_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Do not fail over a file name that the terminal cannot show.
        sys.stdout.reconfigure(errors="backslashreplace")
    arguments = sys.argv[1:] if argv is None else argv
    name = next((f"partwise {name}" for name in COMMANDS if name in arguments), "partwise")
    try:
        try:
            return _run(arguments)
        finally:
            sys.stdout.flush()
    except OSError as error:
        # Discard the remaining output; otherwise Python would complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        # A reader that has gone, as in `partwise data | head -1`, has all it wanted.
        if not isinstance(error, BrokenPipeError):
            what = "standard output" if error.filename is None else error.filename
            with suppress(OSError):
                print(f"{name}: {what} cannot be written: {error.strerror}.", file=sys.stderr)
        return UNHEARD


def _run(arguments: Sequence[str]) -> int:
    chosen: dict[str, Command] = {name: import_module(f".{name}", __name__) for name in COMMANDS if name in arguments}
    parser = build_parser(COMMANDS, chosen)
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return 0
    command = chosen[options.command]
    try:
        command.run(options)
    except CommandError as error:
        print(f"partwise {options.command}: {error}", file=sys.stderr)
        return IMPOSSIBLE
    except KeyboardInterrupt:
        print(
            f"partwise {options.command}: interrupted before the end, {command.IF_INTERRUPTED}.",
            file=sys.stderr,
        )
        return INTERRUPTED
    return 0


def _open_closed_streams() -> None:
    """Reopen on the null device the streams that the caller has closed, as by ``>&-``.

    Otherwise the next file opened would take their place, and errors would be printed into it.
    """
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            place = os.open(os.devnull, os.O_RDWR)
            if place != descriptor:
                os.dup2(place, descriptor)
                os.close(place)
            setattr(sys, name, open(descriptor, "r" if descriptor == 0 else "w", closefd=False))  # noqa: SIM115

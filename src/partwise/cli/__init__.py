"""The command line: ``partwise compare digits``.

A new command is a module with `add` and `run` (:class:`partwise.cli.arguments.Command`), and a line in `COMMANDS`.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from .arguments import Command, CommandError, build_parser

__all__ = ["main"]

# The modules of this package that are commands, and what each is for. Only the one that is asked for is imported.
COMMANDS = {
    "compare": "run all methods on a data set and compare them",
    "fit": "fit a method to data in a file and save the model",
    "apply": "code and label data in a file by a saved model",
    "data": "list the data sets that are known",
    "reproduce": "repeat the experiments of a paper",
}

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
        0 if all went well, 2 if something was asked for that cannot be done, 130 after Ctrl-C.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A file name that the terminal cannot show is no reason to fail.
        sys.stdout.reconfigure(errors="backslashreplace")
    arguments = sys.argv[1:] if argv is None else argv
    chosen: dict[str, Command] = {name: import_module(f".{name}", __name__) for name in COMMANDS if name in arguments}
    parser = build_parser(COMMANDS, chosen)
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return 0
    command = chosen[options.command]
    try:
        command.run(options)
        sys.stdout.flush()
    except CommandError as error:
        print(f"partwise {options.command}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(
            f"partwise {options.command}: interrupted before the end, {command.IF_INTERRUPTED}.",
            file=sys.stderr,
        )
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has left, as in `partwise compare digits | head -1`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0

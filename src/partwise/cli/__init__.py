"""The command line: ``partwise compare digits``."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

from .arguments import CommandError, build_parser

__all__ = ["main"]

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
    parser = build_parser()
    options = parser.parse_args(argv)
    if options.command is None:
        parser.print_help()
        return 0
    try:
        if options.command == "compare":
            from .compare import run
        else:
            run = options.run
        run(options)
        sys.stdout.flush()
    except CommandError as error:
        print(f"partwise {options.command}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        ending = getattr(options, "when_interrupted", "no picture was written")
        print(f"partwise {options.command}: interrupted before the end, {ending}.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has left, as in `partwise compare digits | head -1`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0

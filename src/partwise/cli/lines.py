"""Lines on standard output, folded to the width of a terminal."""

from __future__ import annotations

import shutil
import sys
import textwrap

NARROWEST = 20


def terminal_width() -> int | None:
    """Columns of the terminal that lines are printed on; None if there is none, as in a file or a pipe."""
    return max(shutil.get_terminal_size().columns, NARROWEST) if sys.stdout.isatty() else None


def fold(text: str, indent: str = "  ") -> str:
    """A line folded to fit the terminal, if there is one; names and paths stay whole."""
    width = terminal_width()
    if width is None or len(text) <= width:
        return text
    first = text[: len(text) - len(text.lstrip())]
    return textwrap.fill(text, width, subsequent_indent=first + indent, break_long_words=False, break_on_hyphens=False)


def say(*lines: str) -> None:
    """Print lines and flush, so that readers need not wait for the next."""
    for line in lines:
        print(fold(line), flush=True)

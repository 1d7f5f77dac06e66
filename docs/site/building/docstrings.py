"""Docstrings as pages: formulas stay as they are written, and what scikit-learn adds is left out."""

from __future__ import annotations

import re
from typing import Any

HEADING = re.compile(r"-{3,}$")
ARRAY = re.compile(r"~?(?:numpy\.)?ndarray\[.*?dtype\[~?(?:typing\.)?Any\]\]")
WORDS = re.compile(r"~?(?:typing\.)?Literal\[([^\]]*)\]")
ANY = re.compile(r": ~?(?:typing\.)?Any(?=[ ,)])")


def keep_formulas(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Put ``::`` before every indented block above the first heading: a formula, in which | and _ mean themselves.

    Bars in the text itself are absolute values.
    """
    end = next((i - 1 for i, line in enumerate(lines) if HEADING.match(line)), len(lines))
    kept: list[str] = []
    for i, line in enumerate(lines[:end]):
        if line.startswith("    ") and i and not lines[i - 1].strip() and not _inside(kept):
            kept += ["::", ""]
        kept.append(line if line.startswith(" ") else line.replace("|", "\\|"))
    lines[:end] = kept


def _inside(kept: list[str]) -> bool:
    """Whether the last line that is not blank belongs to a block, a list or a directive."""
    last = next((line for line in reversed(kept) if line.strip()), "")
    return last.startswith((" ", "- ", "* ", "..", "::")) or last.endswith("::")


def shorten_types(
    app: Any, what: str, name: str, obj: Any, options: Any, signature: str | None, result: str | None
) -> tuple[str | None, str | None]:
    """Arrays without the types of their shape and entries, words as they are, no types where anything is accepted."""
    shown = [
        None if text is None else WORDS.sub(lambda words: words[1].replace(", ", " | "), ARRAY.sub("ndarray", text))
        for text in (signature, result)
    ]
    return ANY.sub("", shown[0]) if shown[0] else shown[0], None if shown[1] in ("None", "Any") else shown[1]


def skip_inherited(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out methods that every scikit-learn estimator has: their pages are scikit-learn's."""
    module = getattr(obj, "__module__", None) or getattr(getattr(obj, "fget", None), "__module__", None) or ""
    return True if module.startswith("sklearn.") or name.endswith("_request") else None

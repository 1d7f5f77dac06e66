"""Docstrings of classes that inherit parameters: each class documents what it declares, and help() shows everything."""

import inspect
import re
from collections.abc import Iterable, Mapping
from typing import Any

Entries = dict[str, list[str]]
# The name under which a class keeps the docstring of its source.
SOURCE = "_source_doc"


def assembled(cls: type, parameters: Mapping[str, Any]) -> str | None:
    """The docstring of a class with all of its parameters and attributes, own and inherited.

    Parameters
    ----------
    cls : type
        With its docstring as written; None stays None.
    parameters : mapping of str to object
        Default of every parameter, in the order of the signature. The entry comes from the nearest class that documents
        the parameter, and gets this default.
    """
    written = vars(cls).get(SOURCE)
    if written is None:
        return None
    sections = _sections(written)
    found = [_sections(_source(kind)) for kind in cls.__mro__]
    documented = _nearest(_entries(part.get("Parameters", ())) for part in found)
    attributes = _nearest(_entries(part.get("Attributes", ())) for part in found)
    lines = sections.pop("")
    if parameters:
        lines += _section("Parameters", (_with_default(name, documented, parameters[name]) for name in parameters))
    if attributes:
        lines += _section("Attributes", attributes.values())
    for title, text in sections.items():
        if title not in ("Parameters", "Attributes"):
            lines += _section(title, [text])
    return "\n".join(lines) + "\n"


def _source(kind: type) -> str:
    return vars(kind).get(SOURCE, kind.__doc__) or ""


def _sections(doc: str) -> dict[str, list[str]]:
    """The lines below each heading; those above the first have an empty one."""
    sections: dict[str, list[str]] = {"": []}
    current = sections[""]
    for line in inspect.cleandoc(doc).split("\n"):
        if re.fullmatch("-{3,}", line) and current:
            current = sections.setdefault(current.pop(), [])
        else:
            current.append(line)
    return {title: _stripped(lines) for title, lines in sections.items()}


def _stripped(lines: list[str]) -> list[str]:
    """Without blank lines at the end."""
    return "\n".join(lines).rstrip().split("\n")


def _entries(lines: Iterable[str]) -> Entries:
    """The lines about each name: a line that is not indented begins another."""
    entries: Entries = {}
    current: list[str] = []
    for line in lines:
        if line and not line[0].isspace():
            current = entries[line.partition(" : ")[0]] = []
        if line:
            current.append(line)
    return entries


def _nearest(found: Iterable[Entries]) -> Entries:
    merged: Entries = {}
    for entries in found:
        merged = merged | {name: lines for name, lines in entries.items() if name not in merged}
    return merged


def _with_default(name: str, documented: Entries, default: Any) -> list[str]:
    heading, *text = documented.get(name, [name])
    heading = re.sub(r",? default=.*$", "", heading)
    if default is not inspect.Parameter.empty:
        heading += f"{', ' if ' : ' in heading else ' : '}default={_shown(default)}"
    return [heading, *text]


def _shown(default: Any) -> str:
    """A default as written in docstrings: "auto", 1e-6."""
    if isinstance(default, str):
        return f'"{default}"'
    if isinstance(default, float) and 0 < default < 1e-3:
        return re.sub(r"\.?0*e-0?", "e-", f"{default:e}")
    return repr(default)


def _section(title: str, blocks: Iterable[list[str]]) -> list[str]:
    return ["", title, "-" * len(title), *(line for block in blocks for line in block)]

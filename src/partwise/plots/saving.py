"""From a figure to the bytes of a file."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("png", "pdf", "svg")


def picture_format(path: Path) -> str:
    """The format that the name of a file asks for.

    Parameters
    ----------
    path : Path

    Returns
    -------
    format : {"png", "pdf", "svg"}
    """
    ending = path.suffix.lower().removeprefix(".")
    if ending not in FORMATS:
        raise ValueError(f"{path} does not end in {', '.join('.' + known for known in FORMATS[:-1])} or .{FORMATS[-1]}")
    return ending


def picture_bytes(figure: Figure, format: str = "png") -> bytes:
    """Render a figure in memory, so that a file is written whole or not at all.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    format : {"png", "pdf", "svg"}, default="png"

    Returns
    -------
    content : bytes
    """
    # No dates or versions inside: the same figure gives the same bytes.
    unstated = {"png": "Software", "pdf": "CreationDate", "svg": "Date"}
    metadata: dict[str, Any] = {unstated[format]: None}
    buffer = BytesIO()
    figure.savefig(buffer, format=format, dpi=figure.dpi, metadata=metadata)
    return buffer.getvalue()

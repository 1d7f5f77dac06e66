"""Arrays as small PNG pictures inside the page."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np

from ..core.types import Array
from ..plots.markup import Markup, element

SIGNATURE = b"\x89PNG\r\n\x1a\n"
PALETTE_TYPE = 3
# From ground to ink: the same greys on a light and on a dark page.
GROUND, INK = 244, 22


def png(shades: Array) -> bytes:
    """A PNG of numbers from 0 (ground) to 1 (ink), one pixel each, in shades of grey.

    Parameters
    ----------
    shades : ndarray of shape (height, width)
    """
    height, width = shades.shape
    pixels = np.round(np.clip(shades, 0, 1) * 255).astype(np.uint8)
    # Every line begins with the number of its filter: none.
    lines = np.hstack([np.zeros((height, 1), np.uint8), pixels])
    header = struct.pack(">IIBBBBB", width, height, 8, PALETTE_TYPE, 0, 0, 0)
    chunks = {b"IHDR": header, b"PLTE": _palette(), b"IDAT": zlib.compress(lines.tobytes(), 9), b"IEND": b""}
    return SIGNATURE + b"".join(_chunk(kind, content) for kind, content in chunks.items())


def picture(values: Array, alt: str, *, full: float | None = None, class_: str = "tile") -> Markup:
    """An image element that holds its picture.

    Parameters
    ----------
    values : ndarray of shape (height, width)
        Zero is the ground; negative values are shown as zero.
    alt : str
        The picture in words.
    full : float, optional
        The value shown as full ink; by default the largest.
    class_ : str
    """
    values = np.asarray(values, np.float64)
    ink = float(values.max()) if full is None else full
    content = base64.b64encode(png(values / (ink if ink > 0 else 1.0))).decode("ascii")
    height, width = values.shape
    return element(
        "img", src=f"data:image/png;base64,{content}", alt=alt, title=alt, width=width, height=height, class_=class_
    )


def _palette() -> bytes:
    greys = np.linspace(GROUND, INK, 256).round().astype(np.uint8)
    return np.repeat(greys, 3).tobytes()


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

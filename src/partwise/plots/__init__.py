"""Figures drawn with matplotlib (``pip install 'partwise[cli]'``), which is imported when the first is drawn."""

from .curves import Curve, draw_consensus, draw_curves, draw_paths
from .parts import PartsRow, draw_parts
from .saving import picture_bytes, picture_format

__all__ = [
    "Curve",
    "PartsRow",
    "draw_consensus",
    "draw_curves",
    "draw_parts",
    "draw_paths",
    "picture_bytes",
    "picture_format",
]

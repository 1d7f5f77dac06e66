"""Figures and pages for people. Drawing pictures needs matplotlib (``pip install 'partwise[cli]'``); pages do not."""

from .comparison import comparison_page
from .curves import Curve, draw_consensus, draw_curves, draw_paths
from .parts import PartsRow, draw_parts
from .reproduction import reproduction_page
from .saving import picture_bytes, picture_format

__all__ = [
    "Curve",
    "PartsRow",
    "comparison_page",
    "draw_consensus",
    "draw_curves",
    "draw_parts",
    "draw_paths",
    "picture_bytes",
    "picture_format",
    "reproduction_page",
]

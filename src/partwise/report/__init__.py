"""Figures and pages for people. Drawing pictures needs matplotlib (``pip install 'partwise[cli]'``); pages do not."""

from .comparison import comparison_page
from .parts import PartsRow, draw_parts
from .reproduction import reproduction_page
from .saving import picture_bytes, picture_format

__all__ = ["PartsRow", "comparison_page", "draw_parts", "picture_bytes", "picture_format", "reproduction_page"]

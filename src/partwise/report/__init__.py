"""Figures for people. Drawing needs matplotlib (``pip install 'partwise[cli]'``); importing this does not."""

from .parts import PartsRow, draw_parts
from .saving import picture_bytes, picture_format

__all__ = ["PartsRow", "draw_parts", "picture_bytes", "picture_format"]

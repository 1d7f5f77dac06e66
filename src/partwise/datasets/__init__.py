"""Data sets by name."""

from .registry import DataSet, load, names

__all__ = ["DataSet", "load", "names"]

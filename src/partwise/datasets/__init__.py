"""Data sets by name: shipped with scikit-learn, in the user's folder, in the cache, or downloaded."""

from ..files.data_set import DataSet
from .catalogue import CATALOGUE, Entry
from .files import DataSetError, cache_folder, find, user_folder
from .registry import load, names

__all__ = ["CATALOGUE", "DataSet", "DataSetError", "Entry", "cache_folder", "find", "load", "names", "user_folder"]

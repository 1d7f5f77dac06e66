"""Data from files and folders: ``read(path)`` gives a :class:`DataSet`, or says why not.

The formats and their guards, which models and checkpoints share, are here too; they are imported without the readers.
"""

from typing import TYPE_CHECKING

from ..lazy import importer

if TYPE_CHECKING:
    from .archive import ReadError as ReadError
    from .data_set import DataSet as DataSet
    from .reading import align as align
    from .reading import read as read

__all__ = ["DataSet", "ReadError", "align", "read"]

HOMES = {"DataSet": "data_set", "ReadError": "archive", "align": "reading", "read": "reading"}

if not TYPE_CHECKING:  # a type checker would take any name for one of the package
    __getattr__ = importer(__name__, HOMES)

"""Data from files and folders: ``read(path)`` gives a :class:`partwise.datasets.DataSet`, or says why not."""

from ..core.archive import ReadError
from .reading import align, read

__all__ = ["ReadError", "align", "read"]

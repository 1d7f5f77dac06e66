"""Data that are not in memory: sources of row blocks, which `fit`, `transform`, `predict` and `score` take as they are.

Data sets of h5py, arrays of zarr, backed AnnData and dask arrays need nothing from here. Any other object with a shape,
a dtype and a method `blocks` is a source too, see :class:`RowBlocks`.

>>> import os, tempfile
>>> import numpy as np
>>> from partwise import NMF
>>> from partwise.blocks import NpyFile
>>> path = os.path.join(tempfile.mkdtemp(), "X.npy")
>>> np.save(path, np.random.default_rng(0).random((500, 30), dtype=np.float32))
>>> NMF(3, random_state=0, max_iter=20, tol=0).fit(NpyFile(path)).components_.shape
(3, 30)
"""

from .core.cluster import ClusterError
from .core.dask_rows import DaskRows
from .core.fetching import BlockError
from .core.sources import ArrayRows, CodesOnDisk, CsrRows, NpyFile, RowBlocks
from .core.spread_operand import memory_chunks

__all__ = [
    "ArrayRows",
    "BlockError",
    "ClusterError",
    "CodesOnDisk",
    "CsrRows",
    "DaskRows",
    "NpyFile",
    "RowBlocks",
    "memory_chunks",
]

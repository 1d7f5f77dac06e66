"""How sparse a vector is."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array

from ..core.door import read_data, readable
from ..core.types import Array


def sparseness(X: Any, *, axis: int = -1) -> Array | float:
    """Hoyer's sparseness of every vector of X: (√n − ‖x‖₁ / ‖x‖₂) / (√n − 1), n the length of x.

    It is 0 if all entries are equal in size and 1 if a single one is not zero (the text of the NLCF paper
    says the reverse of its formula). Where the formula is undefined it is 0: for an all-zero vector, whose
    entries are equal, and for a vector of length 1, which cannot be sparse.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n,) or (n_samples, n_features)
        One vector, or a matrix of vectors.
    axis : int, default=-1
        The axis along which the vectors lie: by default each row of a matrix is a vector.

    Returns
    -------
    sparseness : float or ndarray
        In [0, 1]: a float for a vector; for a matrix an array with one number per row (`axis` −1 or 1) or
        column (0), whose mean is what papers call the sparseness of a factor.

    References
    ----------
    P. O. Hoyer, "Non-negative matrix factorization with sparseness constraints", JMLR 5, 2004.

    Examples
    --------
    >>> from partwise.metrics import sparseness
    >>> sparseness([[1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 2.0, 0.0]])
    array([0., 1.])
    """
    X = readable(X)
    X = (read_data(X) if np.ndim(X) == 2 else check_array(X, ensure_2d=False)).astype(np.float64, copy=False)
    if not -X.ndim <= axis < X.ndim:
        raise ValueError(f"axis={axis} was given, but X has {X.ndim} dimensions; give an axis that it has.")
    # Scaled, because squares of very large or small numbers leave the range of float64.
    X = abs(X) / (abs(X).max() or 1.0)
    root = np.sqrt(X.shape[axis])
    l1, l2 = np.asarray(X.sum(axis=axis)), np.sqrt(np.asarray((X * X).sum(axis=axis)))
    defined = (l2 > 0) & (root > 1)
    ratio = np.divide(l1, l2, out=np.full_like(l1, root), where=defined)
    values: Array = np.clip(np.divide(root - ratio, root - 1, out=np.zeros_like(l1), where=defined), 0.0, 1.0)
    return values if values.ndim else float(values)

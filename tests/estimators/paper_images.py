"""The papers' data sets for tests: present or visibly skipped."""

from functools import cache

import numpy as np
import pytest
from sklearn.preprocessing import normalize

from partwise.datasets import find, load


@cache
def images(name, n_samples=None, every=1):
    """Images of unit norm and their classes 0, 1, …: a number of evenly spaced samples, and one of `every` pixels."""
    if find(name) is None:
        pytest.skip(f"{name} is absent; set PARTWISE_DATA to the folder of the papers' data")
    data = load(name)
    rows = slice(None) if n_samples is None else np.linspace(0, len(data.y) - 1, n_samples).astype(int)
    return normalize(data.X[rows, ::every]), data.y[rows]

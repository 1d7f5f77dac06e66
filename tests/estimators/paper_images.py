"""The papers' data sets for tests: present or visibly skipped."""

import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from sklearn.preprocessing import normalize

FOLDER = Path(os.environ.get("PARTWISE_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))


@cache
def images(name, n_samples=None, every=1):
    """Images of unit norm and their classes 0, 1, …: so many samples, evenly taken, and one of `every` pixels."""
    path = FOLDER / f"{name}.npz"
    if not path.exists():
        pytest.skip(f"{path} is absent; set PARTWISE_DATA to the folder of the papers' data")
    with np.load(path, allow_pickle=False) as file:
        X, y = file["X"].astype(np.float64), np.unique(file["y"], return_inverse=True)[1].ravel()
    rows = slice(None) if n_samples is None else np.linspace(0, len(X) - 1, n_samples).astype(int)
    return normalize(X[rows, ::every]), y[rows]

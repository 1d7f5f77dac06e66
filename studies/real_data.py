"""The papers' data sets as they are used here, from the folder PARTWISE_DATA or ../shared/data beside the checkout."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from partwise import datasets
from partwise.experiments.preparation import tf_idf

FOLDER = Path(os.environ.get("PARTWISE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


def load(name):
    """X with samples of unit norm (text as tf-idf of the whole corpus) and classes 0, 1, …"""
    data = datasets.load(name, FOLDER)
    return normalize(tf_idf(data.X) if sp.issparse(data.X) else data.X), data.y


def draw_classes(X, y, n_classes, rng):
    """The samples of some classes, chosen at random."""
    chosen = rng.choice(y.max() + 1, n_classes, replace=False)
    rows = np.flatnonzero(np.isin(y, chosen))
    return X[rows], np.unique(y[rows], return_inverse=True)[1]


def draw_samples(X, y, n_samples, rng):
    """Some samples, chosen at random."""
    rows = rng.choice(len(y), n_samples, replace=False)
    return X[rows], y[rows]


def repeats(name, seeds):
    """(X, y, seed) for every repeat: draws of 8 topics for the large corpora, of 3,000 digits for MNIST."""
    X, y = load(name)
    for seed in seeds:
        rng = np.random.RandomState(seed)
        if name in ("tdt2", "reuters"):
            yield *draw_classes(X, y, 8, rng), seed
        elif name == "mnist10k":
            yield *draw_samples(X, y, 3000, rng), seed
        else:
            yield X, y, seed

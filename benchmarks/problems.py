"""The data, and the start that all share."""

from __future__ import annotations

from functools import cache

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.preprocessing import normalize

from studies import real_data

FILES = {"mnist": "mnist10k", "tdt2": "tdt2", "coil20": "coil20"}


@cache
def problem(name):
    """(X, y, name as it goes into the table): real data where the files are, made-up data of that size otherwise."""
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        return normalize(X), y, "digits"
    if (real_data.FOLDER / f"{FILES[name]}.npz").is_file():
        return *real_data.load(FILES[name]), name
    shapes = {"mnist": (10_000, 784, 10), "coil20": (1_440, 1_024, 20), "tdt2": (9_394, 36_771, 30)}
    made = made_up_text if name == "tdt2" else made_up_images
    return *made(*shapes[name]), f"made-up ({name})"


@cache
def many_digits(n):
    """(X, y, name): digits of unit norm in float32, from mnist70k.npz in the folder of data if the user put it there.

    Otherwise the images of the test set, and as many copies, moved by up to two pixels and blurred with others of their
    class, as it takes.
    """
    if (real_data.FOLDER / "mnist70k.npz").is_file():
        with np.load(real_data.FOLDER / "mnist70k.npz") as file:
            return normalize(file["X"][:n].astype(np.float32)), file["y"][:n], "mnist"
    X, y, name = problem("mnist")
    rng = np.random.default_rng(0)
    copies = [X.astype(np.float32)]
    classes = {digit: np.flatnonzero(y == digit) for digit in np.unique(y)}
    for _ in range(-(-n // len(X)) - 1):
        others = np.array([rng.choice(classes[digit]) for digit in y])
        share = rng.uniform(0, 0.3, size=(len(X), 1))
        moved = ((1 - share) * X + share * X[others]).reshape(-1, 28, 28)
        steps = rng.integers(-2, 3, size=(len(X), 2))
        moved = np.stack([np.roll(image, step, axis=(0, 1)) for image, step in zip(moved, steps, strict=True)])
        copies.append(normalize(moved.reshape(len(X), -1)).astype(np.float32))
    return np.vstack(copies)[:n], np.tile(y, len(copies))[:n], f"jittered copies of {name}"


def as_type(X, dtype):
    """The data in float32 or float64, without a copy if possible."""
    return X.astype(dtype, copy=False)


def made_up_images(n, m, n_classes, seed=0):
    """Dense samples of unit norm: each class has its own mixture of 40 parts, plus noise."""
    rng = np.random.default_rng(seed)
    parts = rng.gamma(0.3, size=(40, m))
    mixtures = rng.gamma(0.5, size=(n_classes, 40))
    y = rng.integers(n_classes, size=n)
    X = (mixtures[y] * rng.gamma(1.0, size=(n, 40))) @ parts
    return normalize(X * rng.gamma(5.0, 0.2, size=X.shape)), y


def made_up_text(n, m, n_classes, words=130, seed=0):
    """Sparse samples of unit norm: words drawn from topics, a topic being a random order of common words."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    orders = np.array([rng.permutation(m) for _ in range(n_classes)])
    ranks = np.minimum(rng.pareto(0.6, size=(n, words)) * 5, m - 1).astype(int)
    columns = np.where(rng.random((n, words)) < 0.5, ranks, orders[y[:, None], ranks])
    X = sp.csr_array(
        (rng.gamma(2.0, size=n * words), columns.ravel(), np.arange(0, n * words + 1, words)), shape=(n, m)
    )
    X.sum_duplicates()
    return normalize(X), y


def start(X, k, seed):
    """(W, H): |normal| entries whose product has the size of X, as scikit-learn's init='random'."""
    rng = np.random.RandomState(seed)
    size = np.sqrt(X.mean() / k)
    factors = (size * np.abs(rng.standard_normal(shape)) for shape in ((X.shape[0], k), (k, X.shape[1])))
    return tuple(F.astype(X.dtype) for F in factors)

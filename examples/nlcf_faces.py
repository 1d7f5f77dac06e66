"""Fig. 3 of the NLCF paper: faces, the components that NMF and NLCF learn from them, and the codes of the faces.

    python examples/nlcf_faces.py [faces.png]

25 subjects with 5 images each, 25 components, everything in 5 × 5 montages. NMF finds parts and dense codes; NLCF finds
faces, and codes in which mostly a single entry is not zero. Reads `orl32.npz` from the folder PARTWISE_DATA, or else
scikit-learn's Olivetti faces, which are the same people.
"""

import os
import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.preprocessing import normalize

from partwise import NMF, LocalCoordinateNMF
from partwise.metrics import sparseness

FOLDER = Path(os.environ.get("PARTWISE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
SIDE = 5


def faces():
    """Images (samples × pixels), subjects, and the shape of an image."""
    path = FOLDER / "orl32.npz"
    if path.exists():
        with np.load(path, allow_pickle=False) as file:
            return file["X"].astype(np.float64), file["y"], tuple(int(side) for side in file["image_shape"])
    from sklearn.datasets import fetch_olivetti_faces

    bunch = fetch_olivetti_faces()
    return bunch.data.astype(np.float64), bunch.target, (64, 64)


def draw_subjects(y, rng):
    """Rows of 25 random subjects, 5 random images each."""
    subjects = rng.choice(np.unique(y), SIDE * SIDE, replace=False)
    return np.concatenate([rng.choice(np.flatnonzero(y == subject), 5, replace=False) for subject in subjects])


def montage(images, shape):
    """25 images in a square, each scaled to its own largest value, with white lines between them."""
    tiles = images.reshape(-1, *shape) / np.maximum(images.max(axis=1), 1e-12)[:, None, None]
    tiles = np.pad(tiles, ((0, 0), (1, 1), (1, 1)), constant_values=1.0)
    height, width = tiles.shape[1:]
    square = tiles.reshape(SIDE, SIDE, height, width).swapaxes(1, 2)
    return square.reshape(SIDE * height, SIDE * width)


def draw(path):
    """Fit both methods and save the figure."""
    X, y, shape = faces()
    X = normalize(X)[draw_subjects(y, np.random.RandomState(0))]
    models = {
        "NMF": NMF(SIDE * SIDE, random_state=0, max_iter=500, tol=0),
        "NLCF": LocalCoordinateNMF(SIDE * SIDE, coordinate_strength=0.1, random_state=0, max_iter=500, tol=0),
    }
    # One image of every subject, as in the paper.
    shown = np.arange(0, len(X), 5)
    panels = [("originals", montage(X[shown], shape))]
    for name, model in models.items():
        W = model.fit(X).embedding_
        panels.append((f"{name}: components", montage(model.components_, shape)))
        codes = np.repeat(np.repeat(W[shown].reshape(-1, SIDE, SIDE), 6, axis=1), 6, axis=2)
        title = f"{name}: codes, sparseness {sparseness(W).mean():.2f}"
        panels.append((title, montage(codes.reshape(len(shown), -1), (6 * SIDE, 6 * SIDE))))
    figure = Figure(figsize=(20, 4.4), layout="constrained")
    for axes, (title, image) in zip(figure.subplots(1, len(panels)), panels, strict=True):
        axes.imshow(image, cmap="gray", vmin=0, vmax=1)
        axes.set_title(title)
        axes.set_axis_off()
    figure.savefig(path, dpi=100)


if __name__ == "__main__":
    draw(sys.argv[1] if len(sys.argv) > 1 else "nlcf-faces.png")

"""Fig. 3 of the NLCF paper: faces, the components that NMF and NLCF learn from them, and the codes of the faces.

    python examples/nlcf_faces.py [faces.png]

25 subjects with 5 images each, 25 components, everything in 5 × 5 montages. NMF finds parts and dense codes; NLCF finds
faces, and codes in which mostly a single entry is not zero. The faces are taken from the folder PARTWISE_DATA, or
downloaded.
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from sklearn.preprocessing import normalize

from partwise import NMF, LocalCoordinateNMF
from partwise.datasets import load
from partwise.metrics import sparseness

SIDE = 5


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
    data = load("orl32")
    X, shape = normalize(data.X)[draw_subjects(data.y, np.random.RandomState(0))], data.image_shape
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

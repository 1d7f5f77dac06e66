"""Robustness of CauchyNMF: a tenth of the pixels, or of the samples, is replaced by noise, louder and louder.

    python examples/cauchy_corruption.py [cauchy-corruption.png]

Left: accuracy of the clusters of NMF and CauchyNMF on handwritten digits over the loudness of the noise in a tenth of
all pixels. Middle: the same if a tenth of the samples is nothing but noise; accuracy is that of the other samples.
Right: some digits, what was put into them, and the pixels that CauchyNMF gives no say (`outliers_`).
"""

import sys
import warnings

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from partwise import NMF, CauchyNMF
from partwise.metrics import clustering_accuracy

LOUDNESS = (0.0, 1.0, 2.0, 4.0, 8.0)
SEEDS = 3
SAMPLES = 800
SHARE = 0.1
SHOWN = 4.0


def broken_pixels(X, loudness, rng):
    """A copy of X in which a tenth of all entries holds uniform noise, and which samples to judge by: all."""
    broken = rng.uniform(size=X.shape) < SHARE
    noise = rng.uniform(0, loudness, size=X.shape)
    return np.where(broken & (loudness > 0), noise, X), np.ones(len(X), bool)


def broken_samples(X, loudness, rng):
    """A copy of X in which a tenth of the samples is uniform noise, and which samples to judge by: the others."""
    broken = rng.uniform(size=len(X)) < SHARE
    noise = rng.uniform(0, loudness, size=X.shape)
    return np.where(broken[:, None] & (loudness > 0), noise, X), ~broken


def fits(X, seed, max_iter=100):
    """Both models, fitted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return {
            "NMF": NMF(10, random_state=seed, max_iter=max_iter).fit(X),
            "CauchyNMF": CauchyNMF(10, random_state=seed, max_iter=max_iter).fit(X),
        }


def accuracies(X, y, corrupt, loudness, seeds=SEEDS):
    """Accuracy of every method for every seed, which draws the noise too."""
    scores = {}
    for seed in range(seeds):
        broken, judged = corrupt(X, loudness, np.random.RandomState(seed))
        for name, model in fits(broken, seed).items():
            scores.setdefault(name, []).append(clustering_accuracy(y[judged], model.labels_[judged]))
    return scores


def draw(path):
    """Run everything and save the figure."""
    X, y = load_digits(return_X_y=True)
    X, y = X[:SAMPLES] / X.max(), y[:SAMPLES]
    figure = Figure(figsize=(13, 4), layout="constrained")
    pixels, samples, pictures = figure.subfigures(1, 3, width_ratios=(1, 1, 1))
    for part, corrupt, title in (
        (pixels, broken_pixels, "a tenth of the pixels"),
        (samples, broken_samples, "a tenth of the samples"),
    ):
        axes = part.subplots()
        runs = [accuracies(X, y, corrupt, loudness) for loudness in LOUDNESS]
        for name in runs[0]:
            scores = 100 * np.array([run[name] for run in runs])
            axes.errorbar(LOUDNESS, scores.mean(axis=1), scores.std(axis=1), marker="o", capsize=3, label=name)
            print(title, name, *(f"{mean:5.1f}" for mean in scores.mean(axis=1)), flush=True)
        axes.set(xlabel="largest value of the noise (pixels: 1)", ylabel="accuracy, %", ylim=(0, 100))
        axes.set_title(f"{title} replaced, {SEEDS} draws")
        axes.legend(loc="lower left")
    broken, _ = broken_pixels(X, SHOWN, np.random.RandomState(0))
    model = fits(broken, 0)["CauchyNMF"]
    restored = model.inverse_transform(model.embedding_)
    rows = (X, broken, model.outliers_.toarray(), restored)
    grid = pictures.subplots(4, 6)
    for line, values, title in zip(grid, rows, ("digit", "broken", "outliers_", "W H"), strict=True):
        for axes, image in zip(line, values[:6], strict=True):
            axes.imshow(image.reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
            axes.set(xticks=[], yticks=[])
        line[0].set_ylabel(title)
    figure.savefig(path, dpi=100)


if __name__ == "__main__":
    draw(sys.argv[1] if len(sys.argv) > 1 else "cauchy-corruption.png")

"""Robustness of RLS-NMF: a tenth of the features is replaced by noise, louder and louder.

    python examples/rls_noise.py [rls-noise.png]

Left: accuracy of the clusters of k-means, NMF and RLS-NMF on handwritten digits over the loudness of the noise. Two
more lines say where the robustness comes from. RLS-NMF from clusters of plain k-means can hardly repair a start that
the noise has spoilt: orthogonal codes hold on to it, so it matters that its own start weighs features too. NMF started
from the result of RLS-NMF loses it again: without doubt about features, a good start does not last. Right: which pixels
were replaced, and which ones RLS-NMF doubts (`outliers_`).
"""

import sys
import warnings

import numpy as np
from matplotlib.figure import Figure
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from partwise import NMF, LocalSimilarityNMF
from partwise.metrics import clustering_accuracy

LOUDNESS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
SEEDS = 5
SHOWN = 2.0


def with_noise(X, loudness, rng):
    """A copy of X in which a tenth of the features holds uniform noise up to `loudness`, and which these are."""
    noisy = rng.permutation(X.shape[1])[: X.shape[1] // 10]
    broken = X.copy()
    if loudness:
        broken[:, noisy] = rng.uniform(0, loudness, size=(len(X), len(noisy)))
    return broken, noisy


def labels(X, seed):
    """Clusters by each method, and the features that RLS-NMF doubts."""
    clusters = KMeans(10, n_init=1, random_state=seed).fit(X).labels_
    plain = 0.2 + np.eye(10)[clusters]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        robust = LocalSimilarityNMF(10, random_state=seed).fit(X)
        start = robust.embedding_, robust.components_
        found = {
            "k-means": clusters,
            "NMF": NMF(10, random_state=seed, max_iter=100).fit(X).labels_,
            "NMF, started from RLS-NMF": NMF(10, init=start, random_state=seed, max_iter=100).fit(X).labels_,
            "RLS-NMF": robust.labels_,
            "RLS-NMF, started from k-means": LocalSimilarityNMF(
                10, init=(plain / np.linalg.norm(plain, axis=0), plain / plain.sum(axis=0)), random_state=seed
            )
            .fit(X)
            .labels_,
        }
    return found, robust.outliers_


def accuracies(X, y, loudness, seeds=SEEDS):
    """Accuracy of every method for every seed, which draws the features too."""
    scores = {}
    for seed in range(seeds):
        broken, _ = with_noise(X, loudness, np.random.RandomState(seed))
        for name, found in labels(broken, seed)[0].items():
            scores.setdefault(name, []).append(clustering_accuracy(y, found))
    return scores


def draw(path):
    """Run all loudnesses and save the figure."""
    X, y = load_digits(return_X_y=True)
    X = X / X.max()
    runs = [accuracies(X, y, loudness) for loudness in LOUDNESS]
    figure = Figure(figsize=(12, 4), layout="constrained")
    left, middle, right = figure.subplots(1, 3, width_ratios=(2, 1, 1))
    for name in runs[0]:
        scores = 100 * np.array([run[name] for run in runs])
        left.errorbar(LOUDNESS, scores.mean(axis=1), scores.std(axis=1), marker="o", capsize=3, label=name)
        print(name, *(f"{mean:5.1f}" for mean in scores.mean(axis=1)))
    left.set(xlabel="largest value of the noise (pixels: 1)", ylabel="accuracy, %", ylim=(0, 100))
    left.set_title(f"digits, 10 % of the pixels replaced; {SEEDS} draws")
    left.legend(fontsize=8, loc="lower left")
    broken, noisy = with_noise(X, SHOWN, np.random.RandomState(0))
    replaced = np.zeros(X.shape[1])
    replaced[noisy] = 1
    for axes, values, title in (
        (middle, replaced, "replaced pixels"),
        (right, labels(broken, 0)[1], f"outliers_, noise up to {SHOWN:g}"),
    ):
        image = axes.imshow(values.reshape(8, 8), cmap="viridis", vmin=0, vmax=1)
        axes.set_title(title)
        axes.set_axis_off()
    figure.colorbar(image, ax=right, shrink=0.8)
    figure.savefig(path, dpi=100)


if __name__ == "__main__":
    draw(sys.argv[1] if len(sys.argv) > 1 else "rls-noise.png")

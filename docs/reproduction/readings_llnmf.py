"""Readings of the LLNMF paper, tried with its rules: start, labels, neighbours. The numbers in ``findings.md``.

    python -m docs.reproduction.readings_llnmf [DATA …]

Eq. 19 without the square root, which also descends and faster, in single precision; 200 sweeps. Accuracy / NMI, mean
of a few starts.
"""

import sys
import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.preprocessing import normalize

from partwise import LocalLearningClustering
from partwise.experiments import load_protocol
from partwise.experiments.preparation import prepare
from partwise.graphs import local_predictors, nearest_neighbors
from partwise.metrics import clustering_accuracy, normalized_mutual_information

IMAGES = ("COIL20", "PIE")
SWEEPS = 200
# No factor falls below this: steps are multiplicative, and smaller numbers are slow.
FLOOR = np.float32(1e-15)


class Data:
    """A data set of the protocol, and the scores of clusters in it."""

    def __init__(self, name):
        plan = load_protocol("llnmf").datasets[name]
        sample = prepare(plan, plan.prepare)
        self.name, self.y, self.k = name, sample.y, plan.classes
        self.X = sample.X.astype(np.float32)
        self.kernel = {"kernel": "rbf", "bandwidth": 1.0} if name in IMAGES else {"kernel": "cosine"}
        self.starts = range(2 if name in IMAGES else 3)

    def score(self, labels):
        """Accuracy and NMI, in per cent."""
        nmi = normalized_mutual_information(self.y, labels, average="sqrt")
        return 100 * np.array([clustering_accuracy(self.y, labels), nmi])

    def kmeans(self, points, seed, n_init=1):
        """k-means from random starts."""
        return KMeans(self.k, n_init=n_init, init="random", random_state=seed).fit(points).labels_

    def once(self, points):
        """The mean score of k-means with one start."""
        return np.mean([self.score(self.kmeans(points, seed)) for seed in range(3)], axis=0)

    def uniform(self, seed):
        """Uniform numbers."""
        rng = np.random.RandomState(seed)
        V, U = rng.uniform(size=(len(self.y), self.k)), rng.uniform(size=(self.X.shape[1], self.k))
        return V.astype(np.float32), U.astype(np.float32)

    def from_clusters(self, labels):
        """1.2 in the column of the cluster and 0.2 elsewhere; components are means."""
        V = np.full((len(self.y), self.k), 0.2, np.float32)
        V[np.arange(len(self.y)), labels] += 1
        return V, (np.asarray(self.X.T @ (V / V.sum(axis=0))) + 1e-6).astype(np.float32)


def swept(data, start, strength=0.0, attract=None, repel=None, unit_codes=False):
    """V after all sweeps; the penalty is strength · tr(Vᵀ (repel − attract) V)."""
    V, U = start
    for _ in range(SWEEPS):
        U = np.maximum(U * np.asarray(data.X.T @ V) / np.maximum(U @ (V.T @ V), FLOOR), FLOOR)
        up, down = np.asarray(data.X @ U), V @ (U.T @ U)
        if strength:
            up, down = up + np.float32(strength) * (attract @ V), down + np.float32(strength) * (repel @ V)
        V = np.maximum(V * up / np.maximum(down, FLOOR), FLOOR)
        if unit_codes:
            norms = np.linalg.norm(V, axis=0)
            V, U = V / norms, U * norms
    return V.astype(float)


def tell(data, title, codes):
    """The two rules for labels."""
    largest = np.mean([data.score(V.argmax(axis=1)) for V in codes], axis=0)
    once = np.mean([data.once(V) for V in codes], axis=0)
    print(f"{data.name}, {title}: largest entry {_text(largest)}, one k-means {_text(once)}", flush=True)


def _text(scores):
    return "{:.1f} / {:.1f}".format(*scores)


def graph(data, p):
    """GNMF's binary graph: adjacency and degrees."""
    links = nearest_neighbors(data.X.astype(float), p, "cosine")
    links.data[:] = 1
    W = sp.csr_array(links.maximum(links.T)).astype(np.float32)
    return W, sp.diags_array(np.asarray(W.sum(axis=1)).ravel()).tocsr().astype(np.float32)


def local_learning(data, p):
    """The negative and the positive part of L, of which the latter has the larger row sums."""
    X = data.X.astype(float)
    G = local_predictors(nearest_neighbors(X, p, "cosine"), X, ridge=0.01, **data.kernel)
    residual = sp.csr_array(sp.eye_array(G.shape[0], format="csr") - G)
    L = sp.csr_array(residual.T @ residual).astype(np.float32)
    return (-L).maximum(0), L.maximum(0)


def readings(data):
    """All of them, on one data set."""
    print(f"{data.name}, k-means once: {_text(data.once(data.X))}", flush=True)
    tell(data, "NMF, random start", [swept(data, data.uniform(seed)) for seed in data.starts])
    attract, repel = graph(data, 5)
    for strength in (0.1, 100.0, 1000.0):
        for title, scale in (("random start", False), ("components of unit norm at the start", True)):
            codes = []
            for seed in data.starts:
                V, U = data.uniform(seed)
                norms = np.linalg.norm(U, axis=0) if scale else np.float32(1)
                codes.append(swept(data, (V * norms, U / norms), strength, attract, repel))
            tell(data, f"GNMF, λ = {strength:g}, {title}", codes)
    for p in (5, 20):
        attract, repel = local_learning(data, p)
        llc = LocalLearningClustering(data.k, n_neighbors=p, random_state=0, **data.kernel).fit(data.X.astype(float))
        points = normalize(llc.embedding_)
        best = data.score(data.kmeans(points, 0, n_init=10))
        print(f"{data.name}, LLC, p = {p}: once {_text(data.once(points))}, best of ten {_text(best)}", flush=True)
        starts = {
            "LLC once": [data.from_clusters(data.kmeans(points, seed)) for seed in data.starts],
            "k-means once": [data.from_clusters(data.kmeans(data.X, seed)) for seed in data.starts],
            "random": [data.uniform(seed) for seed in data.starts],
        }
        for strength in (10.0, 1000.0):
            for title, pairs in starts.items():
                codes = [swept(data, start, strength, attract, repel, unit_codes=True) for start in pairs]
                tell(data, f"LLNMF, p = {p}, μ = {strength:g}, start {title}", codes)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in sys.argv[1:] or load_protocol("llnmf").datasets:
            readings(Data(name))

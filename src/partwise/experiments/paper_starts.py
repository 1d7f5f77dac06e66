"""The papers' starts, where the estimators do not have them, and their rules for clusters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from ..core.types import Array, IntArray
from ..estimators import LocalLearningClustering

NO_SETTINGS: Mapping[str, Any] = MappingProxyType({})


def unit_component_start(X: Any, k: int, state: int, settings: Mapping[str, Any] = NO_SETTINGS) -> tuple[Array, Array]:
    """Uniform numbers; each component is scaled once to norm 1, its norm goes to the codes (the GNMF authors' code)."""
    rng = np.random.RandomState(state)
    W, H = rng.uniform(size=(X.shape[0], k)), rng.uniform(size=(k, X.shape[1]))
    norms = np.linalg.norm(H, axis=1)
    return W * norms, H / norms[:, None]


def sample_start(X: Any, k: int, state: int, settings: Mapping[str, Any] = NO_SETTINGS) -> tuple[Array, Array]:
    """Components at samples chosen at random, codes uniform with mean 1/k."""
    rng = np.random.RandomState(state)
    chosen = rng.choice(X.shape[0], k, replace=False)
    return rng.uniform(size=(X.shape[0], k)) * (2 / k), np.array(X[chosen])


def local_learning_start(X: Any, k: int, state: int, settings: Mapping[str, Any] = NO_SETTINGS) -> tuple[Array, Array]:
    """The clusters of LLC with the same predictors, by one k-means: codes of 1.2 and 0.2, components their means."""
    model = LocalLearningClustering(k)
    shared = {name: settings[name] for name in model.get_params() if name in settings}
    labels = one_kmeans(model.set_params(**shared).fit(X), k, state)
    W = np.full((X.shape[0], k), 0.2)
    W[np.arange(X.shape[0]), labels] = 1.2
    return W, np.asarray((X.T @ (W / W.sum(axis=0))).T)


STARTS: dict[str, Callable[..., tuple[Array, Array]]] = {
    "unit components": unit_component_start,
    "samples": sample_start,
    "local learning": local_learning_start,
}


def one_kmeans(model: Any, k: int, state: int) -> IntArray:
    """k-means on the codes from one random start: the mean over such runs includes its poor minima."""
    return np.asarray(KMeans(k, n_init=1, init="random", random_state=state).fit(model.embedding_).labels_)


LABELS: dict[str, Callable[[Any, int, int], IntArray]] = {"one k-means": one_kmeans}

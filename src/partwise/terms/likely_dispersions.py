"""How much counts vary beyond Poisson ones: the dispersion of every feature, most likely given a fit."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from ..core.operand import BLOCK_BYTES, Operand
from ..core.tiles import DenseTiles
from ..core.types import CODES, Array
from .entries import observed_entries

# The values that are compared; at the lowest a feature counts as Poisson.
GRID = 10.0 ** np.arange(-4, 2.51, 0.5)
# What all features have in common counts as much as this many samples.
PRIOR_SAMPLES = 10.0


def likely_dispersions(X: Operand, W: Array, Ht: Array) -> Array:
    """The dispersion α of every feature, of a negative binomial distribution with mean W H and variance y + α y².

    The likelihood of a feature is multiplied by the geometric mean of those of all features, to a small power: a
    feature with few counts, which tell little, gets a dispersion like that of the others. A feature that varies no more
    than Poisson counts has 0.

    Parameters
    ----------
    X : Operand
    W : ndarray of shape (n_samples, n_components)
    Ht : ndarray of shape (n_features, n_components)

    Returns
    -------
    dispersions : ndarray of shape (n_features,), in float64
    """
    weight = X.sample_weight
    n_samples = float(X.shape[0] if weight is None else weight.sum(dtype=np.float64))
    likelihoods = _likelihoods(X, W, Ht)
    likelihoods += PRIOR_SAMPLES / n_samples * likelihoods.mean(axis=1, keepdims=True)
    best = likelihoods.argmax(axis=0)
    # The top of the parabola through the best value and its neighbours.
    inner = np.clip(best, 1, len(GRID) - 2)
    columns = np.arange(X.shape[1])
    left, middle, right = (likelihoods[inner + shift, columns] for shift in (-1, 0, 1))
    bend = left - 2 * middle + right
    shift = np.divide(left - right, 2 * bend, out=np.zeros_like(bend), where=bend < 0)
    place = np.where(best == inner, inner + np.clip(shift, -0.5, 0.5), best)
    found = np.exp(np.interp(place, np.arange(len(GRID)), np.log(GRID)))
    return np.where(best > 0, found, 0.0)


def _likelihoods(X: Operand, W: Array, Ht: Array) -> Array:
    """The logarithms of the likelihoods of every feature at every value, up to a constant."""
    m, weight = X.shape[1], X.sample_weight
    total = np.zeros((len(GRID), m))
    seen = observed_entries(X, None)
    if seen is not None:
        v = np.broadcast_to(seen.combined(weight), seen.x.shape)
        y = seen.products(W, Ht).astype(np.float64)
        for each, alpha in zip(total, GRID, strict=True):
            each += np.bincount(seen.indices, v * _log_density(seen.x, y, alpha), m)
        return total
    tiles = DenseTiles(X.array, None, weight, X.missing is None)
    height = max(1, BLOCK_BYTES // (8 * m))
    for start in range(0, X.shape[0], height):
        rows = slice(start, min(start + height, X.shape[0]))
        x, v, _ = tiles.tile(CODES, rows)
        y = (W[rows] @ Ht.T).astype(np.float64)
        for each, alpha in zip(total, GRID, strict=True):
            each += np.sum(v * _log_density(x, y, alpha), axis=0)
    return total


def _log_density(x: Array, y: Array, alpha: float) -> Array:
    """log Γ(x + 1/α) − log Γ(1/α) + x log α − (x + 1/α) log(1 + αy): all that depends on α."""
    size = 1 / alpha
    density = -(x + size) * np.log1p(alpha * y)
    positive = x > 0
    counts = x[positive].astype(np.float64)
    density[positive] += gammaln(counts + size) - gammaln(size) + counts * np.log(alpha)
    return density

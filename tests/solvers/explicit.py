"""Objectives and gradients by their definitions: dense arrays, no products reused, nothing imported from partwise."""

import numpy as np
import scipy.sparse as sp


def dense(X):
    return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)


def divergence(x, y, beta):
    """d_β(x | y) per entry; β = 2 is the squared error, and 0 · log 0 is 0."""
    if beta == 2:
        return (x - y) ** 2
    if beta == 1:
        return np.where(x > 0, x * np.log(np.where(x > 0, x, 1) / np.where(x > 0, y, 1)), 0) - x + y
    if beta == 0:
        return x / y - np.log(x / y) - 1
    mixed = np.where(x > 0, x * np.where(x > 0, y, 1) ** (beta - 1), 0)
    return (x**beta + (beta - 1) * y**beta - beta * mixed) / (beta * (beta - 1))


def fit_value(X, W, H, beta=2, weights=1.0):
    """Σ_ij v_ij d(x_ij | (WH)_ij) over the entries with v_ij > 0."""
    X, Y = dense(X), np.float64(W) @ np.float64(H)
    weights = np.broadcast_to(weights, X.shape)
    seen = weights > 0
    return float((weights[seen] * divergence(X[seen], Y[seen], beta)).sum())


def huber_value(X, W, H, scale, weights=1.0):
    """Σ_ij v_ij of r² for |r| ≤ scale, (2 |r| − scale) scale beyond, over the entries with v_ij > 0."""
    r = np.abs(dense(X) - np.float64(W) @ np.float64(H))
    weights = np.broadcast_to(weights, r.shape)
    seen = weights > 0
    return float((weights * np.where(r <= scale, r**2, (2 * r - scale) * scale))[seen].sum())


def cauchy_value(X, W, H, scale, weights=1.0):
    """Σ_ij v_ij scale² ln(1 + r² / scale²), over the entries with v_ij > 0."""
    r = dense(X) - np.float64(W) @ np.float64(H)
    weights = np.broadcast_to(weights, r.shape)
    seen = weights > 0
    return float((weights * scale**2 * np.log1p((r / scale) ** 2))[seen].sum())


def overdispersed_value(X, W, H, dispersion, weights=1.0):
    """Half the negative binomial deviance, from its log-likelihood, over the entries with v_ij > 0."""
    X, Y = dense(X), np.float64(W) @ np.float64(H)
    weights, alpha = np.broadcast_to(weights, X.shape), np.broadcast_to(dispersion, X.shape)
    seen = weights > 0
    x, y, size = X[seen], Y[seen], 1 / alpha[seen]

    def minus_log_likelihood(mean):
        mean = np.where(x > 0, mean, mean + 1e-300)
        return (x + size) * np.log1p(mean / size) - x * np.log(mean)

    return float((weights[seen] * (minus_log_likelihood(y) - minus_log_likelihood(x))).sum())


def edge_value(E, W):
    """Σ_{i<j} e_ij ‖w_i − w_j‖²."""
    E, W = dense(E), np.float64(W)
    return float(sum(E[i, j] * ((W[i] - W[j]) ** 2).sum() for i, j in zip(*np.triu(E, 1).nonzero(), strict=True)))


def laplacian(E):
    E = dense(E)
    return np.diag(E.sum(axis=1)) - E


def joined_by_labels(E, y):
    """The dense graph after the labels' edit: cliques inside classes, nothing between them."""
    E = dense(E).copy()
    both = (y[:, None] >= 0) & (y[None, :] >= 0)
    E[both] = (y[:, None] == y[None, :])[both]
    np.fill_diagonal(E, 0)
    return E

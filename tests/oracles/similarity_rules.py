"""RLS-NMF transcribed naively: D with its n × n entries, E with all of its own, the paper's letters.

X is m × n with samples in columns, W (coefficients) and G (codes) n × k; the basis is X W. Nothing here imports
partwise.
"""

import numpy as np


def distances(X):
    """D_ij = ‖x_i − x_j‖², pair by pair (Eq. 4, built from X)."""
    n = X.shape[1]
    return np.array([[((X[:, i] - X[:, j]) ** 2).sum() for j in range(n)] for i in range(n)])


def outliers(X, W, G, gamma):
    """E by Eq. 21: every feature (row) of the residual, shortened by γ."""
    Q = X - X @ W @ G.T
    E = np.zeros_like(Q)
    for f in range(len(Q)):
        length = np.sqrt((Q[f] ** 2).sum())
        if length > gamma:
            E[f] = (length - gamma) / length * Q[f]
    return E


def objective(X, W, G, D, lam, gamma, beta):
    """Eq. 6 at the best E, with the orthogonality as a penalty."""
    E = outliers(X, W, G, gamma)
    value = 0.5 * ((X - X @ W @ G.T - E) ** 2).sum() + lam * np.trace(W.T @ D @ G)
    if np.isfinite(gamma):
        value += gamma * np.sqrt((E**2).sum(axis=1)).sum()
    return value + beta / 2 * ((G.T @ G - np.eye(G.shape[1])) ** 2).sum()


def feature_weights(X, W, G, gamma):
    """What E leaves of every feature's residual."""
    Q, E = X - X @ W @ G.T, outliers(X, W, G, gamma)
    return np.diag([np.linalg.norm(q - e) / np.linalg.norm(q) for q, e in zip(Q, E, strict=True)])


def step(X, W, G, D, lam, gamma, beta):
    """The safe rule: codes with the power ¼, then coefficients, features weighed by the present E before each."""
    F = feature_weights(X, W, G, gamma)
    up = G @ (W.T @ X.T @ F @ X @ W) + lam * D @ W + 2 * beta * G @ G.T @ G
    G = G * ((X.T @ F @ X @ W + 2 * beta * G) / up) ** (0.25 if beta else 1.0)
    F = feature_weights(X, W, G, gamma)
    W = W * (X.T @ F @ X @ G) / (X.T @ F @ X @ W @ G.T @ G + lam * D @ G)
    return W, G


def step_fixed_outliers(X, W, G, D, lam, gamma, beta):
    """The errata's form of the codes' rule: E fixed, not turned into weights."""
    E = outliers(X, W, G, gamma)
    B = X @ W
    up = G @ B.T @ B + lam * D @ W + 2 * beta * G @ G.T @ G
    return G * (((X - E).T @ B + 2 * beta * G) / up) ** 0.25


def printed_coefficients(X, W, G, D, E, lam):
    """Eq. 12."""
    return W * np.sqrt((X.T @ (X - E) @ G) / (X.T @ X @ W @ G.T @ G + lam * D @ G))


def printed_codes(X, W, G, D, E, lam):
    """Eq. 18."""
    pull, push = (X - E).T @ X @ W, lam * D @ W
    return G * np.sqrt((pull + G @ G.T @ push) / (push + G @ G.T @ pull))

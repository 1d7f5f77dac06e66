"""The rules of the papers' baselines transcribed naively, in the papers' letters, with all n × n entries.

X is m × n with samples in columns. Nothing here imports partwise.
"""

import numpy as np


def up(A):
    return (np.abs(A) + A) / 2


def down(A):
    return (np.abs(A) - A) / 2


def semi_basis(X, G):
    """Ding, Li & Jordan 2010, Eq. 10: F = X G (GᵀG)⁻¹."""
    return X @ G @ np.linalg.inv(G.T @ G)


def semi_step(X, F, G):
    """Eq. 11 for G, then Eq. 10 for F."""
    G = G * np.sqrt((up(X.T @ F) + G @ down(F.T @ F)) / (down(X.T @ F) + G @ up(F.T @ F)))
    return semi_basis(X, G), G


def convex_step(Kp, Km, W, G):
    """Convex-NMF with the kernel K = Kp − Km: G, then W, under square roots."""
    G = G * np.sqrt((Kp @ W + G @ W.T @ Km @ W) / (Km @ W + G @ W.T @ Kp @ W))
    W = W * np.sqrt((Kp @ G + Km @ W @ G.T @ G) / (Km @ G + Kp @ W @ G.T @ G))
    return W, G


def concept_step(K, W, V, E, lam):
    """Cai, He & Han 2011 (LCCF); at λ = 0 Xu & Gong 2004 (CF)."""
    D = np.diag(E.sum(axis=1))
    V = V * (K @ W + lam * E @ V) / (V @ W.T @ K @ W + lam * D @ V)
    W = W * (K @ V) / (K @ W @ V.T @ V)
    return W, V


def kernel_graph_step(K, F, H, E, lam, mu):
    """Tolić et al. 2018 (KOGNMF) with α = 1; H is k × n."""
    D = np.diag(E.sum(axis=1))
    H = H * (F.T @ K + mu * H + lam * H @ E) / (F.T @ K @ F @ H + mu * H @ H.T @ H + lam * H @ D)
    F = F * (K @ H.T) / (K @ F @ H @ H.T)
    return F, H


def kernel_graph_objective(K, F, H, E, lam, mu):
    L = np.diag(E.sum(axis=1)) - E
    fit = np.trace(K) - 2 * np.trace(F.T @ K @ H.T) + np.trace(H @ H.T @ F.T @ K @ F)
    return fit + lam * np.trace(H @ L @ H.T) + mu / 2 * ((H @ H.T - np.eye(len(H))) ** 2).sum()


def orthogonal_step(X, F, G):
    """Ding et al. 2006 with GᵀG = I: G, then F."""
    G = G * np.sqrt((X.T @ F) / (G @ G.T @ X.T @ F))
    F = F * (X @ G) / (F @ G.T @ G)
    return F, G


def tri_step(X, F, S, G):
    """Ding et al. 2006, both sides orthogonal. X is n × m here: F codes its rows, G its columns."""
    F = F * np.sqrt((X @ G @ S.T) / (F @ F.T @ X @ G @ S.T))
    G = G * np.sqrt((X.T @ F @ S) / (G @ G.T @ X.T @ F @ S))
    S = S * np.sqrt((F.T @ X @ G) / (F.T @ F @ S @ G.T @ G))
    return F, S, G

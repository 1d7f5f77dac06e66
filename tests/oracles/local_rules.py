"""LLNMF and NLCF transcribed once more and naively (with the corrections of the errata), in the papers' letters.

X is m × n with samples in columns, U (basis) m × k, V (encodings) n × k. Every `step_…` is one sweep in the library's
order: first the encodings, then the basis. Nothing here imports partwise.
"""

import numpy as np
from paper_rules import degrees, positive_root

# --- local learning ---------------------------------------------------------------------------------------------------


def neighborhoods(X, p):
    """The p samples of largest cosine with each sample, itself left out."""
    unit = X / np.linalg.norm(X, axis=0)
    n = X.shape[1]
    return [
        sorted((j for j in range(n) if j != i), key=lambda j: (-round(unit[:, i] @ unit[:, j], 12), j))[:p]
        for i in range(n)
    ]


KERNELS = {
    "linear": lambda x, y: x @ y,
    "cosine": lambda x, y: x @ y / np.linalg.norm(x) / np.linalg.norm(y),
    "rbf": lambda x, y, width=2.0: np.exp(-((x - y) ** 2).sum() / width),
}


def predictors(X, p, kernel, ridge):
    """LLNMF Eq. 9 and 12: row i holds k_iᵀ (K_i + n_i λ I)⁻¹ at the neighbours of sample i."""
    K, n = KERNELS[kernel], X.shape[1]
    G = np.zeros((n, n))
    for i, near in enumerate(neighborhoods(X, p)):
        K_i = np.array([[K(X[:, a], X[:, b]) for b in near] for a in near])
        k_i = np.array([K(X[:, i], X[:, a]) for a in near])
        G[i, near] = k_i @ np.linalg.inv(K_i + p * ridge * np.eye(p))
    return G


def step_llnmf(X, U, V, L, mu, gamma=1.0):
    """LLNMF Eq. 19; γ = ½ as printed, γ = 1 falls as well."""
    L_plus, L_minus = (abs(L) + L) / 2, (abs(L) - L) / 2
    V = V * ((X.T @ U + mu * L_minus @ V) / (V @ U.T @ U + mu * L_plus @ V)) ** gamma
    U = U * ((X @ V) / (U @ V.T @ V)) ** gamma
    return U, V


def step_llnmf_product(X, U, V, B, mu):
    """The same with the split of B = I − G instead of that of L = BᵀB."""
    up, down = np.maximum(B, 0), np.maximum(-B, 0)
    L_plus, L_minus = up.T @ up + down.T @ down, up.T @ down + down.T @ up
    V = V * (X.T @ U + mu * L_minus @ V) / (V @ U.T @ U + mu * L_plus @ V)
    U = U * (X @ V) / (U @ V.T @ V)
    return U, V


# --- local coordinates ------------------------------------------------------------------------------------------------


def local_coordinates(X, U, V, known=None):
    """NLCF Eq. 2 summed over the samples, over the known entries."""
    total = 0.0
    for i in range(V.shape[0]):
        seen = slice(None) if known is None else known[:, i]
        for k in range(V.shape[1]):
            total += V[i, k] * ((U[seen, k] - X[seen, i]) ** 2).sum()
    return total


def step_nlcf(X, U, V, mu, W=None, lam=0.0):
    """NLCF Eq. 12 (Eq. 8 without a graph), then Eq. 11 = Eq. 7 with the sums over Λ_i written out."""
    n, k = V.shape
    C = np.repeat((X**2).sum(axis=0)[:, None], k, axis=1)
    D = np.repeat((U**2).sum(axis=0)[None, :], n, axis=0)
    W = np.zeros((n, n)) if W is None else W
    E = degrees(W)
    V = V * (2 * ((mu + 1) * X.T @ U + lam * W @ V)) / (2 * V @ U.T @ U + mu * C + mu * D + 2 * lam * E @ V)
    pull, curvature = np.zeros_like(U), np.zeros_like(U)
    for i in range(n):
        pull += np.outer(X[:, i], np.ones(k)) @ np.diag(V[i])
        curvature += U @ np.diag(V[i])
    U = U * (X @ V + mu * pull) / (U @ V.T @ V + mu * curvature)
    return U, V


def step_nlcf_kl(X, U, V, mu, W=None, lam=0.0):
    """The positive roots derived in `partwise.terms.local_coordinates`, entry by entry."""
    n, k = V.shape
    W = np.zeros((n, n)) if W is None else W
    DV, WV = degrees(W) @ V, W @ V
    N, P = (X / (U @ V.T)).T @ U, U.sum(axis=0)
    new = np.empty_like(V)
    for i in range(n):
        for j in range(k):
            far = ((X[:, i] - U[:, j]) ** 2).sum()
            a = 2 * lam * DV[i, j] / V[i, j]
            new[i, j] = positive_root(a, P[j] + mu * far, V[i, j] * (N[i, j] + 2 * lam * WV[i, j]))
    V = new
    N, s, XV = (X / (U @ V.T)) @ V, V.sum(axis=0), X @ V
    new = np.empty_like(U)
    for f in range(U.shape[0]):
        for j in range(k):
            new[f, j] = positive_root(2 * mu * s[j], s[j] - 2 * mu * XV[f, j], U[f, j] * N[f, j])
    return new, V


def step_nlcf_known(X, U, V, mu, known):
    """Eq. 8 and 7 with every sum over the known entries only; X holds zeros at the others."""
    M = known.astype(float)
    far = (X**2).sum(axis=0)[:, None] + M.T @ U**2
    V = V * (2 * (mu + 1) * X.T @ U) / (2 * ((U @ V.T) * M).T @ U + mu * far)
    U = U * ((1 + mu) * X @ V) / (((U @ V.T) * M) @ V + mu * U * (M @ V))
    return U, V

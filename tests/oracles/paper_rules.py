"""The papers' rules, transcribed once more and naively: their letters, samples in columns, dense arrays, no guards.

X is m × n, U (basis) m × k, V (encodings) n × k. Every `step_…` is one sweep in the library's order: first the
encodings, then the basis. Every `objective_…` is written entry by entry or edge by edge. Nothing here imports partwise.
"""

import numpy as np

# --- graphs -----------------------------------------------------------------------------------------------------------


def nearest_neighbor_graph(X, p=5):
    """GNMF Eq. 6 with cosine similarity: W_ij = 1 if either sample is among the p nearest of the other."""
    n = X.shape[1]
    W = np.zeros((n, n))
    for i in range(n):
        similarity = [
            X[:, i] @ X[:, j] / np.linalg.norm(X[:, i]) / np.linalg.norm(X[:, j]) if j != i else -np.inf
            for j in range(n)
        ]
        for j in sorted(range(n), key=lambda j: -similarity[j])[:p]:
            W[i, j] = W[j, i] = 1.0
    return W


def edited_by_labels(W, y):
    """SemiGNMF: same label, joined; different labels, cut; an unknown label (−1) changes nothing."""
    W = W.copy()
    for i in range(len(y)):
        for j in range(len(y)):
            if i != j and y[i] >= 0 and y[j] >= 0:
                W[i, j] = 1.0 if y[i] == y[j] else 0.0
    return W


def degrees(W):
    return np.diag(W.sum(axis=0))


def label_matrix(y):
    """CNMF's A, in any order of the samples: one column per class, then one per unlabelled sample."""
    classes = sorted(set(y[y >= 0]))
    unlabelled = [i for i in range(len(y)) if y[i] < 0]
    A = np.zeros((len(y), len(classes) + len(unlabelled)))
    for i, label in enumerate(y):
        A[i, classes.index(label) if label >= 0 else len(classes) + unlabelled.index(i)] = 1.0
    return A


# --- objectives -------------------------------------------------------------------------------------------------------


def squared_error(X, U, V):
    return ((X - U @ V.T) ** 2).sum()


def kullback_leibler(X, U, V):
    total = 0.0
    for x, y in zip(X.ravel(), (U @ V.T).ravel(), strict=True):
        total += (x * np.log(x / y) if x > 0 else 0.0) - x + y
    return total


def smoothness(V, W):
    """GNMF Eq. 7 summed over the components: ½ Σ_ij W_ij ‖v_i − v_j‖²."""
    return sum(0.5 * W[i, j] * ((V[i] - V[j]) ** 2).sum() for i, j in zip(*W.nonzero(), strict=True))


# --- sweeps -----------------------------------------------------------------------------------------------------------


def step_nmf(X, U, V):
    """GNMF Eq. 3, then Eq. 2 (Lee & Seung)."""
    V = V * (X.T @ U) / (V @ U.T @ U)
    U = U * (X @ V) / (U @ V.T @ V)
    return U, V


def step_nmf_kl(X, U, V):
    """Lee & Seung's rules for the divergence."""
    V = V * ((X / (U @ V.T)).T @ U) / U.sum(axis=0)
    U = U * ((X / (U @ V.T)) @ V) / V.sum(axis=0)
    return U, V


def step_gnmf(X, U, V, W, lam):
    """GNMF Eq. 16, then Eq. 15."""
    D = degrees(W)
    V = V * (X.T @ U + lam * W @ V) / (V @ U.T @ U + lam * D @ V)
    U = U * (X @ V) / (U @ V.T @ V)
    return U, V


def step_gnmf_gauged(X, U, V, W, lam):
    """The same rules for ‖X − UVᵀ‖² + λ Σ_j ‖u_j‖² v_jᵀ L v_j: what Eq. 8 is where every u_j has unit norm."""
    D = degrees(W)
    C = np.diag((U**2).sum(axis=0))
    V = V * (X.T @ U + lam * W @ V @ C) / (V @ U.T @ U + lam * D @ V @ C)
    Q = np.diag(np.diag(V.T @ (D - W) @ V))
    U = U * (X @ V) / (U @ V.T @ V + lam * U @ Q)
    return U, V


def positive_root(a, b, c):
    """The root of a t² + b t − c = 0 that is not negative."""
    return c / b if a == 0 else (-b + np.sqrt(b * b + 4 * a * c)) / (2 * a)


def step_gnmf_kl(X, U, V, W, lam):
    """a v² + P v − ṽ (N + 2λ (Wṽ)) = 0 with a = 2λ (Dṽ)/ṽ, entry by entry; the basis as without a graph."""
    V = _roots_of_encodings(X, U, V, W, np.full(U.shape[1], lam))
    U = U * ((X / (U @ V.T)) @ V) / V.sum(axis=0)
    return U, V


def step_gnmf_kl_gauged(X, U, V, W, lam):
    """Encodings as above with λ_j = λ‖u_j‖²; basis 2λ q_j u² + s_j u − ũ N = 0, q_j = v_jᵀ L v_j, s_j = 1ᵀ v_j."""
    V = _roots_of_encodings(X, U, V, W, lam * (U**2).sum(axis=0))
    q = np.diag(V.T @ (degrees(W) - W) @ V)
    s = V.sum(axis=0)
    N = (X / (U @ V.T)) @ V
    new = np.empty_like(U)
    for i in range(U.shape[0]):
        for j in range(U.shape[1]):
            new[i, j] = positive_root(2 * lam * q[j], s[j], U[i, j] * N[i, j])
    return new, V


def _roots_of_encodings(X, U, V, W, lam):
    DV, WV = degrees(W) @ V, W @ V
    N = (X / (U @ V.T)).T @ U
    P = U.sum(axis=0)
    new = np.empty_like(V)
    for i in range(V.shape[0]):
        for j in range(V.shape[1]):
            v = V[i, j]
            a = 2 * lam[j] * DV[i, j] / v
            new[i, j] = positive_root(a, P[j], v * (N[i, j] + 2 * lam[j] * WV[i, j]))
    return new


def step_cnmf(X, U, Z, A):
    """CNMF Eq. 11, then Eq. 10."""
    Z = Z * (A.T @ X.T @ U) / (A.T @ A @ Z @ U.T @ U)
    U = U * (X @ A @ Z) / (U @ Z.T @ A.T @ A @ Z)
    return U, Z


def step_cnmf_kl(X, U, Z, A):
    """The divergence of X from U (AZ)ᵀ: its gradient with respect to Z is Aᵀ times that with respect to V = AZ."""
    ones = np.ones_like(X)
    Z = Z * (A.T @ (X / (U @ Z.T @ A.T)).T @ U) / (A.T @ ones.T @ U)
    U = U * ((X / (U @ Z.T @ A.T)) @ A @ Z) / (ones @ A @ Z)
    return U, Z

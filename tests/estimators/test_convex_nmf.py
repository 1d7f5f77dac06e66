"""ConvexNMF: its conditions, and kernels that are none."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel
from small_data import signed

from partwise import ConvexNMF


def kkt(F, gradient, scale):
    """Largest violation of F ≥ 0, gradient ≥ 0, F ∘ gradient = 0."""
    return max(np.maximum(-gradient, 0).max(), np.abs(F * gradient).max()) / scale


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_it_reaches_its_conditions(kernel):
    X = signed()
    model = ConvexNMF(3, kernel="precomputed", max_iter=20000, tol=1e-11, random_state=0)
    K = X @ X.T if kernel == "linear" else rbf_kernel(X, gamma=0.1)
    with np.errstate(all="raise"):
        model.fit(K)
    W, P = model.embedding_, model.dual_components_.T
    scale = np.abs(K).max()
    assert kkt(W, W @ (P.T @ K @ P) - K @ P, scale) < 1e-3
    assert kkt(P, K @ P @ (W.T @ W) - K @ W, np.abs(K @ W).max()) < 1e-3


def test_kernel_that_is_not_positive():
    with pytest.raises(ValueError, match="not positive semidefinite"):
        ConvexNMF(2, kernel="precomputed", init="random", random_state=0).fit(-np.eye(6) + 0.1)

"""Projected data have the products, norms and errors of X V Vᵀ."""

import numpy as np
import pytest
from scipy.linalg import qr

from partwise.core.projected import ProjectedOperand
from partwise.core.storage import DenseOperand


@pytest.mark.parametrize("weighted", [False, True])
def test_products_norms_and_errors(weighted):
    rng = np.random.default_rng(0)
    X, directions = rng.random((700, 30)), qr(rng.standard_normal((30, 5)), mode="economic")[0]
    weight = rng.random(700) if weighted else None
    projected = ProjectedOperand(DenseOperand(X, None, weight), directions)
    plain = DenseOperand(X @ directions @ directions.T, None, weight)
    W, Ht = rng.random((700, 3)), rng.random((30, 3))
    assert projected.shape == plain.shape
    np.testing.assert_allclose(projected.dot(Ht), plain.dot(Ht))
    np.testing.assert_allclose(projected.t_dot(W), plain.t_dot(W))
    assert projected.squared_norm == pytest.approx(plain.squared_norm)
    assert projected.squared_error(W, Ht) == pytest.approx(plain.squared_error(W, Ht))
    for mine, theirs in zip(
        *(each.code(Ht, lambda rows, product: product) for each in (projected, plain)), strict=True
    ):
        np.testing.assert_allclose(mine, theirs)

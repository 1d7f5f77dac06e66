"""Divergences of several samples from one y are those of their mean, and a constant of potentials."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import rel_entr

from partwise.core.storage import as_operand
from partwise.terms.divergence import row_potentials

RNG = np.random.RandomState(0)
X, Y = RNG.uniform(0.1, 2.0, size=(5, 4)), RNG.uniform(0.1, 2.0, size=4)


def divergence(x, y, beta):
    """As it is printed, summed over the features."""
    if beta == 1:
        return (rel_entr(x, y) - x + y).sum(axis=-1)
    if beta == 0:
        return (x / y - np.log(x / y) - 1).sum(axis=-1)
    return ((x**beta + (beta - 1) * y**beta - beta * x * y ** (beta - 1)) / (beta * (beta - 1))).sum(axis=-1)


@pytest.mark.parametrize("beta", [0, 0.5, 1, 1.5, 3, -1])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_samples_may_be_replaced_by_their_mean(beta, make):
    mean = X.mean(axis=0, keepdims=True)
    constant = row_potentials(as_operand(make(X)), beta).sum() - 5 * row_potentials(as_operand(make(mean)), beta)[0]
    apart = divergence(X, Y, beta).sum() - 5 * divergence(mean[0], Y, beta)
    np.testing.assert_allclose(constant, apart, rtol=1e-10)


@pytest.mark.parametrize("beta", [0.5, 1, 1.5, 2, 3])
def test_zeros_have_no_potential(beta):
    holes = np.where(X > 1, X, 0) * (np.arange(5) % 2)[:, None] * (np.arange(4) < 3)
    np.testing.assert_allclose(
        row_potentials(as_operand(sp.csr_array(holes)), beta), row_potentials(as_operand(holes), beta)
    )
    assert not row_potentials(as_operand(sp.csr_array((3, 4))), beta).any()

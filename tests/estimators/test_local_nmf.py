"""LocalNMF against the rules of its paper and the objective that they minimise."""

import numpy as np
import pytest
import scipy.sparse as sp

from partwise import LocalNMF
from partwise.terms import Localness
from partwise.testing import check_term

RNG = np.random.RandomState(0)
X = RNG.gamma(0.8, size=(20, 9)) * (RNG.uniform(size=(20, 9)) < 0.8) + 0.01
START = RNG.uniform(0.1, 1, size=(20, 4)), RNG.uniform(0.1, 1, size=(4, 9))


def value(X, W, H):
    Y = W @ H
    divergence = np.where(X > 0, X * np.log(np.where(X > 0, X, 1) / Y), 0) - X + Y
    return divergence.sum() + (W**2 / 2 - W).sum()


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_paper_rules(make):
    """Li et al. 2001, Eq. 12-14, samples in columns: B the components, H the codes."""
    V = X.T
    sums = START[1].sum(axis=1)
    B, H = (START[1] / sums[:, None]).T.copy(), (START[0] * sums).T.copy()
    values = [value(X, H.T, B.T)]
    for _ in range(25):
        H = np.sqrt(H * (B.T @ (V / (B @ H))))
        B = B * ((V / (B @ H)) @ H.T) / H.sum(axis=1)
        B /= B.sum(axis=0)
        values.append(value(X, H.T, B.T))
    model = LocalNMF(4, init=START, max_iter=25, tol=0, solver="multiplicative").fit(make(X))
    np.testing.assert_allclose(model.embedding_, H.T, rtol=1e-9)
    np.testing.assert_allclose(model.components_, B.T, rtol=1e-9)
    np.testing.assert_allclose(model.history_["objective"], values, rtol=1e-9)
    assert np.diff(values).max() <= 0


def test_converges_to_a_stationary_point():
    model = LocalNMF(4, init=START, max_iter=20_000, tol=1e-8).fit(X)
    assert model.stop_reason_ == "converged"
    W, H = model.embedding_, model.components_
    pull = (X / (W @ H)) @ H.T
    active = W / W.max() > 1e-6
    np.testing.assert_allclose(W[active], pull[active], rtol=1e-2)
    # On the simplex all entries in use are pulled equally.
    drawn = W.T @ (X / (W @ H))
    for j in range(4):
        used = H[j] > 1e-3
        np.testing.assert_allclose(drawn[j][used], drawn[j] @ H[j], rtol=5e-2)


def test_components_overlap_less_than_those_of_the_divergence():
    from sklearn.datasets import load_digits

    from partwise import NMF

    data = load_digits().data[:200]
    local = LocalNMF(10, random_state=0, max_iter=100, tol=0).fit(data).components_
    plain = NMF(10, loss="kullback-leibler", random_state=0, max_iter=100, tol=0).fit(data).components_

    def overlap(H):
        H = H / np.linalg.norm(H, axis=1, keepdims=True)
        return (H @ H.T)[np.triu_indices(10, 1)].mean()

    assert overlap(local) < overlap(plain)


def test_term():
    check_term(Localness())
    check_term(Localness(), sample_weight=np.arange(12) % 4)

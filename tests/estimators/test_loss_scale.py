"""Robust losses by name: what they are good for, their scale, the codes of new samples, and what is refused."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from partwise import NMF

RNG = np.random.RandomState(0)
N, M, K = 150, 40, 4
TRUE = RNG.gamma(0.5, size=(N, K)) @ RNG.gamma(0.5, size=(K, M))
DEVIATION = 0.05
X = np.maximum(TRUE + DEVIATION * RNG.standard_normal((N, M)), 0)
SPOILT = np.where(RNG.uniform(size=X.shape) < 0.05, X + 10, X)


def error(model):
    return ((model.embedding_ @ model.components_ - TRUE) ** 2).sum() / (TRUE**2).sum()


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(("loss", "multiple"), [("huber", 1.35), ("l1", 0.25)])
def test_outliers_do_less_harm(loss, multiple, make):
    model = NMF(K, loss=loss, random_state=0).fit(make(SPOILT))
    assert error(model) < 0.02 * error(NMF(K, random_state=0).fit(SPOILT))
    # The search does not end at the minimum, so the scale is somewhat wide.
    assert multiple * DEVIATION < model.loss_scale_ < 4 * multiple * DEVIATION
    assert model.solver_ == "coordinate"


@pytest.mark.parametrize("loss", ["huber", "l1"])
def test_codes_of_new_samples_are_the_best_ones(loss):
    """The loss is convex in the code of a sample: no other code is better, and distant starts lead there."""
    model = NMF(K, loss=loss, random_state=0, max_iter=100, tol=0).fit(SPOILT)
    H, scale = model.components_, model.loss_scale_

    def cost(w, x):
        r = x - w @ H
        near = np.abs(r) <= scale
        slope = np.where(near, 2 * r, 2 * scale * np.sign(r))
        return np.where(near, r**2, (2 * np.abs(r) - scale) * scale).sum(), -H @ slope

    for x, code in zip(SPOILT[:10], model.transform(SPOILT[:10]), strict=True):
        best = minimize(cost, np.ones(K), (x,), jac=True, bounds=[(0, None)] * K, method="L-BFGS-B", tol=1e-12)
        assert cost(code, x)[0] <= best.fun * (1 + (1e-6 if loss == "huber" else 2e-3))


def test_a_given_scale_is_used_and_forgotten():
    model = NMF(K, loss="huber", loss_scale=0.3, random_state=0).fit(SPOILT)
    assert model.loss_scale_ == 0.3
    assert model.set_params(loss="frobenius").fit(SPOILT).loss_scale_ is None


def test_the_scale_follows_the_unit():
    plain, tiny = (NMF(K, loss="huber", random_state=0).fit(unit * SPOILT) for unit in (1.0, 2.0**-500))
    assert tiny.loss_scale_ == plain.loss_scale_ * 2.0**-500
    np.testing.assert_array_equal(tiny.components_, plain.components_)


def test_refusals():
    with pytest.raises(ValueError, match="one of them as a number"):
        NMF("auto", loss="huber").fit(X)
    assert NMF([2, 4], loss="huber", loss_scale=0.1, random_state=0, max_iter=20, tol=0).fit(X).n_components_ in (2, 4)
    with pytest.raises(ValueError, match="not loss='l1'"):
        NMF(2, loss="l1", weighting="ncut").fit(X)

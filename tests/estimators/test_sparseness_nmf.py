"""SparsenessNMF: exact sparseness, falling objectives, and plain NMF where nothing is asked."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

from partwise import NMF, SparsenessNMF
from partwise.metrics import sparseness

X = load_digits().data[:150]
RUN = {"n_components": 5, "random_state": 0, "max_iter": 40, "tol": 0}


@pytest.mark.parametrize(("components", "codes"), [(0.7, None), (None, 0.4), (0.5, 0.5), (0.0, 1.0), (1.0, 0.0)])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.filterwarnings("ignore:.*not used by any sample:UserWarning")
def test_sparseness_is_exact_and_the_error_falls(components, codes, make):
    model = SparsenessNMF(components_sparseness=components, codes_sparseness=codes, **RUN).fit(make(X))
    used = model.embedding_.any(axis=0)
    if components is not None:
        np.testing.assert_allclose(sparseness(model.components_[used]), components, atol=1e-7)
    if codes is not None:
        np.testing.assert_allclose(sparseness(model.embedding_[:, used], axis=0), codes, atol=1e-7)
    objective = np.array(model.history_["objective"])
    assert np.diff(objective).max() <= 1e-10 * (X**2).sum()
    np.testing.assert_allclose(objective[-1], ((X - model.embedding_ @ model.components_) ** 2).sum(), rtol=1e-9)


def test_each_column_is_the_best_one_for_the_others():
    """At the end no other column of that sparseness is better: of many tried, by its own best length."""
    model = SparsenessNMF(3, components_sparseness=0.6, random_state=0, max_iter=400, tol=0).fit(X)
    rng = np.random.RandomState(0)
    for j in range(3):
        rest = np.delete(np.arange(3), j)
        R, w = X - model.embedding_[:, rest] @ model.components_[rest], model.embedding_[:, j]
        best = ((R - np.outer(w, model.components_[j])) ** 2).sum()
        for _ in range(8):
            h = model.components_[j] + 0.3 * model.components_.max() * rng.standard_normal(64)
            h = np.maximum(h, 0)
            # Raise to the power that has the wanted sparseness.
            low, high = 0.05, 20.0
            for _ in range(30):
                power = np.sqrt(low * high)
                low, high = (power, high) if sparseness(h**power) < 0.6 else (low, power)
            h = h**power
            h *= max((w @ R) @ h, 0) / ((w @ w) * (h @ h))
            assert ((R - np.outer(w, h)) ** 2).sum() >= best * (1 - 1e-6)


def test_no_constraint_is_nmf():
    free = SparsenessNMF(5, components_sparseness=None, random_state=0, max_iter=3000, tol=1e-8).fit(X)
    plain = NMF(5, random_state=0, max_iter=3000, tol=1e-8).fit(X)
    assert abs(free.objective_ - plain.objective_) < 0.02 * plain.objective_


def test_weights():
    weighted = SparsenessNMF(components_sparseness=0.6, **RUN).fit(X, sample_weight=np.full(150, 2.0))
    plain = SparsenessNMF(components_sparseness=0.6, **RUN).fit(X)
    np.testing.assert_allclose(weighted.objective_, 2 * plain.objective_, rtol=1e-6)
    with pytest.raises(ValueError, match="counts every sample once"):
        SparsenessNMF(codes_sparseness=0.5, **RUN).fit(X, sample_weight=np.ones(150))
    with pytest.raises(ValueError, match="components_sparseness"):
        SparsenessNMF(components_sparseness=1.5).fit(X)

"""Entries that must stay zero do, exactly, in every solver that sweeps, and the others reach their minimum."""

import numpy as np
import pytest
from scipy.optimize import nnls

from partwise import Factorization
from partwise.domains import Fixed
from partwise.terms import L1, BetaDivergence, Frobenius, Huber, NeighborGraph

RNG = np.random.RandomState(0)
X = RNG.gamma(1.0, size=(40, 4)) @ RNG.gamma(0.5, size=(4, 15)) + 0.1 * RNG.uniform(size=(40, 15))
HOLES = np.where(RNG.uniform(size=X.shape) < 0.15, np.nan, X)
CODES = RNG.uniform(size=(40, 4)) < 0.3
COMPONENTS = RNG.uniform(size=(4, 15)) < 0.3
# Every entry of X can be reached: the Kullback–Leibler divergence is infinite otherwise.
CODES[:, 0], COMPONENTS[0] = False, False
MASKS = {
    "codes": {"codes": Fixed(np.zeros(CODES.shape), where=CODES)},
    "components": {"components": Fixed(np.zeros(COMPONENTS.shape), where=COMPONENTS)},
}
MASKS["both"] = MASKS["codes"] | MASKS["components"]
OBJECTIVES = {
    "squared error": ([Frobenius()], X, "coordinate"),
    "squared error, l1": ([Frobenius(), L1(0.1)], X, "coordinate"),
    "squared error, graph": ([Frobenius(), NeighborGraph(0.1)], X, "coordinate"),
    "squared error, strong graph": ([Frobenius(), NeighborGraph(1e4)], X, "coordinate"),
    "squared error, missing": ([Frobenius()], HOLES, "coordinate"),
    "squared error, missing, graph": ([Frobenius(), NeighborGraph(1.0)], HOLES, "coordinate"),
    "Kullback-Leibler": ([BetaDivergence(1)], X, "newton"),
    "Kullback-Leibler, strong graph": ([BetaDivergence(1), NeighborGraph(1e3)], X, "newton"),
    "beta": ([BetaDivergence(1.5)], X, "newton"),
    "Huber": ([Huber(0.5)], X, "coordinate"),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("name", OBJECTIVES)
def test_zeros_stay_zero_and_no_sweep_rises(name, mask, dtype):
    terms, data, solver = OBJECTIVES[name]
    model = Factorization(4, terms=terms, missing="nan", random_state=0, max_iter=40, tol=0, **MASKS[mask])
    model.fit(data.astype(dtype))
    assert model.solver_ == solver
    for factor in (model.embedding_, model.components_):
        assert np.isfinite(factor).all()
        assert (factor >= 0).all()
    assert mask == "components" or not model.embedding_[CODES].any()
    assert mask == "codes" or not model.components_[COMPONENTS].any()
    objective = np.array(model.history_["objective"])
    assert np.diff(objective).max() <= (1e-9 if dtype == np.float64 else 1e-4) * objective[0]
    assert objective[-1] < 0.8 * objective[0] or "strong" in name


def test_codes_are_the_best_in_their_places():
    """Given its components, the end of a fit is the non-negative least squares solution of the open entries."""
    model = Factorization(4, terms=[Frobenius()], tol=1e-10, max_iter=5000, **MASKS["codes"]).fit(X)
    for x, code, zero in zip(X, model.embedding_, CODES, strict=True):
        np.testing.assert_allclose(code[~zero], nnls(model.components_[~zero].T, x)[0], atol=1e-3 * code.max())


def test_other_fixed_entries_still_have_a_solver():
    values = np.where(COMPONENTS, 0.3, 0.0)
    model = Factorization(4, components=Fixed(values, where=COMPONENTS), max_iter=20, tol=0, scale=None).fit(X)
    assert model.solver_ == "alternating"
    np.testing.assert_array_equal(model.components_[COMPONENTS], 0.3)

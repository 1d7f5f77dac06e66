"""Newton steps for the Kullback-Leibler divergence: they end where the multiplicative rules would, much earlier."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from partwise import (
    NMF,
    ConstrainedNMF,
    Factorization,
    GraphNMF,
    LocalCoordinateNMF,
    LocalLearningNMF,
    LocalNMF,
    WeightedNMF,
)
from partwise.domains import Fixed, Simplex
from partwise.solvers import tied_rows
from partwise.terms import L1, BetaDivergence, Frobenius, LocalCoordinates, NeighborGraph

RNG = np.random.RandomState(0)
MEAN = RNG.gamma(0.6, size=(60, 4)) @ RNG.gamma(0.6, size=(4, 25))
X = RNG.poisson(3 * MEAN).astype(float)
HOLES = np.where(RNG.uniform(size=X.shape) < 0.3, np.nan, X)
MANY_ZEROS = sp.csr_array(X * (np.random.RandomState(1).uniform(size=X.shape) < 0.4))
Y = np.where(np.arange(60) % 4 == 0, np.arange(60) % 3, -1)
WEIGHTS = RNG.uniform(size=X.shape)
START = (RNG.uniform(0.1, 1, size=(60, 4)), RNG.uniform(0.1, 1, size=(4, 25)))
KULLBACK, CHAIN = BetaDivergence("kullback-leibler"), np.diag(np.ones(59), 1) + np.diag(np.ones(59), -1)
KL = {"n_components": 4, "loss": "kullback-leibler", "init": START}


def summed(*terms, **others):
    """The divergence with other terms, in any domains."""
    return Factorization(4, terms=[KULLBACK, *terms], init=START, **others)


CASES = {
    "dense": (NMF(**KL), X),
    "sparse": (NMF(**KL), sp.csr_array(X)),
    "by columns": (NMF(**KL), sp.csc_array(X)),
    "float32": (NMF(**KL), X.astype(np.float32)),
    "penalties": (NMF(**KL, l1_codes=0.3, l2_codes=0.1, l1_components=0.1, l2_components=0.2), X),
    "penalties under the gauge": (NMF(**KL, l1_codes=0.5, l2_codes=0.1), X),
    "holes": (NMF(**KL, missing="nan"), HOLES),
    "sparse holes": (NMF(**KL, missing="nan"), sp.csr_array(HOLES)),
    "only what is stored": (NMF(**KL, missing="unstored"), sp.csr_array(X)),
    "weights": (WeightedNMF(**KL, weights=WEIGHTS), X),
    "a graph": (GraphNMF(**KL, graph_strength=1.0), X),
    "a strong graph": (GraphNMF(**KL, graph_strength=1e3), MANY_ZEROS),
    "a strong graph, float32, holes": (GraphNMF(**KL, graph_strength=1e4, missing="nan"), HOLES.astype(np.float32)),
    "a graph, free scale": (GraphNMF(**KL, graph_strength=0.1, scale=None), sp.csr_array(X)),
    "a graph with labels": (GraphNMF(**KL, graph_strength=1.0, use_labels=True), X),
    "labels": (ConstrainedNMF(**KL), X),
    "local coordinates": (LocalCoordinateNMF(**KL, coordinate_strength=0.01), X),
    "local coordinates of what is known": (summed(LocalCoordinates(0.01), missing="nan"), HOLES),
    "local learning": (LocalLearningNMF(**KL, local_strength=1.0), X),
    "codes on the simplex": (summed(L1(0.1), codes="simplex"), X),
    "linked codes on the simplex": (summed(NeighborGraph(1.0), codes="simplex"), X),
    "components on the simplex": (summed(components="simplex"), sp.csr_array(X)),
    "components on the simplex, penalties": (summed(L1(0.3), NeighborGraph(0.1), components="simplex"), X),
    "fixed components": (NMF(**KL, fixed_components=START[1][:1]), X),
    "fixed entries": (summed(components=Fixed(np.zeros((4, 25)), RNG.uniform(size=(4, 25)) < 0.3)), X),
    "fixed codes": (summed(codes=Fixed(START[0][:, :1])), X),
    "fixed components, others on the simplex": (summed(components=Fixed(START[1][:1], rest=Simplex())), X),
    "and squared errors": (summed(Frobenius()), MANY_ZEROS),
    "and squared errors, linked": (summed(Frobenius(), NeighborGraph(10.0)), MANY_ZEROS),
    "parts of a paper": (LocalNMF(4, init=START), X),
}


@pytest.mark.filterwarnings("ignore:The fit has not converged")
@pytest.mark.parametrize("case", CASES)
def test_ends_at_least_as_low_as_the_rules(case):
    estimator, data = CASES[case]
    fast = estimator.set_params(solver="auto", max_iter=300, tol=1e-6).fit(data, Y)
    assert fast.solver_ == "newton"
    objective = np.array(fast.history_["objective"])
    size = objective[0] + np.nansum(X)
    assert (np.diff(objective) <= (2e-6 if data.dtype == np.float32 else 1e-11) * size).all()
    rules = estimator.set_params(solver="multiplicative", max_iter=len(objective) - 1, tol=0).fit(data, Y)
    assert fast.objective_ <= rules.objective_ * (1 + 1e-4)


@pytest.mark.parametrize("case", ["dense", "sparse", "penalties", "holes", "labels"])
def test_default_fits_converge(case):
    estimator, data = CASES[case]
    estimator.set_params(solver="auto", max_iter=500, tol=1e-6).fit(data, Y)
    assert estimator.stop_reason_ == "converged"


@pytest.mark.parametrize("case", ["dense", "sparse", "float32", "penalties under the gauge", "holes", "a graph"])
@pytest.mark.filterwarnings("ignore:The fit has not converged")
def test_new_samples_are_coded_one_by_one(case):
    estimator, data = CASES[case]
    model = estimator.set_params(solver="auto", max_iter=20, tol=1e-6).fit(data, Y)
    codes, new = model.transform(data[:10]), data[:10]
    one_by_one = np.vstack([model.transform(new[i : i + 1]) for i in range(10)])
    np.testing.assert_allclose(codes, one_by_one, rtol=1e-4 if data.dtype == np.float32 else 1e-6, atol=1e-6)


@pytest.mark.filterwarnings("ignore:The fit has not converged")
def test_codes_of_new_samples_are_optimal():
    """The gradient vanishes where a code is positive, and is not negative where it is zero."""
    model = NMF(**KL, max_iter=20).fit(X)
    new = np.random.RandomState(1).poisson(3 * MEAN).astype(float)
    codes, H = model.transform(new), model.components_
    ratio = np.divide(new, codes @ H, out=np.zeros_like(new), where=new > 0)
    gradient = H.sum(axis=1) - ratio @ H.T
    assert gradient.min() > -1e-6
    assert np.abs(codes * gradient).max() < 1e-5 * new.sum(axis=1).max()


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_a_fitted_model_keeps_no_data(make, tmp_path):
    data = np.random.RandomState(0).poisson(1.0, size=(400, 300)).astype(float)
    sizes = []
    for loss in ("kullback-leibler", "frobenius"):
        model = NMF(2, loss=loss, max_iter=12, tol=0, random_state=0).fit(make(data))
        model.save(tmp_path / "model.npz")
        sizes.append((tmp_path / "model.npz").stat().st_size)
    assert sizes[0] < 1.5 * sizes[1]


@pytest.mark.filterwarnings("ignore:The fit has not converged")
def test_tied_codes_move_together(monkeypatch):
    """Passes over models bring a strong graph's codes further than passes over the data, from the same start."""
    strong = GraphNMF(**KL, graph_strength=1e3, max_iter=8, tol=0)
    together = strong.fit(MANY_ZEROS).objective_
    monkeypatch.setattr(tied_rows, "TIED", np.inf)
    assert together < strong.fit(MANY_ZEROS).objective_


def test_refuses_other_losses():
    with pytest.raises(ValueError, match="needs the Kullback–Leibler divergence"):
        NMF(4, solver="newton").fit(X)


STATIONARY = {
    "plain": (NMF(**KL), MANY_ZEROS),
    "penalties": (NMF(**KL, l1_codes=0.3, l2_codes=0.1, l1_components=0.1, l2_components=0.2), MANY_ZEROS),
    "weights": (WeightedNMF(**KL, weights=WEIGHTS), X),
    "holes": (NMF(**KL, missing="nan", l2_codes=0.1, l2_components=0.1), HOLES),
    "a graph": (summed(NeighborGraph(0.3, graph=CHAIN), L1(0.1, "components")), X),
}


@pytest.mark.parametrize("case", STATIONARY)
def test_ends_where_the_optimality_conditions_hold(case):
    """Gradients by hand: none is negative, and none is positive where an entry is."""
    estimator, data = STATIONARY[case]
    model = clone(estimator).set_params(solver="newton", scale=None, tol=0, max_iter=300).fit(data)
    W, H = model.embedding_, model.components_
    x = np.nan_to_num(data.toarray() if sp.issparse(data) else data)
    V = WEIGHTS if case == "weights" else np.isfinite(data) if case == "holes" else np.ones_like(x)
    R = V * (1 - x / np.maximum(W @ H, 1e-300))
    gradients = [R @ H.T, W.T @ R]
    penalty = {name: getattr(model, name, 0) for name in ("l1_codes", "l2_codes", "l1_components", "l2_components")}
    if case == "a graph":
        gradients[0] += 2 * 0.3 * (np.diag(CHAIN.sum(axis=0)) - CHAIN) @ W
        penalty["l1_components"] = 0.1
    gradients[0] += penalty["l1_codes"] + 2 * penalty["l2_codes"] * W
    gradients[1] += penalty["l1_components"] + 2 * penalty["l2_components"] * H
    for F, gradient, size in zip((W, H), gradients, ((V @ H.T).max(), (W.T @ V).max()), strict=True):
        assert gradient.min() >= -1e-3 * size
        assert (np.abs(gradient) * F).max() <= 1e-3 * size * F.max()

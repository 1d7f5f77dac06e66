"""Where both factors are penalised, fits find the best scale between them, and therefore end soon."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from partwise import NMF
from partwise.core import Objective, State, as_operand
from partwise.domains import Fixed
from partwise.solvers.balance import Balance
from partwise.terms import L1, L2, Frobenius, LocalCoordinates, Seeds

RNG = np.random.RandomState(0)
TRUTH = RNG.gamma(0.5, size=(40, 3)) @ RNG.gamma(0.5, size=(3, 20))
POSITIVE = (TRUTH + 0.05) * RNG.gamma(10, 0.1, size=TRUTH.shape)
COUNTS = RNG.poisson(8 * TRUTH).astype(float)
HOLES = np.where(RNG.uniform(size=TRUTH.shape) < 0.3, np.nan, COUNTS)
LOSSES = {
    "frobenius": COUNTS,
    "kullback-leibler": COUNTS,
    "itakura-saito": POSITIVE,
    0.5: COUNTS,
    1.5: COUNTS,
    3: POSITIVE,
    "huber": COUNTS,
    "negative-binomial": COUNTS,
}
PENALTIES = {
    "l1": {"l1_codes": 0.05, "l1_components": 0.02},
    "l2": {"l2_codes": 0.02, "l2_components": 0.05},
    "mixed": {"l1_codes": 0.05, "l2_components": 0.02},
    "all": {"l1_codes": 0.03, "l2_codes": 0.01, "l1_components": 0.02, "l2_components": 0.05},
}


def slopes(model, sample_weight=1.0):
    """The derivatives of the penalties, as the columns of codes, or those of components, are stretched."""
    p = {name: getattr(model, name) for name in PENALTIES["all"]}
    W, H = model.embedding_, model.components_
    weight = np.broadcast_to(sample_weight, len(W))
    codes = p["l1_codes"] * weight @ W + 2 * p["l2_codes"] * weight @ W**2
    return codes, p["l1_components"] * H.sum(axis=1) + 2 * p["l2_components"] * (H**2).sum(axis=1)


def check(model, X, **fit):
    model.fit(X, **fit)
    assert model.stop_reason_ == "converged"
    objective = np.array(model.history_["objective"])
    assert (np.diff(objective) <= 1e-10 * objective[0]).all()
    np.testing.assert_allclose(*slopes(model, **fit), rtol=0.02)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", LOSSES)
def test_columns_are_at_their_best_scale(loss, penalty):
    model = NMF(3, loss=loss, init="random", random_state=0, **PENALTIES[penalty])
    check(model, LOSSES[loss])
    assert model.n_iter_ < 300


@pytest.mark.parametrize(
    ("model", "X", "fit"),
    [
        (NMF(3, missing="nan", random_state=0), HOLES, {}),
        (NMF(3, missing="nan", loss="kullback-leibler", random_state=0), HOLES, {}),
        (NMF(3, random_state=0), sp.csr_array(COUNTS), {}),
        (NMF(3, random_state=0), COUNTS, {"sample_weight": RNG.uniform(0.5, 2, size=40)}),
        (NMF(3, random_state=0, component_mask=RNG.uniform(size=(3, 20)) < 0.8), COUNTS, {}),
    ],
    ids=["missing", "missing, Kullback-Leibler", "sparse", "weighted", "masked"],
)
def test_so_are_those_of_other_data(model, X, fit):
    check(model.set_params(**PENALTIES["all"]), X, **fit)


def test_fits_with_small_penalties_end_soon():
    """If only sweeps moved the scale, this one would not end within 500."""
    model = NMF(3, loss=3, random_state=0, **PENALTIES["l2"]).fit(POSITIVE)
    assert model.n_iter_ <= 150
    longer = clone(model).set_params(tol=1e-9, max_iter=3000).fit(POSITIVE)
    assert model.objective_ <= longer.objective_ * (1 + 1e-4)


@pytest.mark.parametrize(
    "terms",
    [
        [Frobenius(), L1(0.1)],
        [Frobenius(), L1(0.1), Seeds(1.0, TRUTH[:1])],
        [Frobenius(), L1(0.1), LocalCoordinates(0.1), L2(0.1, "components")],
    ],
    ids=["penalties on one factor", "and seeds", "and a term with a scale of its own"],
)
def test_other_objectives_have_no_scale_to_find(terms):
    X = as_operand(COUNTS)
    assert (
        Balance(Objective([term.bind(X) for term in terms])).lengths(State(X, RNG.rand(40, 3), RNG.rand(20, 3))) is None
    )


def test_fixed_and_empty_columns_stay():
    X = as_operand(COUNTS)
    terms = [term.bind(X) for term in (Frobenius(), L1(0.1), L2(0.2, "components"))]
    objective = Objective(terms, components=Fixed(RNG.rand(1, 20)).bind(X, "components", 3))
    W = RNG.rand(40, 3)
    W[:, 1] = 0
    lengths = Balance(objective).lengths(State(X, W, 100 * RNG.rand(20, 3)))
    assert (lengths[:2] == 1).all()
    assert lengths[2] > 1

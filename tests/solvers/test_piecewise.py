"""Losses other than the squared error on data that are not in memory: no sweep rises, and fits end as well."""

import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from partwise import NMF, CauchyNMF, Factorization, GraphNMF
from partwise.core import State, as_operand, stored
from partwise.terms import L1, BetaDivergence, Frobenius

sys.path.insert(0, str(Path(__file__).parents[1] / "core"))
from row_sources import AnyRows, Blocks

rng = np.random.default_rng(0)
COUNTS = rng.poisson(3 * rng.gamma(0.5, size=(400, 3)) @ rng.gamma(0.5, size=(3, 25))).astype(float)
# Something is known of every sample, even if zeros are not.
COUNTS[:, 0] += 1
HOLES = np.where(rng.random(COUNTS.shape) < 0.2, np.nan, COUNTS)
SPARSE = sp.csr_array(COUNTS)
FITS = {
    "kullback-leibler": (COUNTS, {"loss": "kullback-leibler"}),
    "sparse, with penalties": (SPARSE, {"loss": "kullback-leibler", "l1_codes": 0.1, "l2_components": 0.1}),
    "itakura-saito": (COUNTS + 0.1, {"loss": "itakura-saito"}),
    "β = 1.5": (COUNTS, {"loss": 1.5}),
    "huber": (COUNTS, {"loss": "huber", "loss_scale": 1.0}),
    "negative binomial": (COUNTS, {"loss": "negative-binomial", "dispersion": 0.1}),
    "NaN": (HOLES, {"missing": "nan"}),
    "unstored": (SPARSE, {"missing": "unstored", "loss": 1}),
}


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(stored, "PIECE_BYTES", 2**13)


@pytest.mark.parametrize("name", FITS)
def test_fits_end_where_they_would_in_memory(name):
    data, settings = FITS[name]
    weight = rng.random(400)
    model = NMF(3, random_state=0, max_iter=40, tol=0, **settings)
    held = clone(model).fit(data, sample_weight=weight)
    read = clone(model).fit(AnyRows(data), sample_weight=weight)
    assert read.solver_ == "piecewise"
    history = np.array(read.history_["objective"])
    assert (np.diff(history) <= 1e-9 * np.abs(history[:-1])).all()
    assert read.objective_ <= 1.03 * held.objective_
    # What is reported is what is returned.
    X = as_operand(data, model.missing, weight)
    fit = model._terms()[0].bind(X, sample_weight=weight)
    value = fit.value(State(X, read.embedding_, np.ascontiguousarray(read.components_.T)))
    np.testing.assert_allclose(value, read.history_["fit"][-1], rtol=1e-6)
    np.testing.assert_allclose(held.transform(data), held.transform(AnyRows(data)), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(read.score(data), read.score(Blocks(data, (50,) * 8)), rtol=1e-4)


def test_other_starts_and_methods():
    held, read = (CauchyNMF(3, random_state=0, max_iter=30, tol=0).fit(data) for data in (COUNTS, AnyRows(COUNTS)))
    assert read.objective_ <= 1.05 * held.objective_
    for init in ("sampled", "kmeans", "nndsvda"):
        model = NMF(3, loss="kullback-leibler", init=init, max_iter=15, tol=0, random_state=0)
        assert model.fit(AnyRows(COUNTS)).objective_ <= 1.05 * clone(model).fit(COUNTS).objective_


def test_samples_that_are_coupled_keep_the_multiplicative_rules():
    links = sp.diags_array([np.ones(399)] * 2, offsets=[-1, 1], shape=(400, 400)).tocsr()
    model = GraphNMF(3, loss="kullback-leibler", graph=links, graph_strength=5.0, random_state=0, max_iter=20, tol=0)
    model.set_params(solver="multiplicative")
    held, read = clone(model).fit(COUNTS), clone(model).fit(AnyRows(COUNTS))
    assert read.solver_ == "multiplicative"
    np.testing.assert_allclose(read.history_["objective"], held.history_["objective"], rtol=1e-6)


def test_what_cannot_be_done_is_refused():
    with pytest.raises(ValueError, match="infinite where X is zero"):
        NMF(3, loss="itakura-saito").fit(AnyRows(COUNTS))
    weighted = Factorization(3, terms=[Frobenius(weights=np.ones_like(COUNTS)), L1(0.1)])
    with pytest.raises(ValueError, match="Element weights need X in memory"):
        weighted.fit(AnyRows(COUNTS))
    with pytest.raises(ValueError, match="newton"):
        NMF(3, loss=1, solver="newton").fit(AnyRows(COUNTS))
    with pytest.raises(ValueError, match=r"Give your own graph"):
        GraphNMF(3, missing="nan").fit(AnyRows(HOLES))
    two = Factorization(3, terms=[BetaDivergence(1), Frobenius()], random_state=0, max_iter=3, tol=0)
    assert two.fit(AnyRows(COUNTS)).solver_ == "piecewise"

"""Models of components that are added up over samples: they are what differences say, and steps on them never rise."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from partwise import NMF
from partwise.blocks import ArrayRows
from partwise.callbacks import Callback, Checkpoint
from partwise.core import Objective, State, as_operand, stored
from partwise.core.scratch import Scratch
from partwise.core.types import COMPONENTS
from partwise.solvers import piecewise
from partwise.solvers.row_models import models_of
from partwise.solvers.systems import system_of
from partwise.terms import BetaDivergence, Frobenius, Huber, TruncatedCauchy

rng = np.random.default_rng(0)
N, M, K = 60, 7, 3
COUNTS = rng.poisson(2 * rng.gamma(0.5, size=(N, K)) @ rng.gamma(0.5, size=(K, M))).astype(float)
COUNTS[:, 0] += 1
HOLES = np.where(rng.random((N, M)) < 0.3, np.nan, COUNTS)
WHOLE = slice(0, M)
FORMS = {
    "kullback-leibler, few counts": (BetaDivergence(1), COUNTS, None),
    "kullback-leibler, many counts": (BetaDivergence(1), COUNTS + 1, None),
    "kullback-leibler, holes": (BetaDivergence(1), HOLES, "nan"),
    "kullback-leibler, sparse": (BetaDivergence(1), sp.csr_array(COUNTS), None),
    "kullback-leibler, unstored": (BetaDivergence(1), sp.csr_array(COUNTS), "unstored"),
    "itakura-saito": (BetaDivergence(0), COUNTS + 0.1, None),
    "itakura-saito, unstored": (BetaDivergence(0), sp.csr_array(COUNTS), "unstored"),
    "β = 1.5": (BetaDivergence(1.5), COUNTS, None),
    "β = -1": (BetaDivergence(-1), COUNTS + 0.1, None),
    "squares, holes": (Frobenius(), HOLES, "nan"),
    "squares, unstored": (Frobenius(), sp.csr_array(COUNTS), "unstored"),
    "huber": (Huber(0.5), COUNTS, None),
    "huber, holes": (Huber(0.5), HOLES, "nan"),
    "cauchy": (TruncatedCauchy(0.5), COUNTS, None),
}


def bound(name, rows=slice(None), weight=None):
    term, X, missing = FORMS[name]
    X = as_operand(X[rows], missing, None if weight is None else weight[rows])
    return term.bind(X, sample_weight=X.sample_weight), X


def value(term, X, W, Ht):
    return term.value(State(X, W, Ht))


def factors(seed):
    """With entries that are small, and some that are zero."""
    draw = np.random.default_rng(seed)
    W, Ht = (draw.gamma(0.4, size=(size, K)) for size in (N, M))
    Ht[draw.random(Ht.shape) < 0.2] = 0
    Ht[:, 0] += 0.01
    return W + 0.01, Ht


@pytest.mark.parametrize("name", FORMS)
def test_gradients_and_sums_over_samples(name):
    (W, Ht), weight, scratch = factors(0), rng.random(N), Scratch()
    Ht += 0.1
    term, X = bound(name, weight=weight)
    assert term.adds_up
    models = models_of(term, State(X, W, Ht), WHOLE, scratch)
    for f in range(M):
        for j in range(K):
            ahead, behind = Ht.copy(), Ht.copy()
            ahead[f, j] += 1e-5
            behind[f, j] -= 1e-5
            slope = (value(term, X, W, ahead) - value(term, X, W, behind)) / 2e-5
            assert models.gradient[f, j] == pytest.approx(slope, rel=1e-4, abs=1e-3)
    total = None
    for rows in (slice(0, 25), slice(25, 60)):
        part, own = bound(name, rows, weight)
        found = models_of(part, State(own, W[rows], Ht), WHOLE, scratch)
        total = found if total is None else total.plus(found)
    for field in ("gradient", "bent", "firm", "most"):
        whole, added = getattr(models, field), getattr(total, field)
        assert (whole is None) == (added is None)
        if whole is not None:
            np.testing.assert_allclose(added, whole, rtol=1e-6, atol=1e-9)
    some = models_of(term, State(X, W, Ht), slice(2, 5), scratch)
    np.testing.assert_allclose(some.gradient, models.gradient[2:5], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", ["kullback-leibler, few counts", "kullback-leibler, many counts"])
def test_curvatures_against_brute_force(name):
    W, Ht = factors(1)
    term, X = bound(name)
    models, counts = models_of(term, State(X, W, Ht), WHOLE, Scratch()), FORMS[name][1]
    Y = W @ Ht.T
    for f in range(M):
        hessian = (W * (counts[:, f] / Y[:, f] ** 2)[:, None]).T @ W
        np.testing.assert_allclose(models.bent[f], hessian[np.tril_indices(K)], rtol=1e-6)
        share = np.where(counts[:, [f]] > 0, W / Y[:, [f]], 0).max(axis=0)
        np.testing.assert_allclose(models.most[f], share, rtol=1e-6)


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_steps_never_rise(name, dtype):
    """From starts near and far, of every component by itself; and repeated ones come to rest."""
    term, data, missing = FORMS[name]
    X = as_operand(data.astype(dtype), missing)
    term = term.bind(X)
    for seed in range(5):
        W, Ht = (F.astype(dtype) for F in factors(seed))
        system = system_of(Objective([]), State(X, W, Ht), COMPONENTS)
        values = [value(term, X, W, Ht)]
        for _ in range(30):
            better = models_of(term, State(X, W, Ht), WHOLE, Scratch()).improved(Ht, system, 0)
            for f in range(M):
                one = Ht.copy()
                one[f] = better[f]
                assert value(term, X, W, one) <= values[-1] * (1 + 20 * np.finfo(dtype).eps)
            Ht = better
            values.append(value(term, X, W, Ht))
        assert np.isfinite(Ht).all()
        assert (Ht >= 0).all()
        assert values[-2] - values[-1] <= 0.01 * (values[0] - values[-1])


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr(stored, "PIECE_BYTES", 2**11)


@pytest.mark.parametrize("by_turns", [False, True])
@pytest.mark.parametrize("name", ["kullback-leibler", "itakura-saito", 1.5, "huber"])
def test_default_fits_of_pieces_end_where_those_in_memory_do(name, by_turns, small_pieces, monkeypatch):
    """Without a warning, and in about as many sweeps; components may get their models by turns."""
    if by_turns:
        monkeypatch.setattr(piecewise, "MODEL_BYTES", 3 * K * (K + 1) * 8)
    scale = {"loss_scale": 0.5} if name == "huber" else {}
    model = NMF(K, loss=name, random_state=0, **scale)
    held, read = clone(model).fit(COUNTS + 0.1), clone(model).fit(ArrayRows(COUNTS + 0.1))
    assert read.solver_ == "piecewise"
    assert read.objective_ <= 1.001 * held.objective_
    assert by_turns or read.n_iter_ <= 1.5 * held.n_iter_ + 20


@pytest.mark.parametrize("loss", ["kullback-leibler", 1.5])
def test_the_scale_between_penalised_factors_is_found_too(loss, small_pieces):
    model = NMF(K, loss=loss, l2_codes=0.01, l2_components=0.01, random_state=0)
    held, read = clone(model).fit(COUNTS), clone(model).fit(ArrayRows(COUNTS))
    assert read.objective_ == pytest.approx(held.objective_, rel=1e-3)
    assert read.n_iter_ <= held.n_iter_ + 30


class Killed(Callback):
    """A fit that ends while components have had some of their turns."""

    def on_sweep(self, progress):
        if progress.sweep == 14:
            raise RuntimeError("killed")


def test_turns_are_resumed(small_pieces, monkeypatch, tmp_path):
    monkeypatch.setattr(piecewise, "MODEL_BYTES", 3 * K * (K + 1) * 8)
    model, X = NMF(K, loss=1, random_state=0, tol=0, max_iter=18), ArrayRows(COUNTS)
    whole = clone(model).fit(X)
    path = tmp_path / "fit.npz"
    with pytest.raises(RuntimeError, match="killed"):
        clone(model).set_params(callbacks=[Checkpoint(path, every=1), Killed()]).fit(X)
    resumed = clone(model).set_params(callbacks=Checkpoint(path, every=1)).fit(X)
    np.testing.assert_array_equal(resumed.components_, whole.components_)

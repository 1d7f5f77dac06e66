"""NMF: what its docstring promises of the objective, the scale, starts, and special cases with a known answer."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from partwise import NMF

RNG = np.random.RandomState(0)
X = RNG.gamma(1.0, size=(30, 4)) @ RNG.gamma(0.5, size=(4, 12)) + 0.1 + 0.2 * RNG.uniform(size=(30, 12))
PENALTIES = {"l1_codes": 0.3, "l2_codes": 0.2, "l1_components": 0.1, "l2_components": 0.4}


def divergence(loss, X, Y):
    """D, entry by entry, as the papers print it."""
    if loss in ("frobenius", 2):
        return ((X - Y) ** 2).sum()
    if loss in ("kullback-leibler", 1):
        return (X * np.log(X / Y) - X + Y).sum()
    if loss in ("itakura-saito", 0):
        return (X / Y - np.log(X / Y) - 1).sum()
    return ((X**loss + (loss - 1) * Y**loss - loss * X * Y ** (loss - 1)) / (loss * (loss - 1))).sum()


def penalty(W, H, l1_codes=0.0, l2_codes=0.0, l1_components=0.0, l2_components=0.0):
    return l1_codes * W.sum() + l2_codes * (W**2).sum() + l1_components * H.sum() + l2_components * (H**2).sum()


@pytest.mark.parametrize("penalties", [{}, PENALTIES, {"l1_codes": 0.3}], ids=["none", "both factors", "codes"])
@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler", "itakura-saito", 0.5, 1.5, 3])
def test_the_objective_is_what_it_says(loss, penalties):
    model = NMF(3, loss=loss, max_iter=15, tol=0, init="random", random_state=0, **penalties).fit(X)
    W, H = model.embedding_, model.components_
    fit = divergence(loss, X, W @ H)
    assert model.objective_ == pytest.approx(fit + penalty(W, H, **penalties))
    assert model.history_["fit"][-1] == pytest.approx(fit)
    error = np.sqrt(fit) if loss == "frobenius" else np.sqrt(2 * fit)
    assert model.reconstruction_err_ == pytest.approx(error)
    assert set(model.history_) == {"objective", "fit", "time", *(name.replace("_", " ") for name in penalties)}


@pytest.mark.parametrize(("name", "beta"), [("frobenius", 2), ("kullback-leibler", 1), ("itakura-saito", 0)])
def test_a_loss_by_name_and_by_number(name, beta):
    one, other = (NMF(3, loss=loss, max_iter=5, tol=0, random_state=0).fit(X) for loss in (name, beta))
    np.testing.assert_array_equal(one.embedding_, other.embedding_)
    assert one.solver_ == other.solver_


@pytest.mark.parametrize(
    ("parameters", "data", "solver"),
    [
        ({}, X, "coordinate"),
        ({"loss": "kullback-leibler"}, X, "newton"),
        ({"loss": 1.5}, X, "newton"),
        ({"missing": "nan"}, np.where(np.eye(30, 12), np.nan, X), "coordinate"),
    ],
)
def test_the_solver_that_auto_takes(parameters, data, solver):
    assert NMF(3, max_iter=2, tol=0, random_state=0, **parameters).fit(data).solver_ == solver


# --- answers that are known -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_one_component_is_the_first_pair_of_singular_vectors(make):
    """By Perron and Frobenius these are non-negative, so no non-negative product of rank one is closer."""
    model = NMF(1, tol=1e-12, random_state=0).fit(make(X))
    U, s, Vt = np.linalg.svd(X)
    np.testing.assert_allclose(model.embedding_ @ model.components_, s[0] * np.outer(U[:, 0], Vt[0]), rtol=1e-5)
    assert model.objective_ == pytest.approx((s[1:] ** 2).sum())


def test_one_component_by_counts_is_their_independence_table():
    """For the Kullback-Leibler divergence it is the product of the margins, whatever the start."""
    model = NMF(1, loss="kullback-leibler", init="random", tol=1e-10, random_state=0).fit(X)
    expected = np.outer(X.sum(axis=1), X.sum(axis=0)) / X.sum()
    np.testing.assert_allclose(model.embedding_ @ model.components_, expected, rtol=1e-6)


def test_parts_that_each_have_a_pure_sample_are_found():
    rng = np.random.RandomState(1)
    parts = np.kron(np.eye(3), np.ones(4)) + 0.1 * rng.uniform(size=(3, 12))
    codes = np.vstack([np.eye(3), rng.dirichlet(np.ones(3), size=40)])
    model = NMF(3, tol=1e-10, max_iter=5000, random_state=0).fit(codes @ parts)
    assert model.objective_ < 1e-6 * ((codes @ parts) ** 2).sum()
    likeness = model.components_ @ (parts / np.linalg.norm(parts, axis=1)[:, None]).T
    rows, columns = linear_sum_assignment(-likeness)
    assert likeness[rows, columns].min() > 0.99


def test_as_many_components_as_features_fit_everything():
    model = NMF(12, init=(X, np.eye(12)), scale=None, max_iter=1, tol=0).fit(X)
    assert model.objective_ <= 1e-12 * (X**2).sum()


def test_a_penalty_that_no_code_is_worth_leaves_none():
    """With components of unit norm a code gains at most 2 ‖x‖ per unit, so a larger price buys nothing."""
    price = 2.01 * np.linalg.norm(X, axis=1).max()
    with pytest.warns(UserWarning, match="3 of 3 components are not used"):
        model = NMF(3, l1_codes=price, random_state=0).fit(X)
    assert not model.embedding_.any()
    assert model.objective_ == pytest.approx((X**2).sum())
    assert NMF(3, l1_codes=price / 3, random_state=0).fit(X).embedding_.any()


@pytest.mark.parametrize("name", PENALTIES)
def test_penalties_shrink_what_they_penalise(name):
    """Next to a penalty of the other factor, which holds it in place."""
    kind, factor = name.split("_")
    held = {"l2_components" if factor == "codes" else "l2_codes": 1.0}
    sizes = []
    for strength in (0.1, 1.0, 10.0):
        model = NMF(3, **held, **{name: strength}, tol=0, max_iter=500, random_state=0).fit(X)
        F = model.embedding_ if factor == "codes" else model.components_
        sizes.append(F.sum() if kind == "l1" else (F**2).sum())
    assert sizes[0] > sizes[1] > sizes[2]


# --- scale ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("penalties", "scale", "unit"),
    [
        ({}, "auto", "components"),
        ({}, None, None),
        ({"l2_codes": 1.0}, "auto", "components"),
        ({"l2_components": 1.0}, "auto", "codes"),
        (PENALTIES, "auto", None),
        ({"l2_codes": 1.0}, None, None),
    ],
)
def test_who_carries_the_scale(penalties, scale, unit):
    model = NMF(3, scale=scale, max_iter=30, tol=0, random_state=0, **penalties).fit(X)
    assert model.scale_ == unit
    if unit == "components":
        np.testing.assert_allclose(np.linalg.norm(model.components_, axis=1), 1)
    if unit == "codes":
        np.testing.assert_allclose(np.linalg.norm(model.embedding_, axis=0), 1)


def test_no_rescaling_can_cheat_a_penalty():
    """At free scale the codes shrink and the penalty with them; where components have unit norm it stays."""
    gauged, free = (NMF(3, l2_codes=5.0, scale=scale, max_iter=300, tol=0).fit(X) for scale in ("auto", None))
    assert free.history_["l2 codes"][-1] < 0.1 * gauged.history_["l2 codes"][-1]
    norms = np.linalg.norm(free.components_, axis=1)
    honest = ((X - free.embedding_ @ free.components_) ** 2).sum() + 5.0 * ((free.embedding_ * norms) ** 2).sum()
    assert gauged.objective_ < honest


# --- starts, sweeps and labels ----------------------------------------------------------------------------------------


def test_a_given_start_is_entry_zero_of_the_history_and_stays_what_it_was():
    rng = np.random.RandomState(1)
    W, H = rng.uniform(size=(30, 3)), rng.uniform(size=(3, 12))
    given = W.copy(), H.copy()
    model = NMF(3, init=(W, H), scale=None, max_iter=4, tol=0).fit(X)
    assert model.history_["objective"][0] == pytest.approx(((X - W @ H) ** 2).sum())
    np.testing.assert_array_equal(W, given[0])
    np.testing.assert_array_equal(H, given[1])
    with pytest.raises(ValueError, match="n_init is 2"):
        NMF(3, init=(W, H), n_init=2).fit(X)


def test_zero_tolerance_runs_every_sweep_in_silence():
    model = NMF(3, tol=0, max_iter=7, random_state=0).fit(X)
    assert model.n_iter_ == 7
    assert model.stop_reason_ == "max_iter"
    assert {len(part) for part in model.history_.values()} == {8}
    with pytest.warns(ConvergenceWarning):
        NMF(3, tol=1e-14, max_iter=7, random_state=0).fit(X)


def test_starts_from_singular_vectors_are_one():
    one, many = (NMF(3, init="nndsvda", n_init=n, max_iter=5, tol=0, random_state=0).fit(X) for n in (1, 5))
    np.testing.assert_array_equal(one.embedding_, many.embedding_)


def test_the_best_of_several_starts_is_continued():
    single = [NMF(6, init="random", random_state=seed, tol=1e-4).fit(X).objective_ for seed in range(6)]
    best = NMF(6, init="random", n_init=6, random_state=0, tol=1e-4).fit(X)
    assert best.objective_ <= np.median(single)


def test_a_warm_start_goes_on():
    whole = NMF(3, tol=0, max_iter=10, scale=None, init="random", solver="multiplicative", random_state=0).fit(X)
    parts = clone(whole).set_params(warm_start=True, max_iter=5).fit(X).fit(X)
    np.testing.assert_allclose(parts.embedding_, whole.embedding_, rtol=1e-9)
    assert parts.n_iter_ == 5
    # Other shapes: a fresh start.
    assert parts.set_params(n_components=4).fit(X).embedding_.shape == (30, 4)


def test_labels_by_the_largest_entry():
    model = NMF(3, assign="argmax", random_state=0).fit(X)
    np.testing.assert_array_equal(model.labels_, model.embedding_.argmax(axis=1))
    np.testing.assert_array_equal(model.predict(X[:9]), model.transform(X[:9]).argmax(axis=1))


# --- missing entries --------------------------------------------------------------------------------------------------


def test_two_ways_to_say_that_an_entry_is_unknown():
    rng = np.random.RandomState(1)
    unknown = rng.uniform(size=X.shape) < 0.3
    holes = np.where(unknown, np.nan, X)
    stored = sp.csr_array(np.where(unknown, 0, X))
    settings = {"max_iter": 20, "tol": 0, "random_state": 0}
    by_nan = NMF(3, missing="nan", **settings).fit(holes)
    unstored = NMF(3, missing="unstored", **settings).fit(stored)
    np.testing.assert_allclose(by_nan.embedding_, unstored.embedding_, rtol=1e-6, atol=1e-9)
    known = np.where(unknown, 0, X - by_nan.embedding_ @ by_nan.components_)
    assert by_nan.objective_ == pytest.approx((known**2).sum())
    # Where a stored zero is a zero, it counts.
    assert NMF(3, **settings).fit(stored).objective_ > 2 * unstored.objective_


# --- open number of components ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("open_number", [[2, 3, 5], range(2, 4), np.array([2, 4])])
def test_the_number_of_components_is_one_of_those_given(open_number):
    model = NMF(open_number, random_state=0).fit(X)
    assert model.n_components_ in set(open_number)
    assert model.components_.shape == (model.n_components_, 12)
    assert model.n_components is open_number
    assert model.selection_.choice["n_components"] == model.n_components_

"""Missing entries, element weights and sample weights: three ways to say how much an entry counts."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

from partwise import NMF, ConstrainedNMF, Factorization
from partwise.terms import L1, L2, BetaDivergence, Frobenius

RNG = np.random.RandomState(0)
N, M, K = 20, 13, 3
X = RNG.gamma(1.0, size=(N, K)) @ RNG.gamma(0.5, size=(K, M)) + RNG.uniform(0.05, 0.3, size=(N, M))
MASK = RNG.uniform(size=X.shape) < 0.7
START = RNG.uniform(0.1, 1.0, size=(N, K)), RNG.uniform(0.1, 1.0, size=(K, M))
LOSSES = ["frobenius", "kullback-leibler"]
RUN = {"n_components": K, "init": START, "max_iter": 40, "tol": 0}


def fit_term(loss, weights=None):
    return Frobenius(weights) if loss == "frobenius" else BetaDivergence(loss, weights)


def assert_same_model(a, b, rtol=1e-6):
    """Equal up to what extrapolation makes of rounding errors."""
    for name in ("embedding_", "components_"):
        found, expected = getattr(a, name), getattr(b, name)
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-9 * expected.max(), err_msg=name)
    np.testing.assert_allclose(a.history_["objective"], b.history_["objective"], rtol=rtol)


@pytest.mark.parametrize("loss", LOSSES)
def test_hidden_digits_are_restored(loss):
    digits = load_digits().data[:500]
    hidden = np.random.RandomState(0).uniform(size=digits.shape) < 0.3
    holes = np.where(hidden, np.nan, digits)
    params = {"n_components": 8, "loss": loss, "init": "random", "random_state": 0, "max_iter": 150, "tol": 0}

    def error(restored):
        return np.sqrt(((restored - digits)[hidden] ** 2).mean())

    def restored(X, **more):
        model = NMF(**params, **more).fit(X)
        assert np.isfinite(model.embedding_).all()
        return model.inverse_transform(model.embedding_)

    by_mask = error(restored(holes, missing="nan"))
    assert by_mask < 0.9 * error(np.broadcast_to(np.nanmean(holes, axis=0), digits.shape))
    assert by_mask < 0.9 * error(restored(np.nan_to_num(holes)))


@pytest.mark.parametrize(
    "params",
    [{}, {"init": START}, {"init": "random"}, {"loss": "kullback-leibler"}],
    ids=["default", "arrays", "random", "divergence"],
)
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_nothing_hidden_is_plain_nmf_to_the_bit(params, container):
    params = {"n_components": K, "random_state": 0, "tol": 1e-3, **params}
    plain, masked = (NMF(missing=missing, **params).fit(container(X)) for missing in (None, "nan"))
    assert plain.solver_ == masked.solver_
    np.testing.assert_array_equal(plain.embedding_, masked.embedding_)
    np.testing.assert_array_equal(plain.components_, masked.components_)
    assert plain.history_["objective"] == masked.history_["objective"]
    np.testing.assert_array_equal(plain.transform(X), masked.transform(X))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weights", [MASK, MASK.astype(float), sp.csr_array(MASK.astype(float))], ids=type)
def test_a_mask_hides_what_nan_hides(weights, loss):
    holes = NMF(loss=loss, missing="nan", **RUN).fit(np.where(MASK, X, np.nan))
    masked = Factorization(terms=[fit_term(loss, weights)], **RUN).fit(X)
    assert holes.solver_ == masked.solver_ == ("newton" if loss == "kullback-leibler" else "coordinate")
    assert_same_model(masked, holes)


@pytest.mark.parametrize("loss", LOSSES)
def test_what_a_mask_hides_does_not_matter(loss):
    first, second = (
        Factorization(terms=[fit_term(loss, MASK)], **RUN).fit(np.where(MASK, X, other)) for other in (0.0, 77.0)
    )
    assert_same_model(first, second)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array, sp.coo_matrix])
def test_unstored_entries_are_missing_and_stored_zeros_are_not(make, loss):
    stored = sp.coo_array(MASK * X)
    stored.data[:5] = 0.0
    values = np.where(MASK, stored.toarray(), np.nan)
    unstored = NMF(loss=loss, missing="unstored", **RUN).fit(make(stored))
    assert_same_model(unstored, NMF(loss=loss, missing="nan", **RUN).fit(values))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_matrix])
def test_nan_stored_in_a_sparse_matrix(make, loss):
    """There, what is not stored is zero and only NaN is missing."""
    values = np.where(MASK, X * (X > 1), np.nan)
    models = [NMF(loss=loss, missing="nan", **RUN).fit(data) for data in (make(values), values)]
    assert_same_model(*models)


@pytest.mark.parametrize("loss", LOSSES)
def test_new_samples_with_holes(loss):
    """A hidden entry of a new sample does not matter either, and full samples are coded as ever."""
    params = {"n_components": K, "loss": loss, "random_state": 0, "init": "random", "max_iter": 50, "tol": 0}
    model = NMF(missing="nan", **params).fit(np.where(MASK, X, np.nan))
    exact = RNG.uniform(size=(6, K)) @ model.components_
    hidden = RNG.uniform(size=exact.shape) < 0.2
    codes = model.transform(np.where(hidden, np.nan, exact))
    np.testing.assert_allclose((codes @ model.components_)[hidden], exact[hidden], rtol=0.02, atol=0.02 * exact.max())


def test_element_weights_scale_the_error():
    """Weights of c everywhere are c times the objective and the same steps."""
    plain = Factorization(terms=[Frobenius()], solver="multiplicative", **RUN).fit(X)
    triple = Factorization(terms=[Frobenius(np.full(X.shape, 3.0))], solver="multiplicative", **RUN).fit(X)
    np.testing.assert_allclose(triple.components_, plain.components_, rtol=1e-10)
    np.testing.assert_allclose(triple.history_["objective"], 3 * np.array(plain.history_["objective"]), rtol=1e-10)


COUNTS = np.random.RandomState(1).randint(0, 4, size=N)
REPEATED = np.repeat(np.arange(N), COUNTS)


@pytest.mark.parametrize("scale", ["auto", None])
@pytest.mark.parametrize("penalty", [None, L1(0.5), L2(0.5), L1(0.5, "components")], ids=repr)
@pytest.mark.parametrize(
    ("loss", "solver"),
    [("frobenius", "coordinate"), ("holes", "coordinate"), *((loss, "multiplicative") for loss in (*LOSSES, "holes"))],
)
def test_integer_weights_are_repeated_samples(loss, penalty, scale, solver):
    data = np.where(MASK, X, np.nan) if loss == "holes" else X
    terms = [fit_term("frobenius" if loss == "holes" else loss), *([] if penalty is None else [penalty])]
    params = {**RUN, "terms": terms, "solver": solver, "scale": scale, "missing": "nan" if loss == "holes" else None}
    if solver == "coordinate":
        # Near the minimum rounding decides whether an extrapolation is kept, and the paths part.
        params["max_iter"] = 8
    weighted = Factorization(**params).fit(data, sample_weight=COUNTS)
    repeated = Factorization(**params).set_params(init=(START[0][REPEATED], START[1])).fit(data[REPEATED])
    np.testing.assert_allclose(weighted.history_["objective"], repeated.history_["objective"], rtol=1e-10)
    np.testing.assert_allclose(
        weighted.components_, repeated.components_, rtol=1e-10, atol=1e-10 * repeated.components_.max()
    )
    seen = np.flatnonzero(COUNTS)
    codes = repeated.embedding_[np.searchsorted(REPEATED, seen)]
    np.testing.assert_allclose(weighted.embedding_[seen], codes, rtol=1e-10, atol=1e-10 * codes.max())


@pytest.mark.parametrize("loss", LOSSES)
def test_integer_weights_are_repeated_samples_under_label_constraints(loss):
    y = np.array([0, 1, -1, -1, 1] * 4)
    W = START[0] * 0 + np.where(y >= 0, y + 1.0, 0.5 + np.arange(N))[:, None]
    params = {**RUN, "loss": loss, "solver": "multiplicative"}
    weighted = ConstrainedNMF(**params).set_params(init=(W, START[1])).fit(X, y, sample_weight=COUNTS)
    repeated = ConstrainedNMF(**params).set_params(init=(W[REPEATED], START[1])).fit(X[REPEATED], y[REPEATED])
    np.testing.assert_allclose(weighted.history_["objective"], repeated.history_["objective"], rtol=1e-10)
    np.testing.assert_allclose(weighted.components_, repeated.components_, rtol=1e-9)

"""Every loss on data of which little is positive, known or weighted: a usable model, or a sentence; never NaN."""

import numpy as np
import pytest
import scipy.sparse as sp

from partwise import NMF, WeightedNMF

RNG = np.random.RandomState(0)
X = RNG.gamma(1.0, size=(20, 3)) @ RNG.gamma(0.5, size=(3, 8)) + 0.1
LOSSES = ("frobenius", "kullback-leibler", "itakura-saito", 0.5, 1.5)
NEED_POSITIVE = ("itakura-saito",)
HOW = {"random_state": 0, "max_iter": 15, "tol": 0}

pytestmark = pytest.mark.filterwarnings("ignore:Nothing is observed:UserWarning")


def as_stored(data):
    rows, columns = np.nonzero(~np.isnan(data))
    return sp.csr_array((data[rows, columns], (rows, columns)), shape=data.shape)


FORMS = {
    "dense": (np.array, None),
    "sparse": (sp.csr_array, None),
    "nan": (np.array, "nan"),
    "sparse nan": (sp.csr_array, "nan"),
    "unstored": (as_stored, "unstored"),
}
EVERY_FORM = pytest.mark.parametrize("form", FORMS)
EVERY_LOSS = pytest.mark.parametrize("loss", LOSSES)
EVERY_LOSS_OF_NMF = pytest.mark.parametrize("loss", [*LOSSES, 3, "huber", "l1", "negative-binomial"])


def changed(place, value, data=X):
    data = data.copy()
    data[place] = value
    return data


ZEROS = {
    "an entry": changed((4, 3), 0),
    "a row": changed(4, 0),
    "a column": changed((slice(None), 2), 0),
}
UNKNOWN = {
    "all but a zero of a row": changed((4, 3), 0, changed(4, np.nan)),
    "all but a zero of a column": changed((4, 3), 0, changed((slice(None), 3), np.nan)),
    "a row and a column": changed(4, np.nan, changed((slice(None), 2), np.nan)),
}


def usable(model, data):
    """Fit, and find everything finite and no rise."""
    model.fit(data)
    objective = np.array(model.history_["objective"])
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(model.components_).all()
    assert np.isfinite(objective).all()
    assert (np.diff(objective) <= 1e-5 * objective[0]).all()
    return model


def check(loss, form, cases, is_zero):
    """All cases in a fit and, the last one, as new samples."""
    make, missing = FORMS[form]
    for what, data in cases.items():
        model = NMF(2, loss=loss, missing=missing, **HOW)
        if loss in NEED_POSITIVE and is_zero(what):
            with pytest.raises(ValueError, match="is infinite where X is zero"):
                model.fit(make(data))
        else:
            usable(model, make(data))
    model = NMF(2, loss=loss, missing=missing, **HOW).fit(make(X))
    if loss in NEED_POSITIVE and is_zero(what):
        for act in (model.transform, model.score, model.predict):
            with pytest.raises(ValueError, match="is infinite where X is zero"):
                act(make(data))
    else:
        assert np.isfinite(model.transform(make(data))).all()
        assert np.isfinite(model.score(make(data)))


@EVERY_FORM
@EVERY_LOSS_OF_NMF
def test_rows_and_columns_without_a_positive_entry(loss, form):
    check(loss, form, ZEROS, lambda what: True)


@pytest.mark.parametrize("form", ["nan", "sparse nan", "unstored"])
@EVERY_LOSS_OF_NMF
def test_rows_and_columns_with_nothing_positive_known(loss, form):
    check(loss, form, UNKNOWN, lambda what: "zero" in what)


def test_positive_data_may_be_sparse():
    model = usable(NMF(2, loss="itakura-saito", **HOW), sp.csr_array(X))
    assert model.score(sp.csr_array(X)) == pytest.approx(model.score(X), rel=1e-5)


@EVERY_FORM
@EVERY_LOSS
def test_weights_that_hide_rows_columns_and_zeros(loss, form):
    make, missing = FORMS[form]
    V = RNG.uniform(0.2, 1, size=X.shape)
    hidden = changed((slice(None), 1), 0, changed(6, 0, V))
    for weights in (V, hidden, sp.csr_array(np.where(V < 0.8, 0, hidden))):
        data = changed((6, 3), 0) if weights is not V else X
        usable(WeightedNMF(2, loss=loss, weights=weights, missing=missing, **HOW), make(data))


@EVERY_FORM
@EVERY_LOSS
def test_bad_weights(loss, form):
    make, missing = FORMS[form]
    for weights, message in (
        (np.zeros_like(X), "Nothing of X is observed"),
        (sp.csr_array(X.shape), "Nothing of X is observed"),
        (changed((3, 3), -1.0), "finite and non-negative"),
        (changed((3, 3), np.nan), "finite and non-negative"),
        (changed((3, 3), np.inf), "finite and non-negative"),
    ):
        with pytest.raises(ValueError, match=message):
            WeightedNMF(2, loss=loss, weights=weights, missing=missing, **HOW).fit(make(X))


SPREAD = (10.0 ** np.random.RandomState(0).uniform(-16, -3, size=(60, 40))).astype(np.float32)


@pytest.mark.filterwarnings("ignore:.*encountered in.*:RuntimeWarning")
def test_powers_that_overflow_are_no_objective_of_zero():
    model = NMF(3, loss=-1, random_state=0, max_iter=60, tol=0).fit(SPREAD)
    assert np.isfinite(model.embedding_).all()
    assert model.history_["objective"][-1] > 0


@pytest.mark.filterwarnings("ignore:.*encountered in.*:RuntimeWarning")
def test_powers_that_overflow_at_the_start_are_refused():
    with pytest.raises(ValueError, match="not finite in float32"):
        NMF(3, loss=-5, random_state=0).fit(SPREAD)

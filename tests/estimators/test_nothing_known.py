"""Data of which nothing is known, or samples and features of which nothing is: an error, or zeros and a warning."""

import numpy as np
import pytest
import scipy.sparse as sp

from partwise import NMF, Factorization
from partwise.terms import Frobenius, NeighborGraph
from partwise.testing import all_estimators

RNG = np.random.RandomState(0)
X = RNG.gamma(1.0, size=(30, 3)) @ RNG.gamma(0.5, size=(3, 8)) + 0.1
HOLES = X.copy()
HOLES[3], HOLES[:, 2] = np.nan, np.nan
TAKE_MISSING = {name: kind for name, kind in all_estimators().items() if "missing" in kind().get_params()}


def as_stored(data):
    """What is known, as the stored entries of a sparse matrix."""
    rows, columns = np.nonzero(~np.isnan(data))
    return sp.coo_array((data[rows, columns], (rows, columns)), shape=data.shape)


FORMS = {"nan": np.array, "sparse nan": sp.csr_array, "unstored": as_stored}
EVERY = pytest.mark.parametrize("form", FORMS)
ESTIMATORS = pytest.mark.parametrize("name", TAKE_MISSING)


def estimator(name, form, **parameters):
    if name == "GroupNMF":
        parameters["n_group_components"] = 0
    return TAKE_MISSING[name](2, missing=form.split()[-1], random_state=0, max_iter=10, tol=0, **parameters)


@EVERY
@ESTIMATORS
def test_no_fit_without_a_known_entry(name, form):
    nothing = FORMS[form](np.full((5, 4), np.nan))
    for init in ("auto", "random"):
        with pytest.raises(ValueError, match="X has no known entry"):
            estimator(name, form, init=init).fit(nothing)


def test_no_choice_without_a_known_entry():
    with pytest.raises(ValueError, match="X has no known entry"):
        NMF("auto", missing="nan").fit(np.full((20, 4), np.nan))


@EVERY
@ESTIMATORS
def test_unknown_samples_and_features_of_a_fit_are_zero(name, form):
    with pytest.warns(UserWarning, match="Nothing is observed of 1") as caught:
        model = estimator(name, form).fit(FORMS[form](HOLES))
    said = [str(warning.message) for warning in caught]
    assert any("samples (3)" in text for text in said)
    assert any("features (2)" in text for text in said)
    assert not model.embedding_[3].any()
    assert not model.components_[:, 2].any()
    assert np.isfinite(model.embedding_).all()


@EVERY
@ESTIMATORS
def test_unknown_new_samples_are_zero_alone_and_among_others(name, form):
    model = estimator(name, form).fit(FORMS[form](X))
    new, alone = FORMS[form](HOLES[:6]), FORMS[form](HOLES[3:4])
    with pytest.warns(UserWarning, match=r"Nothing is observed of 1 samples \(3\)"):
        codes = model.transform(new)
    with pytest.warns(UserWarning, match=r"Nothing is observed of 1 samples \(0\)"):
        single = model.transform(alone)
    assert not codes[3].any()
    assert codes[[0, 1, 2, 4, 5]].any(axis=1).all()
    np.testing.assert_array_equal(single, codes[3:4])
    with pytest.warns(UserWarning, match="Nothing is observed"):
        assert model.predict(new)[3] == model.predict(alone)[0]


@EVERY
@ESTIMATORS
def test_unknown_samples_have_no_loss(name, form):
    model = estimator(name, form).fit(FORMS[form](X))
    others = model.score(FORMS[form](np.delete(HOLES, 3, axis=0)))
    assert model.score(FORMS[form](HOLES)) == pytest.approx(others * 29 / 30)
    with pytest.raises(ValueError, match="X has no known entry"):
        model.score(FORMS[form](HOLES[3:4]))


@EVERY
def test_a_robust_loss_gives_zeros_too(form):
    with pytest.warns(UserWarning, match="Nothing is observed of 1"):
        model = estimator("NMF", form, loss="huber").fit(FORMS[form](HOLES))
    assert not model.embedding_[3].any()
    assert not model.components_[:, 2].any()


def test_links_code_a_sample_of_which_nothing_is_known():
    chain, data = np.diag(np.ones(29), 1), X.copy()
    data[3] = np.nan
    model = Factorization(3, terms=[Frobenius(), NeighborGraph(1.0, graph=chain + chain.T)], missing="nan", max_iter=20)
    with pytest.warns(UserWarning, match="only the penalties determine"):
        model.set_params(tol=0, random_state=0).fit(data)
    assert model.embedding_[3].any()

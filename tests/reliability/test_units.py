"""Data beyond what squares can hold give the answer of ordinary data, in their own unit."""

import warnings

import numpy as np
import powers
import pytest
import scipy.sparse as sp
from cases import CASES, X, Y, assert_same, small, told
from sklearn.base import clone

import partwise
from partwise import NMF, CauchyNMF, GraphNMF, LatentSemanticKMeans, LocalCoordinateNMF, LocalLearningNMF, NormalizedCut
from partwise.core.units import scaled
from partwise.testing import all_estimators

# Strengths that no number in the other unit can stand for.
ABSOLUTE = (*powers.ABSOLUTE, "NMF penalties", "LocalLearningNMF unit codes", "LocalCoordinateNMF Kullback-Leibler")
ABSOLUTE += ("NMF fixed", "GraphNMF fixed", "NMF negative binomial")
ALL = CASES | {name: (kind(), X) for name, kind in all_estimators().items() if name not in CASES}
POWERS = {"1e300": 998, "1e-200": -664}


def ordinary(data):
    """The data at a size of order one, at which others are fitted too."""
    largest = np.nanmax(np.abs(data.data if sp.issparse(data) else data))
    return scaled(data, -2 * ((int(np.frexp(largest)[1]) - 1) // 2))


def quick(estimator):
    quicker = {"max_iter": 4, "tol": 0.0} if hasattr(estimator, "max_iter") else {}
    return small(estimator, **quicker)


def fit(estimator, data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return clone(estimator).fit(data, Y, **told(estimator, data))


@pytest.mark.parametrize("power", POWERS.values(), ids=POWERS.keys())
@pytest.mark.parametrize("name", [name for name in ALL if name not in ABSOLUTE])
def test_same_answer(name, power):
    estimator, data = ALL[name]
    if data.dtype == np.float32:
        power = 96 if power > 0 else -96
    data = ordinary(data)
    estimator, extreme = quick(estimator), scaled(data, power)
    here, there = fit(estimator, data), fit(estimator, extreme)
    if hasattr(here, "history_"):
        assert_same_fit(there, here)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        np.testing.assert_array_equal(there.labels_, here.labels_)
    for attribute in ("embedding_", "components_", "dual_components_", "association_"):
        if hasattr(here, attribute):
            assert_powers_of_two(getattr(there, attribute), getattr(here, attribute))
    if hasattr(here, "transform"):
        assert_powers_of_two(there.transform(extreme[:5]), here.transform(data[:5]))
        np.testing.assert_array_equal(there.predict(extreme[:5]), here.predict(data[:5]))
    if hasattr(here, "components_") and here.components_.shape[1] == data.shape[1] and "cosine" not in name:
        product, expected = there.embedding_ @ there.components_, here.embedding_ @ here.components_
        np.testing.assert_allclose(scaled(product, -power), expected, rtol=1e-5, atol=1e-6)


def assert_same_fit(there, here):
    """The same sweeps, in another unit."""
    assert there._unit.exponent
    for name in here.history_.keys() - {"time"}:
        inside = scaled(np.array(there.history_[name]), -there._unit.history)
        np.testing.assert_array_equal(inside, here.history_[name])
    np.testing.assert_array_equal(there._assignment.codes, here._assignment.codes)
    assert (there.n_iter_, there.stop_reason_) == (here.n_iter_, here.stop_reason_)


def assert_powers_of_two(there, here):
    """Equal up to one power of two, and finite; the smallest entries may run out of digits."""
    assert np.isfinite(there).all()
    exponent = int(np.round(np.log2(float(np.abs(there).max())) - np.log2(float(np.abs(here).max()))))
    atol = float(np.finfo(there.dtype).smallest_subnormal)
    np.testing.assert_allclose(there, scaled(here, exponent), rtol=0, atol=atol)


@pytest.mark.parametrize("name", ABSOLUTE)
@pytest.mark.parametrize("power", [664, -664])
def test_parameters_with_a_unit_are_not_reinterpreted(name, power):
    estimator, data = ALL[name]
    with pytest.raises(ValueError, match=r"Scale X so that .* Another unit is not chosen for you because"):
        fit(quick(estimator), scaled(data, power))


@pytest.mark.parametrize(
    ("estimator", "names"),
    [
        (NMF(l1_codes=0.1), {"l1_codes": 1}),
        (NMF(loss="negative-binomial", dispersion=0.5), {"dispersion": -1}),
        (NMF(l2_codes=0.1, loss="kullback-leibler"), {"l2_codes": -1}),
        (NMF(l1_components=0.1), {"l1_components": 1}),
        (NMF(l1_codes=0.1, l2_components=0.2), {"l1_codes": 1.5, "l2_components": 1}),
        (GraphNMF(graph_strength=10.0, scale=None), {"graph_strength": 1}),
        (NMF(l1_codes=0.1, weighting="ncut"), {"l1_codes": -1}),
        (GraphNMF(graph_strength=10.0, loss="kullback-leibler", init="random"), {"graph_strength": -1}),
        (GraphNMF(graph_strength=10.0, edge_weights="heat", bandwidth=0.3), {"bandwidth": 2}),
        (CauchyNMF(cauchy_scale=0.1), {"cauchy_scale": 1}),
        (LocalCoordinateNMF(coordinate_strength=0.1, loss="kullback-leibler"), {"coordinate_strength": -1}),
        (LocalCoordinateNMF(coordinate_strength=0.1, graph_strength=0.5), {"graph_strength": 2}),
        (LocalLearningNMF(local_strength=10.0, scale="codes"), {"local_strength": 2}),
        (LocalLearningNMF(local_strength=10.0, kernel="linear"), {"ridge": 2}),
        (NormalizedCut(edge_weights="heat", bandwidth=0.3), {"bandwidth": 2}),
        (partwise.KernelGraphNMF(kernel="linear", orthogonality=2.0), {"orthogonality": 2, "graph_strength": 2}),
        (partwise.KernelGraphNMF(bandwidth=0.5), {"bandwidth": 2}),
        (partwise.LocalSimilarityNMF(outlier_strength=0.5), {"outlier_strength": 1}),
    ],
    ids=str,
)
def test_parameters_in_the_unit_of_the_data_mean_the_same(estimator, names):
    """A strength that grows with the data as its unit does gives the same model."""
    # Half of the size that must be rescaled, so that powers of two fit; float32 leaves the room.
    power, data = 60, ordinary(X).astype(np.float32)
    estimator = quick(estimator)
    grown = {name: float(scaled(getattr(estimator, name), unit * power)) for name, unit in names.items()}
    here, there = fit(estimator, data), fit(clone(estimator).set_params(**grown), scaled(data, power))
    np.testing.assert_array_equal(scaled(there.embedding_, -powers.units(there).codes * power), here.embedding_)


def test_given_and_warm_starts_have_the_unit_of_the_data():
    data, power = ordinary(X), 664
    W, H = np.random.RandomState(0).uniform(size=(70, 4)), np.random.RandomState(1).uniform(size=(4, 15))
    here, there = (NMF(4, max_iter=3, tol=0.0, warm_start=True, random_state=0) for _ in range(2))
    here.set_params(init=(W, H)).fit(data)
    with pytest.warns(UserWarning, match="objective_ and history_ are those of X"):
        there.set_params(init=(scaled(W, power), H)).fit(scaled(data, power))
    assert_same_fit(there, here)
    with pytest.warns(UserWarning, match="objective_ and history_"):
        there.fit(scaled(data, power))
    assert_same_fit(there, here.fit(data))
    assert_same(there.set_params(warm_start=False, init="random", random_state=0).fit(data), clone(there).fit(data))


def test_objective_in_the_unit_of_the_data_where_it_has_a_number():
    data = ordinary(X).astype(np.float32)
    here, there = (NMF(4, max_iter=5, tol=0.0, random_state=0).fit(scaled(data, power)) for power in (0, 100))
    assert there.objective_ == here.objective_ * 2.0**200
    assert there.history_["objective"] == [value * 2.0**200 for value in here.history_["objective"]]


def test_terms_of_ones_own_are_not_reinterpreted():
    """Only its author knows which power of the unit its strength has."""

    class Own(partwise.terms.L1):
        def units(self, powers):
            return partwise.terms.Term.units(self, powers)

    model = partwise.Factorization(3, terms=[partwise.terms.Frobenius(), Own(0.1)], max_iter=3, tol=0.0)
    with pytest.raises(ValueError, match="because the strength of the term Own may have a unit"):
        model.fit(X * 1e200)


def test_functions_of_the_data_are_refused():
    def links(X):
        return np.ones((len(X), len(X)))

    with pytest.raises(ValueError, match="graph is a function, which would see X in another unit"):
        GraphNMF(4, graph_strength=10.0, graph=links).fit(X * 1e200)


@pytest.mark.parametrize("estimator", [NMF(3, max_iter=5, tol=0.0), LatentSemanticKMeans(3)], ids=["NMF", "LSK"])
def test_new_samples_of_another_size_are_refused(estimator):
    with pytest.raises(ValueError, match="fitted to data of ordinary size"):
        clone(estimator).fit(X).transform(X * 1e200)
    model = fit(estimator, X * 1e200)
    with pytest.raises(ValueError, match="fitted to data of about"):
        model.transform(X)


@pytest.mark.parametrize("name", ["NMF", "GraphNMF", "KernelGraphNMF", "OrthogonalTriNMF", "SemiNMF"])
def test_saved_models_keep_the_unit(name, tmp_path):
    estimator, data = CASES[name]
    model = fit(quick(estimator), data * 1e200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model.save(tmp_path / "model.npz")
    loaded = partwise.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.transform(data[:9] * 1e200), model.transform(data[:9] * 1e200))
    np.testing.assert_array_equal(loaded.predict(data[:9] * 1e200), model.predict(data[:9] * 1e200))


@pytest.mark.filterwarnings("ignore:The objective of data of this size")
def test_codes_that_do_not_fit_share_their_size_with_the_components():
    data, model = ordinary(X), NMF(4, max_iter=4, tol=0.0, random_state=0)
    here = clone(model).fit(data)
    with pytest.warns(UserWarning, match="codes of data of this size do not fit into float64"):
        there = clone(model).fit(scaled(data, 1020))
    assert np.isfinite(there.embedding_).all()
    product = scaled(there.embedding_, -1020) @ there.components_
    np.testing.assert_allclose(product, here.embedding_ @ here.components_, rtol=1e-12)


@pytest.mark.parametrize("name", [name for name in ALL if name not in ABSOLUTE])
def test_subnormal_numbers(name):
    """Numbers that have lost most of their digits still have a model, about the same."""
    estimator, data = ALL[name]
    data = ordinary(data).astype(np.float64)
    estimator, tiny = quick(estimator), scaled(data, -1050)
    model = fit(estimator, tiny)
    assert np.isfinite(model.embedding_).all()
    assert model.embedding_.any()
    digits = fit(estimator, scaled(tiny, 1050))
    np.testing.assert_array_equal(model._assignment.codes, digits._assignment.codes)

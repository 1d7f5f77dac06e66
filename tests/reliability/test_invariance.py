"""The unit of X does not change the model: fit(c · X), with parameters in the same unit, is c times fit(X).

To the bit if c is a power of four, whose square root, in which starts grow, is a power of two; to rounding otherwise.
"""

import warnings
from numbers import Real

import numpy as np
import pytest
import scipy.sparse as sp
from cases import CASES, HOLES, SPARSE, X, Y, small, told
from powers import ABSOLUTE, units
from sklearn.base import clone
from sklearn.datasets import load_digits

from partwise import (
    NMF,
    CauchyNMF,
    ConceptFactorization,
    ConstrainedNMF,
    Factorization,
    GraphNMF,
    LocalCoordinateNMF,
    LocalLearningNMF,
    WeightedNMF,
)
from partwise.core.units import Unscalable
from partwise.terms import BetaDivergence
from partwise.testing import all_estimators

STARTS = ("random", "nndsvd", "nndsvda", "kmeans", "sampled")
# At β of whole and half numbers c^β is a power of two as well.
BETAS = ("kullback-leibler", "itakura-saito", -1.0, 0.5, 1.5, 3.0)
POSITIVE = X + 0.05
EMPTY = np.vstack([X[:-2], np.zeros((2, X.shape[1]))])
VARIANTS = {
    "heat edges": (GraphNMF(graph_strength=10.0, edge_weights="heat", metric="euclidean"), X),
    "heat edges of a bandwidth": (GraphNMF(graph_strength=10.0, edge_weights="heat", bandwidth=0.3), X),
    "GraphNMF float32": (GraphNMF(graph_strength=10.0), X.astype(np.float32)),
    "spectral start": (LocalLearningNMF(local_strength=10.0, init="spectral"), X),
    "local learning by rbf": (LocalLearningNMF(local_strength=10.0, kernel="rbf"), X),
    "local learning by products": (LocalLearningNMF(local_strength=10.0, kernel="linear"), X),
    "concepts, free": (ConceptFactorization(scale=None), X),
    "classes, Kullback-Leibler": (ConstrainedNMF(loss="kullback-leibler"), X),
    "classes, 1.5": (ConstrainedNMF(loss=1.5), X),
    "classes, free": (ConstrainedNMF(scale=None), X),
    "ncut with empty samples": (NMF(loss=1.5, weighting="ncut"), EMPTY),
    "ncut, sparse": (NMF(loss="kullback-leibler", weighting="ncut"), sp.csr_array(EMPTY)),
    "weights, free": (WeightedNMF(scale=None, missing="nan"), HOLES),
    "Cauchy, free": (CauchyNMF(scale=None), X),
    "local learning, free": (LocalLearningNMF(local_strength=10.0, scale=None), X),
    "terms, free": (Factorization(terms=[BetaDivergence(1.5)], scale=None), X),
    "ridge on the codes": (NMF(l1_codes=0.01, l2_codes=0.1), X),
    "lasso on the components": (NMF(l1_components=0.1), X),
    "lasso, Kullback-Leibler": (NMF(l1_components=0.1, loss="kullback-leibler"), SPARSE),
    "coordinates and a graph": (LocalCoordinateNMF(coordinate_strength=0.1, graph_strength=0.5), X),
}
for init in STARTS:
    VARIANTS |= {f"{init}, β {loss}": (NMF(init=init, loss=loss), POSITIVE) for loss in BETAS}
    VARIANTS |= {
        f"{init}, multiplicative": (GraphNMF(graph_strength=10.0, init=init, solver="multiplicative"), X),
        f"{init}, graph, Kullback-Leibler": (GraphNMF(graph_strength=10.0, init=init, loss="kullback-leibler"), X),
        f"{init}, float32": (NMF(init=init), X.astype(np.float32)),
        f"{init}, free": (GraphNMF(graph_strength=10.0, init=init, scale=None), X),
        f"{init}, both penalised": (NMF(init=init, l1_codes=0.1, l2_components=0.2), X),
        f"{init}, coordinates": (LocalCoordinateNMF(coordinate_strength=0.1, init=init), X),
        f"{init}, local learning": (LocalLearningNMF(local_strength=10.0, init=init), X),
    }
# Choices follow the unit, bit for bit; ties between values that rounding decides have none.
CHOOSING = {
    "chosen, Kullback-Leibler": (GraphNMF(loss="kullback-leibler"), X),
    "chosen, free": (GraphNMF(scale=None), X),
    "chosen, unit codes": (LocalLearningNMF(scale="codes"), X),
    "chosen, coordinates and a graph": (LocalCoordinateNMF(coordinate_strength=0.1, graph_strength="auto"), X),
    **{name: case for name, case in CASES.items() if name.endswith("auto")},
}
OTHERS = {name: (kind(), X) for name, kind in all_estimators().items() if name not in CASES}
ALL = CASES | OTHERS | VARIANTS | CHOOSING
FITTED = [name for name in ALL if name not in ABSOLUTE]


def fit(estimator, data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(estimator).fit(data, Y, **told(estimator, data))


def times(data, c):
    return c * data if sp.issparse(data) else data.dtype.type(c) * data


def in_unit(estimator, c):
    """The estimator with its parameters for c · X."""
    powers = units(estimator).parameters
    given = {name: getattr(estimator, name) for name, power in powers.items() if power}
    return clone(estimator).set_params(
        **{
            name: float(value) * c ** powers[name]
            for name, value in given.items()
            if isinstance(value, Real) and not isinstance(value, bool)
        }
    )


def pairs(here, there, c, data):
    """All numbers of a model and of that of c · X, the former in the unit of the latter."""
    expected = units(here)
    for name, power in expected.factors.items():
        if getattr(here, name, None) is not None:
            yield name, np.asarray(getattr(here, name)) * c**power, getattr(there, name)
    if hasattr(here, "history_"):
        for name in here.history_.keys() - {"time"}:
            yield name, np.array(here.history_[name]) * c**expected.objective, there.history_[name]
    # Multiplicative steps code new samples in thousands of passes.
    if hasattr(here, "transform") and getattr(here, "solver_", None) != "multiplicative":
        yield "transform", here.transform(data[:9]) * c**expected.codes, there.transform(times(data, c)[:9])


@pytest.mark.parametrize("name", FITTED)
def test_a_power_of_four_changes_no_digit(name):
    estimator, data = ALL[name]
    estimator = small(estimator, **({"max_iter": 40} if hasattr(estimator, "max_iter") else {}))
    c = 2.0 ** (10 if data.dtype == np.float32 else 60 if name in CASES else -60)
    here, there = fit(estimator, data), fit(in_unit(estimator, c), times(data, c))
    assert not hasattr(there, "n_iter_") or there.n_iter_ == here.n_iter_
    for _, one, other in pairs(here, there, c, data):
        np.testing.assert_array_equal(other, one)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_array_equal(there.labels_, here.labels_)


@pytest.mark.parametrize("name", [name for name in FITTED if name not in CHOOSING])
def test_any_other_unit_changes_rounding_alone(name):
    """After a few sweeps: minimisation amplifies whatever rounding begins."""
    estimator, data = ALL[name]
    estimator = small(estimator, **({"max_iter": 3, "tol": 0.0} if hasattr(estimator, "max_iter") else {}))
    c, rounding = 3.7, 1e-2 if data.dtype == np.float32 else 1e-6
    here, there = fit(estimator, data), fit(in_unit(estimator, c), times(data, c))
    for attribute, one, other in pairs(here, there, c, data):
        np.testing.assert_allclose(other, one, rtol=0, atol=rounding * np.abs(one).max(), err_msg=attribute)


@pytest.mark.parametrize("name", ABSOLUTE)
def test_what_has_no_unit_of_its_own_says_so(name):
    with pytest.raises(Unscalable):
        ALL[name][0]._unit_for(2, np.float64)


@pytest.mark.parametrize("kind", [NMF, GraphNMF])
def test_digits_in_any_unit(kind):
    """Pixels from 0 to 1, from 0 to 16 and from 0 to 10¹⁹ make one model."""
    digits = load_digits().data[:300]
    here, *others = (kind(10, random_state=0).fit(c * digits) for c in (1.0, 1 / 16, 4.0**30))
    for c, there in zip((1 / 16, 4.0**30), others, strict=True):
        np.testing.assert_array_equal(there.embedding_, c * here.embedding_)
        np.testing.assert_array_equal(there.labels_, here.labels_)
        assert there.objective_ == c**2 * here.objective_
    # Rounding may tip a choice between strengths that are nearly as good, so this one is given.
    given = {} if kind is NMF else {"graph_strength": 10.0}
    here, bytes_ = (kind(10, random_state=0, **given).fit(c * digits) for c in (1.0, 255 / 16))
    assert bytes_.objective_ == pytest.approx((255 / 16) ** 2 * here.objective_, rel=1e-3)


@pytest.mark.parametrize(("dtype", "power"), [(np.float64, 250), (np.float32, 30)])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("name", ["NMF", "GraphNMF", "random, β itakura-saito", "NMF multiplicative", "random, free"])
def test_both_sides_of_the_limit_of_rescaling_agree(name, dtype, power, sign):
    """Data that can be used as they are, and data so large or small that they are fitted in another unit."""
    estimator, data = ALL[name]
    estimator, data = small(estimator, max_iter=20), data.astype(dtype)
    models = []
    for step in range(power - 12, power + 12, 4):
        c = 2.0 ** (sign * step)
        model = fit(in_unit(estimator, c), times(data, c))
        models.append((c, model))
    rescaled = [model._unit.exponent != 0 for _, model in models]
    assert rescaled == sorted(rescaled)
    assert set(rescaled) == {False, True}
    codes = [model.embedding_ / c ** units(estimator).codes for c, model in models]
    for others in codes[1:]:
        np.testing.assert_array_equal(others, codes[0])

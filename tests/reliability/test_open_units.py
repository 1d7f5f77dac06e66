"""Open parameters on data of any size: the same values are tried and chosen, and reported in the unit of the data."""

import warnings

import numpy as np
import pytest
from cases import X
from powers import units
from sklearn.base import clone

from partwise import NMF, GraphNMF, LocalCoordinateNMF, LocalLearningNMF, WeightedNMF
from partwise.core.units import scaled
from partwise.testing import all_estimators

SELECTABLE = {(kind.__name__, name) for kind in all_estimators().values() for name in getattr(kind, "_selectable", {})}
# One per parameter that can be chosen; the others have numbers.
NUMBERS = {
    "graph_strength": 1.0,
    "local_strength": 1.0,
    "coordinate_strength": 0.1,
    "n_neighbors": 4,
    "n_components": 3,
}
# Powers of the unit that the values have, by the method and its setting.
OPEN = {
    "NMF n_components": (NMF(), "n_components", 0),
    "WeightedNMF n_components": (WeightedNMF(), "n_components", 0),
    "GraphNMF n_components": (GraphNMF(), "n_components", 0),
    "GraphNMF n_neighbors": (GraphNMF(), "n_neighbors", 0),
    "GraphNMF graph_strength": (GraphNMF(), "graph_strength", 0),
    "GraphNMF graph_strength, free": (GraphNMF(scale=None), "graph_strength", 1),
    "GraphNMF graph_strength, Kullback-Leibler": (GraphNMF(loss="kullback-leibler"), "graph_strength", -1),
    "LocalLearningNMF n_components": (LocalLearningNMF(), "n_components", 0),
    "LocalLearningNMF n_neighbors": (LocalLearningNMF(), "n_neighbors", 0),
    "LocalLearningNMF local_strength": (LocalLearningNMF(), "local_strength", 0),
    "LocalLearningNMF local_strength, unit codes": (LocalLearningNMF(scale="codes"), "local_strength", 2),
    "LocalCoordinateNMF n_components": (LocalCoordinateNMF(), "n_components", 0),
    "LocalCoordinateNMF n_neighbors": (LocalCoordinateNMF(), "n_neighbors", 0),
    "LocalCoordinateNMF coordinate_strength": (LocalCoordinateNMF(), "coordinate_strength", 0),
    "LocalCoordinateNMF coordinate_strength, Kullback-Leibler": (
        LocalCoordinateNMF(loss="kullback-leibler"),
        "coordinate_strength",
        -1,
    ),
    "LocalCoordinateNMF graph_strength": (LocalCoordinateNMF(), "graph_strength", 2),
}
LISTS = {
    "coordinate_strength": [0.01, 0.1, 1.0],
    "n_components": [2, 3, 4],
    "n_neighbors": (3, 6),
    "strength": [0.0, 0.1, 2.0],
}
# Within what can be used as it is, and beyond it: 2^±100 is 1e±30, 2^±50 is 1e±15.
POWERS = {
    "auto": [(np.float64, 100), (np.float32, 50), (np.float32, -50)],
    "list": [(np.float64, -100), (np.float32, 24), (np.float32, -50)],
}


def opened(estimator, name, value):
    """The estimator with one open parameter and few sweeps."""
    fixed = {other: number for other, number in NUMBERS.items() if other in estimator.get_params()}
    return clone(estimator).set_params(**{**fixed, name: value}, max_iter=5, random_state=0)


def in_unit(estimator, power):
    """The estimator with its parameters for X · 2^power."""
    given = {name: (getattr(estimator, name), unit * power) for name, unit in units(estimator).parameters.items()}
    return clone(estimator).set_params(
        **{
            name: scaled(np.asarray(value, float), exponent).tolist()
            for name, (value, exponent) in given.items()
            if exponent and value is not None and not isinstance(value, str)
        }
    )


def fit(estimator, data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(estimator).fit(data)


def test_every_parameter_that_can_be_chosen_is_here():
    assert {(type(estimator).__name__, name) for estimator, name, _ in OPEN.values()} == SELECTABLE


@pytest.mark.parametrize("given", ["auto", "list"])
@pytest.mark.parametrize("case", OPEN)
def test_what_is_chosen_follows_the_unit(case, given):
    estimator, name, unit = OPEN[case]
    estimator = opened(estimator, name, "auto" if given == "auto" else LISTS.get(name, LISTS["strength"]))
    data = {dtype: X[::2].astype(dtype) for dtype in (np.float64, np.float32)}
    models = {dtype: fit(estimator, data[dtype]) for dtype in data}
    for dtype, power in POWERS[given]:
        here, there = models[dtype], fit(in_unit(estimator, power), scaled(data[dtype], power))
        assert there.embedding_.dtype == dtype
        assert np.isfinite(there.embedding_).all()
        chosen = there.selection_.choice[name]
        assert chosen == float(scaled(float(here.selection_.choice[name]), unit * power))
        for one, other in zip(here.selection_.paths, there.selection_.paths, strict=True):
            np.testing.assert_array_equal(other.values, scaled(one.values.astype(float), unit * power))
            assert other.chosen == chosen
            for criterion, values in one.criteria.items():
                np.testing.assert_allclose(other.criteria[criterion], values, atol=1e-9)
        np.testing.assert_array_equal(there.labels_, here.labels_)


def test_a_graph_of_one_strength_beside_coordinates_that_may_vanish():
    """Its unit would change along the path: "auto" leaves out 0, and a list with 0 holds for one unit of X only."""
    estimator = LocalCoordinateNMF(3, coordinate_strength="auto", graph_strength=0.5, max_iter=5, random_state=0)
    assert fit(estimator, X[::2]).selection_.paths[0].values.min() > 0
    estimator.set_params(graph_strength=0.0)
    assert fit(estimator, X[::2]).selection_.paths[0].values.min() == 0
    estimator.set_params(coordinate_strength=[0.0, 0.1], graph_strength=0.5)
    assert fit(estimator, X[::2]).selection_.paths[0].values.min() == 0
    with pytest.raises(ValueError, match="coordinate_strength may become 0, where graph_strength has another unit"):
        fit(estimator, X[::2] * 1e200)

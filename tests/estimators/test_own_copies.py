"""A fitted model is its own: whatever is done to the data, parameters and results later, it says the same."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from partwise import (
    ConceptFactorization,
    Factorization,
    GraphNMF,
    KernelGraphNMF,
    LocalLearningNMF,
    NormalizedCut,
    WeightedNMF,
    terms,
)
from partwise.core.state import State
from partwise.core.storage import as_operand
from partwise.graphs import neighbor_graph
from partwise.testing import all_estimators

RNG = np.random.RandomState(0)
X = RNG.gamma(1.0, size=(40, 3)) @ RNG.gamma(0.5, size=(3, 8)) + 0.1 * RNG.uniform(size=(40, 8))
X[X < 0.3] = 0
NEW = X[:12] * RNG.uniform(0.5, 1.5, size=(12, 8))
Y = np.where(np.arange(40) % 4 == 0, np.arange(40) % 3, -1)
QUICK = {"n_group_components": 0, "n_components": 3, "max_iter": 5, "tol": 0.0, "random_state": 0}
QUICK |= {"use_labels": True, "graph_strength": 10.0, "local_strength": 1.0, "coordinate_strength": 1.0}
W, H, P = RNG.uniform(size=(40, 3)), RNG.uniform(size=(3, 8)), RNG.uniform(size=(40, 3))
GRAPH = neighbor_graph(X, 4)

# Parameters that are arrays, rebuilt for every fit.
WITH_ARRAYS = {
    "init": lambda: Factorization(3, init=(W.copy(), H.copy())),
    "dual init": lambda: ConceptFactorization(3, init=(W.copy(), P.copy())),
    "sparse graph": lambda: GraphNMF(3, graph=GRAPH.copy()),
    "dense graph": lambda: GraphNMF(3, graph=GRAPH.toarray(), edge_weights="heat"),
    "graph to cut": lambda: NormalizedCut(3, graph=GRAPH.copy()),
    "graph beside a kernel": lambda: KernelGraphNMF(3, graph=GRAPH.copy()),
    "graph term": lambda: Factorization(3, terms=[terms.Frobenius(), terms.NeighborGraph(1.0, graph=GRAPH.copy())]),
    "weights": lambda: WeightedNMF(3, weights=(X > 0.2).astype(float)),
    "sparse weights": lambda: WeightedNMF(3, weights=sp.csr_array((X > 0.2).astype(float))),
    "weights of a term": lambda: Factorization(3, terms=[terms.Frobenius((X > 0.2).astype(float))]),
    "rbf predictors": lambda: LocalLearningNMF(3, kernel="rbf"),
    "landmarks": lambda: KernelGraphNMF(3, kernel="rbf", n_landmarks=10),
}
RECIPES = {**{name: kind for name, kind in all_estimators().items()}, **WITH_ARRAYS}
CONTAINERS = {"array": np.array, "csr_matrix": sp.csr_matrix}


def scramble(thing):
    """Overwrite whatever numbers are in it."""
    if sp.issparse(thing):
        thing.data[:] = thing.data[::-1] * 3 + 1
        thing.indices[:] = 0
    elif isinstance(thing, np.ndarray) and thing.dtype.kind in "fiu":
        thing[...] = np.arange(thing.size).reshape(thing.shape) % 7
    elif isinstance(thing, list | tuple):
        for part in thing:
            scramble(part)
    elif isinstance(thing, terms.Term):
        scramble(list(vars(thing).values()))


def fit(make, container):
    model = make()
    model.set_params(**{name: value for name, value in QUICK.items() if name in model.get_params()})
    data, y, weight = container(X), Y.copy(), np.linspace(0.5, 2, 40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(data, y, sample_weight=weight)
        except TypeError:
            model.fit(data, y)
    return model, [data, y, weight]


def answers(model):
    found = {"labels_": model.labels_}
    for name in ("transform", "predict", "score"):
        if hasattr(model, name):
            found[name] = getattr(model, name)(NEW)
    if hasattr(model, "classes_"):
        found |= {"transduction_": model.transduction_, "predict_classes": model.predict_classes(NEW)}
    return found


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("recipe", RECIPES)
def test_later_changes_do_not_reach_the_model(recipe, container):
    expected = answers(fit(RECIPES[recipe], CONTAINERS[container])[0])
    model, given = fit(RECIPES[recipe], CONTAINERS[container])
    scramble(given)
    scramble(list(model.get_params(deep=False).values()))
    results = {name: value for name, value in vars(model).items() if name.endswith("_") and not name.startswith("_")}
    # What transforms by definition.
    results.pop("components_", None)
    scramble(list(results.values()))
    for name, answer in answers(model).items():
        np.testing.assert_allclose(answer, expected[name], rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_labels_do_not_follow_the_components():
    expected = fit(GraphNMF, np.array)[0].labels_
    model, _ = fit(GraphNMF, np.array)
    scramble([model.components_, model.embedding_])
    np.testing.assert_array_equal(model.labels_, expected)


BOTH = [terms.Frobenius(), terms.NeighborGraph(1.0), terms.LocalLearning(1.0)]


def test_samples_are_copied_once_and_only_where_they_are_the_callers():
    model, (data, *_) = fit(lambda: Factorization(terms=BOTH), np.array)
    _, linked, predicted = model._coding
    assert not np.shares_memory(linked.samples, data)
    assert linked.samples is predicted.samples
    for lent in (False, True):
        operand = as_operand(X)
        operand.lent = lent
        state = State(operand, W, H.T)
        for term in BOTH[1:]:
            assert (term.bind(operand).for_new(state).samples is X) is not lent


def test_methods_that_need_no_samples_keep_none():
    """A fit by entries holds the data while it runs, and no longer."""
    holes = np.where(X == 0, np.nan, X)
    model = clone(WeightedNMF(3, missing="nan", max_iter=3, tol=0, random_state=0)).fit(holes)
    (loss,) = model._coding
    assert vars(loss) == {"beta": 2.0, "weights": None}

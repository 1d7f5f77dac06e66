"""Components that repeat: a penalty that grows with the square of the codes makes it pay to split a component."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.preprocessing import normalize

from partwise import NMF, GraphNMF, LocalLearningNMF
from partwise.exceptions import DuplicateComponentsWarning
from partwise.metrics import distinct_components
from partwise.selection import choice

X = normalize(load_digits(n_class=4).data[:160])


def values(W, H, **params):
    """The terms of the objective at these factors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GraphNMF(len(H), init=(W, H), max_iter=1, tol=0, **params).fit(X)
    return {name: course[0] for name, course in model.history_.items()}


@pytest.mark.parametrize("parts", [2, 3])
def test_equal_parts_fit_as_the_whole_and_pay_a_share_of_its_penalty(parts):
    rng = np.random.RandomState(0)
    W, H = rng.uniform(size=(160, 1)), rng.uniform(size=(1, 64))
    whole = values(W, H, graph_strength=5.0)
    split = values(np.repeat(W / parts, parts, axis=1), np.repeat(H, parts, axis=0), graph_strength=5.0)
    assert split["fit"] == pytest.approx(whole["fit"], rel=1e-9)
    assert split["graph"] == pytest.approx(whole["graph"] / parts, rel=1e-9)


@pytest.mark.parametrize(
    "model",
    [
        GraphNMF(12, graph_strength=100, random_state=0),
        LocalLearningNMF(12, local_strength=1e5, tol=0, max_iter=150, random_state=0),
    ],
    ids=["GraphNMF", "LocalLearningNMF"],
)
def test_a_fit_that_ends_so_warns(model):
    with pytest.warns(DuplicateComponentsWarning, match=r"\d of 12 components are distinct; .* a smaller strength"):
        model.fit(X)
    assert distinct_components(model.components_, 0.99) < 12


def test_merging_equal_components_raises_the_objective():
    with pytest.warns(DuplicateComponentsWarning):
        model = GraphNMF(12, graph_strength=100, random_state=0).fit(X)
    W, H = model.embedding_, model.components_
    i, j = np.unravel_index(np.argmax(np.triu(H @ H.T, 1)), (12, 12))
    merged = np.delete(W, j, axis=1)
    merged[:, i] += W[:, j]
    there = values(merged, np.delete(H, j, axis=0), graph_strength=100)
    assert there["fit"] == pytest.approx(model.history_["fit"][-1], rel=1e-3)
    assert there["objective"] > model.objective_


@pytest.mark.filterwarnings("error")
def test_fits_without_repeated_components_say_nothing():
    GraphNMF(4, random_state=0).fit(X)
    GraphNMF(4, graph_strength=1, random_state=0).fit(X)
    once = np.random.RandomState(0).uniform(size=(1, 64))
    start = np.eye(3)[np.arange(160) % 3] + 0.01, np.repeat(once, 3, axis=0) + 1e-6
    NMF(3, init=start, max_iter=1, tol=0).fit(X)


def test_of_clusterings_about_as_good_the_most_distinct_one_is_taken():
    loss = np.array([[0.9, 0.5], [0.016, 0.004], [0.0, 0.018], [0.3, 0.01]])
    distinct = np.array([[8, 8], [7, 6], [5, 7], [8, 6]])
    assert choice.best_place(loss, distinct) == (1, 0)
    assert choice.best_place(loss, np.full((4, 2), 8)) == (2, 0)
    # One that is clearly worse is not taken, however distinct its components are.
    assert choice.best_place(np.array([[0.2], [0.0]]), np.array([[8], [2]])) == (1, 0)


def test_distinct_components():
    assert distinct_components(np.eye(3)) == 3
    assert distinct_components([[1, 2], [2, 4], [2, 1], [0, 0]]) == 3
    assert distinct_components([[1, 2], [2, 1]], similarity=0.5) == 1

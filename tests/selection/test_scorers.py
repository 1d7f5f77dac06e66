"""`score`, and label-free scorers in scikit-learn's searches."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from partwise import NMF, Factorization, GraphNMF, LocalSimilarityNMF
from partwise.graphs import neighbor_graph
from partwise.selection import (
    get_scorer,
    modularity,
    neighbor_information,
    normalized_cut,
    scorer_names,
    silhouette,
)
from partwise.terms import L2

X, y = load_digits(n_class=3, return_X_y=True)
X, y = X[:120], y[:120]


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
def test_score_is_the_mean_loss_of_a_sample(make, loss):
    model = NMF(3, loss=loss, max_iter=30, tol=0, random_state=0).fit(make(X[:80]))
    new = X[80:]
    rebuilt = np.maximum(model.transform(make(new)) @ model.components_, 1e-12)
    if loss == "frobenius":
        losses = ((new - rebuilt) ** 2).sum(axis=1)
    else:
        losses = (np.where(new > 0, new * np.log(np.where(new > 0, new, 1) / rebuilt), 0) - new + rebuilt).sum(axis=1)
    weight = np.arange(40.0)
    assert model.score(make(new)) == pytest.approx(-losses.mean(), rel=1e-6)
    assert model.score(make(new), sample_weight=weight) == pytest.approx(-np.average(losses, weights=weight), rel=1e-6)


def test_score_of_known_entries_and_of_penalised_fits():
    holes = np.where(np.random.RandomState(0).uniform(size=X.shape) < 0.2, np.nan, X)
    model = NMF(3, missing="nan", max_iter=30, tol=0, random_state=0).fit(holes)
    losses = np.nansum((holes - model.transform(holes) @ model.components_) ** 2, axis=1)
    assert model.score(holes) == pytest.approx(-losses.mean(), rel=1e-6)
    graph = GraphNMF(3, graph_strength=50.0, max_iter=30, tol=0, random_state=0).fit(X)
    losses = ((X - graph.transform(X) @ graph.components_) ** 2).sum(axis=1)
    assert graph.score(X) == pytest.approx(-losses.mean(), rel=1e-9)
    weights = np.random.RandomState(0).uniform(size=X.shape)
    from partwise.terms import Frobenius

    weighted = Factorization(3, terms=[Frobenius(weights)], max_iter=10, tol=0, random_state=0).fit(X)
    losses = ((X - weighted.transform(X) @ weighted.components_) ** 2).sum(axis=1)
    assert weighted.score(X) == pytest.approx(-losses.mean(), rel=1e-6)


def test_score_of_components_made_of_samples():
    model = LocalSimilarityNMF(3, kernel="cosine", max_iter=10, tol=0, random_state=0).fit(X)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    losses = ((unit - model.transform(X) @ model.components_) ** 2).sum(axis=1)
    assert model.score(X) == pytest.approx(-losses.mean(), rel=1e-9)


@pytest.mark.filterwarnings("ignore:.*not used by any sample:UserWarning")
def test_score_in_the_space_of_a_kernel():
    common = {"max_iter": 5, "tol": 0, "random_state": 0}
    model = LocalSimilarityNMF(3, kernel="rbf", bandwidth=2.0, n_landmarks=1000, **common).fit(X)
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / 2.0)
    W, P = model.transform(X), model.dual_components_.T
    losses = 1 - 2 * ((K @ P) * W).sum(axis=1) + ((W @ (P.T @ K @ P)) * W).sum(axis=1)
    assert model.score(X) == pytest.approx(-losses.mean(), rel=1e-6)
    with pytest.raises(ValueError, match="precomputed"):
        LocalSimilarityNMF(3, kernel="precomputed", **common).fit(K).score(K)


@pytest.mark.filterwarnings("ignore:.*not used by any sample:UserWarning")
def test_nothing_to_score():
    model = Factorization(2, terms=[L2(1.0)], max_iter=2, tol=0, scale=None, random_state=0).fit(X)
    with pytest.raises(ValueError, match="no fit"):
        model.score(X)


@pytest.mark.parametrize("name", ["connectedness", "silhouette", "reconstruction"])
def test_scorers_see_clusters_that_are_split(name):
    """Three digits are easy: most scorers see that three clusters are better than nine."""
    models = [GraphNMF(k, graph_strength=10.0, max_iter=40, tol=0, random_state=0).fit(X[:60]) for k in (3, 9)]
    three, nine = (get_scorer(name)(model, X[60:]) for model in models)
    assert three < nine if name == "reconstruction" else three > nine


def test_scorers_are_what_they_say():
    """On samples that were not seen, each is its criterion of the predicted clusters."""
    model = GraphNMF(3, graph_strength=10.0, max_iter=20, tol=0, random_state=0).fit(X[:60])
    new, labels, edges = X[60:], model.predict(X[60:]), neighbor_graph(X[60:], 5)
    expected = {
        "reconstruction": model.score(new),
        "connectedness": 1 - normalized_cut(edges, labels, 3),
        "modularity": modularity(edges, labels),
        "information": neighbor_information(edges, labels),
        "silhouette": silhouette(new, labels),
        "prediction strength": adjusted_rand_score(clone(model).fit(new).predict(new), labels),
    }
    assert sorted(expected) == scorer_names()
    assert {name: get_scorer(name)(model, new, None) for name in expected} == expected


def test_searches_by_name():
    scoring = {name: get_scorer(name) for name in ("connectedness", "silhouette", "reconstruction")}
    model = GraphNMF(3, graph_strength=10.0, max_iter=15, tol=0, random_state=0)
    search = GridSearchCV(model, {"graph_strength": [0.0, 10.0]}, scoring=scoring, refit="connectedness", cv=2).fit(X)
    assert {f"mean_test_{name}" for name in scoring} <= set(search.cv_results_)
    assert search.best_params_["graph_strength"] in (0.0, 10.0)
    pipeline = make_pipeline(Normalizer(), model)
    choices = {"graphnmf__n_components": [2, 3, 4]}
    scorer = get_scorer("connectedness")
    search = RandomizedSearchCV(pipeline, choices, n_iter=2, scoring=scorer, cv=2, random_state=0)
    assert np.isfinite(search.fit(X).best_score_)
    # The estimators' own score serves where none is named.
    assert GridSearchCV(model, {"n_components": [2, 5]}, cv=2).fit(X).best_params_ == {"n_components": 5}


def test_unknown_scorer():
    with pytest.raises(ValueError, match="'accuracy'; give one of 'connectedness'"):
        get_scorer("accuracy")

"""Distances given for similarities are noticed; similarities are left in peace."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import kneighbors_graph, radius_neighbors_graph

from partwise import ConceptFactorization, GraphNMF
from partwise.graphs import check_graph, neighbor_graph, warn_if_distances

DIGITS = load_digits().data[:300]
RNG = np.random.RandomState(0)
WORDS = [[f"{topic}{i}" for i in range(40)] for topic in "abcd"]
TEXTS = [" ".join(RNG.choice(WORDS[i % 4] + WORDS[0], size=20 + RNG.randint(60))) for i in range(200)]
TFIDF = TfidfVectorizer().fit_transform(TEXTS)
COUNTS = sp.csr_array(RNG.poisson(RNG.gamma(0.3, size=(200, 4)) @ RNG.gamma(0.3, size=(4, 80)) * 5)[:, :]).astype(float)
DATA = {"digits": DIGITS, "tf-idf": TFIDF, "counts": COUNTS[np.asarray(COUNTS.sum(axis=1)).ravel() > 0]}


def symmetric(graph):
    graph = sp.csr_array(graph)
    return graph.maximum(graph.T)


def neighbours_in_principal_components(X):
    """As single-cell toolkits store them: k entries per row, found in another space than that of X."""
    dense = X.toarray() if sp.issparse(X) else X
    return kneighbors_graph(PCA(50, random_state=0).fit_transform(dense), 15, mode="distance")


def converted(distances):
    distances = symmetric(distances)
    distances.data = np.exp(-(distances.data**2) / np.median(distances.data) ** 2)
    return distances


def shared_neighbours(X):
    links = sp.csr_array(kneighbors_graph(X, 10))
    return symmetric(links.multiply(links @ links.T))


DISTANCES = {
    "nearest": lambda X: symmetric(kneighbors_graph(X, 8, mode="distance")),
    "nearest by cosine": lambda X: symmetric(kneighbors_graph(X, 8, mode="distance", metric="cosine")),
    "in principal components": lambda X: symmetric(neighbours_in_principal_components(X)),
    "within a radius": lambda X: radius_neighbors_graph(X, np.median(pairwise_distances(X)), mode="distance"),
    "all pairs": lambda X: np.triu(pairwise_distances(X), 1) + np.triu(pairwise_distances(X), 1).T,
}
SIMILARITIES = {
    "links": lambda X: symmetric(kneighbors_graph(X, 8)),
    "links of one weight": lambda X: 0.3 * symmetric(kneighbors_graph(X, 8)),
    "binary": lambda X: neighbor_graph(X, 8),
    "heat": lambda X: neighbor_graph(X, 8, "euclidean", "heat"),
    "cosine": lambda X: neighbor_graph(X, 8, "cosine", "cosine"),
    "converted distances": lambda X: converted(kneighbors_graph(X, 8, mode="distance")),
    "in principal components": lambda X: converted(neighbours_in_principal_components(X)),
    "shared neighbours": shared_neighbours,
    "inner products": lambda X: symmetric(X @ X.T),
    "of something else": lambda X: symmetric(sp.random(X.shape[0], X.shape[0], 0.05, random_state=0)),
    "empty": lambda X: sp.csr_array((X.shape[0], X.shape[0])),
    "a single edge": lambda X: sp.csr_array(([1.0, 1.0], ([0, 1], [1, 0])), shape=(X.shape[0],) * 2),
}


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("kind", DISTANCES)
def test_distances_are_noticed(data, kind):
    X = DATA[data]
    graph = check_graph(DISTANCES[kind](X), X.shape[0])
    with pytest.warns(UserWarning, match=r"look like distances.*numpy\.exp\(-d\*\*2.*obsp\['connectivities'\]"):
        warn_if_distances(graph, X)


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("kind", SIMILARITIES)
def test_similarities_are_not(data, kind):
    X = DATA[data]
    graph = check_graph(SIMILARITIES[kind](X), X.shape[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_if_distances(graph, X)


def test_an_asymmetric_graph_of_distances_is_not_to_be_symmetrised_only():
    distances = kneighbors_graph(DIGITS, 8, mode="distance")
    with pytest.raises(ValueError, match=r"If they are distances.*convert them first.*exp\(-d\*\*2"):
        GraphNMF(4, graph=distances).fit(DIGITS)


@pytest.mark.parametrize(
    "graph", [symmetric(kneighbors_graph(DIGITS, 8, mode="distance")), None], ids=["matrix", "callable"]
)
@pytest.mark.parametrize("method", [GraphNMF, ConceptFactorization])
def test_a_fit_warns(method, graph):
    graph = (lambda X: symmetric(kneighbors_graph(X, 8, mode="distance"))) if graph is None else graph
    with pytest.warns(UserWarning, match="look like distances") as caught:
        method(4, graph=graph, graph_strength=1.0, max_iter=2, tol=0, random_state=0).fit(DIGITS)
    assert len([warning for warning in caught if "distances" in str(warning.message)]) == 1

"""Estimators and data on which whatever holds for all of them is tested; a new estimator joins here."""

import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

import partwise
from partwise import (
    NMF,
    CauchyNMF,
    ConceptFactorization,
    ConstrainedNMF,
    ConvexNMF,
    Factorization,
    GraphNMF,
    GroupNMF,
    KernelGraphNMF,
    LocalCoordinateNMF,
    LocalLearningNMF,
    LocalNMF,
    LocalSimilarityNMF,
    OrthogonalNMF,
    OrthogonalTriNMF,
    SemiNMF,
    SparsenessNMF,
    TensorNMF,
    WeightedNMF,
)

RNG = np.random.RandomState(0)
X = RNG.gamma(1.0, size=(70, 4)) @ RNG.gamma(0.5, size=(4, 15)) + 0.2 * RNG.uniform(size=(70, 15))
Y = np.where(np.arange(70) % 5 == 0, np.arange(70) % 3, -1)
HOLES = np.where(RNG.uniform(size=X.shape) < 0.1, np.nan, X)
SPARSE = sp.csr_array(np.where(X > 0.8, X, 0))
GROUPS = np.array(["first", "second"])[np.arange(70) % 2]

CASES = {
    "NMF": (NMF(), X),
    "NMF float32": (NMF(), X.astype(np.float32)),
    "NMF sparse": (NMF(solver="coordinate"), SPARSE),
    "NMF multiplicative": (NMF(solver="multiplicative"), X),
    "NMF penalties": (NMF(l1_codes=0.1, l2_components=0.1), X),
    "NMF Kullback-Leibler": (NMF(loss="kullback-leibler"), SPARSE),
    "NMF missing": (NMF(missing="nan"), HOLES),
    "NMF Huber": (NMF(loss="huber", missing="nan"), HOLES),
    "NMF negative binomial": (NMF(loss="negative-binomial", dispersion=0.5), SPARSE),
    "NMF sampled": (NMF(init="sampled"), X),
    "NMF restarts": (NMF(init="random", n_init=4), X),
    "GraphNMF": (GraphNMF(graph_strength=10.0), X),
    "GraphNMF auto": (GraphNMF(), X),
    "GraphNMF strong": (GraphNMF(graph_strength=1e4, use_labels=True), X),
    "GraphNMF multiplicative restarts": (
        GraphNMF(graph_strength=10.0, solver="multiplicative", init="random", n_init=3),
        SPARSE,
    ),
    "GroupNMF": (GroupNMF(), X),
    "GroupNMF Kullback-Leibler": (GroupNMF(loss="kullback-leibler", init="random", n_init=2), SPARSE),
    "ConstrainedNMF": (ConstrainedNMF(init="random", n_init=2), X),
    "Factorization": (Factorization(terms=[partwise.terms.BetaDivergence(1.0), partwise.terms.L1(0.1)]), X),
    "NMF fixed": (NMF(fixed_components=X[:2], l1_codes=0.1), X),
    "GraphNMF fixed": (GraphNMF(graph_strength=1.0, loss="kullback-leibler", fixed_components=X[:2]), X),
    "Factorization free": (
        Factorization(terms=[partwise.terms.Frobenius(), partwise.terms.NeighborGraph(1.0)], components="free"),
        X - 1,
    ),
    "Factorization simplex": (Factorization(codes="simplex", components=partwise.domains.Sparse(0.3)), X),
    "Factorization one entry": (
        Factorization(terms=[partwise.terms.Frobenius(), partwise.terms.L1(0.1)], codes="one-entry"),
        SPARSE,
    ),
    "LocalCoordinateNMF": (LocalCoordinateNMF(n_components=12, coordinate_strength=0.1), X),
    "LocalCoordinateNMF Kullback-Leibler": (LocalCoordinateNMF(coordinate_strength=0.1, loss="kullback-leibler"), X),
    "LocalCoordinateNMF auto": (LocalCoordinateNMF(), X),
    "LocalLearningNMF": (LocalLearningNMF(local_strength=10.0), X),
    "LocalLearningNMF unit codes": (LocalLearningNMF(local_strength=10.0, scale="codes", init="spectral"), X),
    "LocalSimilarityNMF": (LocalSimilarityNMF(), X),
    "LocalSimilarityNMF rbf": (LocalSimilarityNMF(kernel="rbf", init="random", n_init=2), X),
    "LocalSimilarityNMF multiplicative": (LocalSimilarityNMF(solver="multiplicative"), X),
    "NMF ncut": (NMF(weighting="ncut"), SPARSE),
    "WeightedNMF": (WeightedNMF(missing="nan"), HOLES),
    "SparsenessNMF": (SparsenessNMF(codes_sparseness=0.5), X),
    "CauchyNMF": (CauchyNMF(n_init=2), X),
    "LocalNMF": (LocalNMF(), SPARSE),
    "TensorNMF": (TensorNMF(sample_shape=(3, 5)), X),
    "SemiNMF": (SemiNMF(), X - 1),
    "SemiNMF coordinate": (SemiNMF(solver="coordinate", init="random", n_init=2), X - 1),
    "ConvexNMF": (ConvexNMF(), X - 1),
    "ConvexNMF multiplicative": (ConvexNMF(solver="multiplicative", kernel="rbf"), X),
    "ConceptFactorization": (ConceptFactorization(), X),
    "KernelGraphNMF": (KernelGraphNMF(), X),
    "OrthogonalNMF": (OrthogonalNMF(init="random", n_init=2), SPARSE),
    "OrthogonalNMF multiplicative": (OrthogonalNMF(solver="multiplicative"), X),
    "OrthogonalTriNMF": (OrthogonalTriNMF(n_column_clusters=3), X),
    "OrthogonalTriNMF multiplicative": (OrthogonalTriNMF(solver="multiplicative"), X),
}


def fit(estimator, data, *callbacks, y=Y):
    """Fit a copy, whatever it warns of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(estimator).set_params(callbacks=list(callbacks) or None).fit(data, y, **told(estimator, data))


def told(estimator, data):
    """What `fit` must be told beside the data and the classes."""
    grouped = isinstance(estimator, GroupNMF) and estimator.n_group_components
    return {"groups": GROUPS[: data.shape[0]]} if grouped else {}


def small(estimator, **params):
    """A copy for the data above, the same in every run."""
    components = estimator.n_components if estimator.n_components == 12 else 4
    return clone(estimator).set_params(n_components=components, random_state=3, **params)


def assert_same(one, other):
    """Two fits that are the same, bit for bit, except for their times."""
    names = [name for name in ("embedding_", "components_", "dual_components_", "labels_") if hasattr(other, name)]
    for name in names:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), strict=True)
    for name in ("n_iter_", "objective_", "stop_reason_", "solver_"):
        assert getattr(one, name) == getattr(other, name)
    assert one.history_.keys() == other.history_.keys()
    for name in one.history_.keys() - {"time"}:
        assert one.history_[name] == other.history_[name]

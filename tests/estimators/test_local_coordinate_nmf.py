"""LocalCoordinateNMF: what the paper shows of it, and what must never happen."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from paper_images import images
from sklearn.datasets import load_digits

from partwise import Factorization, GraphNMF, LocalCoordinateNMF
from partwise.metrics import sparseness
from partwise.terms import BetaDivergence, Frobenius, LocalCoordinates, NeighborGraph

# Random data under any strength: components may repeat.
pytestmark = pytest.mark.filterwarnings("ignore::partwise.exceptions.DuplicateComponentsWarning")

DIGITS = load_digits().data[:300] / 16
SMALL = np.random.RandomState(0).gamma(0.5, size=(40, 9))


def assert_no_rise(model, X):
    objective = np.array(model.history_["objective"])
    assert np.isfinite(objective).all()
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(model.components_).all()
    tolerance = 1e-10 if model.embedding_.dtype == np.float64 else 1e-5
    assert np.diff(objective).max() <= tolerance * max(float(np.nansum(X * X)), objective[0])


def four_gaussians(seed=0):
    """The paper's Sec. IV-D: 180 points of four clusters in the plane."""
    rng = np.random.RandomState(seed)
    centres = np.array([[2.0, 6.0], [4.0, 2.0], [7.0, 7.0], [9.0, 3.0]])
    return centres, np.abs(np.repeat(centres, 45, axis=0) + rng.normal(0, 0.4, size=(180, 2)))


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
@pytest.mark.parametrize("init", ["random", "kmeans"])
@pytest.mark.filterwarnings("ignore:n_components=4 is more than X")
def test_components_at_the_four_centres(loss, init):
    """More components than dimensions: the penalty alone decides where they lie."""
    centres, X = four_gaussians()
    model = LocalCoordinateNMF(4, coordinate_strength=1.0, loss=loss, init=init, assign="argmax", random_state=0)
    model.set_params(n_init=5, max_iter=2000, tol=1e-7).fit(X)
    distances = np.linalg.norm(model.components_[:, None] - centres[None], axis=2)
    assert (np.sort(distances.argmin(axis=1)) == np.arange(4)).all()
    assert distances.min(axis=1).max() < 0.3
    nearest = np.linalg.norm(X[:, None] - model.components_[None], axis=2).argmin(axis=1)
    assert (nearest == model.embedding_.argmax(axis=1)).mean() > 0.95


def test_sparse_codes_of_faces():
    """Table VIII: 84.3 % for ORL with 40 components; NMF has 34."""
    X, _ = images("orl32")
    model = LocalCoordinateNMF(40, coordinate_strength=0.1, random_state=0, max_iter=60, tol=0).fit(X)
    assert sparseness(model.embedding_).mean() >= 0.80
    # The components look like faces: each is close to some sample.
    unit = model.components_ / np.linalg.norm(model.components_, axis=1, keepdims=True)
    assert (unit @ X.T).max(axis=1).min() > 0.9


@pytest.mark.parametrize("graph_strength", [0.0, 1.0])
def test_strength_has_no_unit(graph_strength):
    """Errata N5: scaling X scales the components alone. (A graph's strength has the unit of ‖X‖².)"""
    common = {
        "n_components": 4,
        "coordinate_strength": 0.1,
        "init": "kmeans",
        "random_state": 0,
        "max_iter": 30,
        "tol": 0,
    }
    one = LocalCoordinateNMF(graph_strength=graph_strength, **common).fit(SMALL)
    ten = LocalCoordinateNMF(graph_strength=100 * graph_strength, **common).fit(10 * SMALL)
    np.testing.assert_allclose(ten.embedding_, one.embedding_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(ten.components_, 10 * one.components_, rtol=1e-6, atol=1e-8)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    strength=st.sampled_from([1e-4, 0.1, 1.0, 1e3]),
    graph_strength=st.sampled_from([0.0, 1.0, 1e3]),
    loss=st.sampled_from(["frobenius", "kullback-leibler"]),
    solver=st.sampled_from(["auto", "multiplicative"]),
    scale=st.sampled_from([1e-3, 1.0, 1e3]),
)
@pytest.mark.filterwarnings("ignore:The graph of the samples falls")
@pytest.mark.filterwarnings("ignore:.*components are not used")
@pytest.mark.filterwarnings("ignore:.*components are distinct")
def test_never_rises(seed, strength, graph_strength, loss, solver, scale):
    rng = np.random.RandomState(seed)
    X = scale * rng.gamma(0.3, size=(30, 8)) * (rng.uniform(size=(30, 8)) < 0.7)
    model = LocalCoordinateNMF(6, coordinate_strength=strength, graph_strength=graph_strength, loss=loss, solver=solver)
    assert_no_rise(model.set_params(init="random", random_state=seed, tol=0, max_iter=25).fit(X), X)


@pytest.mark.parametrize("solver", ["coordinate", "multiplicative"])
@pytest.mark.parametrize("graph_strength", [0.0, 0.1])
def test_dead_components_come_back(solver, graph_strength):
    """Two components far away from every sample, used by none."""
    rng = np.random.RandomState(0)
    W, H = rng.uniform(size=(300, 8)), DIGITS[:8].copy()
    W[:, 6:] = 0
    H[6:] = 1e6 * (DIGITS.sum(axis=0) == 0)
    model = LocalCoordinateNMF(8, coordinate_strength=0.1, graph_strength=graph_strength, solver=solver, init=(W, H))
    model.set_params(tol=0, max_iter=40).fit(DIGITS)
    assert_no_rise(model, DIGITS)
    assert (model.embedding_ > 0.1).any(axis=0).all()
    assert model.components_.max() <= 2


def test_components_that_nothing_needs_stay_unused():
    """Three distinct samples need three components: the fourth brings nothing, and is warned about."""
    X = np.repeat(np.eye(3), 5, axis=0)
    model = LocalCoordinateNMF(4, coordinate_strength=0.1, init="random", random_state=0, max_iter=300)
    with pytest.warns(UserWarning, match=r"components are not used|more than X"):
        model.fit(X)
    assert model.objective_ < 1e-6


def test_no_scale_to_choose():
    model = LocalCoordinateNMF(4, coordinate_strength=0.1, random_state=0, max_iter=50, tol=0).fit(SMALL)
    assert model.scale_ is None
    assert "scale" not in model.get_params()
    assert np.isclose(model.objective_, sum(model.history_[name][-1] for name in ("fit", "local coordinates")))
    with pytest.raises(ValueError, match="leaves no scale to choose"):
        Factorization(4, terms=[Frobenius(), LocalCoordinates(0.1)], scale="components").fit(SMALL)


def test_no_strength_is_graph_nmf():
    common = {"graph_strength": 5.0, "random_state": 0, "max_iter": 20, "tol": 0}
    ours = LocalCoordinateNMF(3, coordinate_strength=0, **common).fit(SMALL)
    theirs = GraphNMF(3, **common).fit(SMALL)
    assert ours.objective_ == theirs.objective_
    assert ours.scale_ == theirs.scale_ == "components"


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
def test_new_samples(loss):
    """A new sample that is a component is coded by it, one by one or all together."""
    model = LocalCoordinateNMF(6, coordinate_strength=0.1, loss=loss, random_state=0, max_iter=100, tol=0).fit(DIGITS)
    codes = model.transform(model.components_)
    assert (codes.argmax(axis=1) == np.arange(6)).all()
    np.testing.assert_allclose(np.diag(codes), 1, atol=0.05)
    np.testing.assert_allclose(model.transform(DIGITS[:5])[2:3], model.transform(DIGITS[2:3]), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("fit", "solver"),
    [
        (Frobenius(), "coordinate"),
        (BetaDivergence("kullback-leibler"), "newton"),
        (BetaDivergence(0.5), "newton"),
    ],
)
@pytest.mark.parametrize("missing", ["nan", "unstored"])
def test_missing_entries(fit, solver, missing):
    """Distances over the known entries: a third of the pixels hidden, filled in better than by their means."""
    rng = np.random.RandomState(0)
    hidden = rng.uniform(size=DIGITS.shape) < 0.3
    data = DIGITS + 0.01
    X = sp.csr_array(np.where(hidden, 0, data)) if missing == "unstored" else np.where(hidden, np.nan, data)
    terms = [fit, LocalCoordinates(0.1)]
    model = Factorization(10, terms=terms, missing=missing, random_state=0, max_iter=100, tol=0).fit(X)
    assert_no_rise(model, data)
    assert model.solver_ == solver
    filled = model.inverse_transform(model.embedding_)
    means = np.broadcast_to(np.nanmean(np.where(hidden, np.nan, data), axis=0), data.shape)
    assert ((filled - data)[hidden] ** 2).sum() < 0.7 * ((means - data)[hidden] ** 2).sum()
    assert model.transform(X[:3]).shape == (3, 10)


def test_holes_in_new_samples_only():
    model = Factorization(
        5, terms=[Frobenius(), LocalCoordinates(0.1)], missing="nan", random_state=0, max_iter=50, tol=0
    )
    model.fit(DIGITS)
    assert model.solver_ == "coordinate"
    holes = np.where(np.random.RandomState(0).uniform(size=(9, 64)) < 0.05, np.nan, DIGITS[:9])
    whole = model.transform(DIGITS[:9])
    assert np.linalg.norm(model.transform(holes) - whole) < 0.3 * np.linalg.norm(whole)


def test_float32_and_sparse():
    for data in (SMALL.astype(np.float32), sp.csr_array(SMALL)):
        model = LocalCoordinateNMF(3, coordinate_strength=0.1, random_state=0, max_iter=30, tol=0).fit(data)
        assert_no_rise(model, data.toarray() if sp.issparse(data) else data)
        assert model.embedding_.dtype == data.dtype


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"coordinate_strength": -0.1}, "coordinate_strength"),
        ({"graph_strength": -1.0}, "graph_strength"),
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"loss": "itakura-saito"}, "loss"),
        ({"solver": "coordinate", "loss": "kullback-leibler"}, "not compatible with the term 'fit'"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        LocalCoordinateNMF(3, **parameters).fit(SMALL)


def test_a_graph_links_samples_by_the_features_that_both_know():
    X = SMALL.copy()
    X[0, 0] = np.nan
    terms = [Frobenius(), LocalCoordinates(0.1), NeighborGraph(1.0)]
    model = Factorization(3, terms=terms, missing="nan", max_iter=20, tol=0, random_state=0).fit(X)
    assert np.isfinite(model.embedding_).all()
    assert model.history_["graph"][-1] > 0
    assert (np.diff(model.history_["objective"]) <= 1e-9 * model.objective_).all()

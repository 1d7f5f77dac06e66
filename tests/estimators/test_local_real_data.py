"""No rise and no NaN over the papers' grids of parameters, on the papers' images (a part of each, few sweeps)."""

import numpy as np
import pytest
from paper_images import images

from partwise import LocalCoordinateNMF, LocalLearningNMF

DATA = ["coil20", "orl32", "yale32", "pix", "semeion"]
SWEEPS = 6


def assert_no_rise(model, X):
    objective = np.array(model.history_["objective"])
    assert np.isfinite(objective).all()
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(model.components_).all()
    assert np.diff(objective).max() <= 1e-10 * max(float((X * X).sum()), objective[0])


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("how", [{"solver": "auto"}, {"solver": "multiplicative"}, {"scale": "codes"}], ids=str)
@pytest.mark.filterwarnings("ignore:The graph of the samples falls")
@pytest.mark.filterwarnings("ignore:.*components are not used")
def test_local_learning(name, how):
    """LLNMF Sec. 4.3: μ 0.1 … 1000, 5 … 80 neighbours; Gaussian kernel."""
    X, _ = images(name, 90, every=10 if name == "pix" else 2)
    for n_neighbors in (5, 20, 80):
        for strength in (0.1, 10.0, 1000.0):
            model = LocalLearningNMF(10, local_strength=strength, n_neighbors=n_neighbors, kernel="rbf", **how)
            assert_no_rise(model.set_params(init="random", random_state=0, tol=0, max_iter=SWEEPS).fit(X), X)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize(
    "how", [{"solver": "auto"}, {"solver": "multiplicative"}, {"loss": "kullback-leibler"}], ids=str
)
@pytest.mark.filterwarnings("ignore:The graph of the samples falls")
@pytest.mark.filterwarnings("ignore:.*components are not used")
def test_local_coordinates(name, how):
    """NLCF Fig. 2: μ from 0.1 to 1, with and without a graph."""
    X, _ = images(name, 90, every=10 if name == "pix" else 2)
    for strength in (0.1, 0.3, 1.0, 10.0):
        for graph_strength in (0.0, 1.0, 100.0):
            model = LocalCoordinateNMF(10, coordinate_strength=strength, graph_strength=graph_strength, **how)
            assert_no_rise(model.set_params(init="random", random_state=0, tol=0, max_iter=SWEEPS).fit(X), X)


@pytest.mark.parametrize(
    "estimator",
    [LocalCoordinateNMF(40, coordinate_strength=0.1), LocalLearningNMF(40, local_strength=10.0)],
    ids=["NLCF", "LLNMF"],
)
def test_a_tenth_of_the_passes(estimator):
    """Coordinate descent needs at most a tenth of the sweeps of the papers' rules for the same objective, on ORL."""
    X, _ = images("orl32")
    start = np.random.RandomState(0).uniform(size=(400, 40)), np.random.RandomState(1).uniform(size=(40, 1024))
    estimator.set_params(init=start, tol=0)
    papers = estimator.set_params(solver="multiplicative", max_iter=150).fit(X).objective_
    assert estimator.set_params(solver="coordinate", max_iter=15).fit(X).objective_ <= papers

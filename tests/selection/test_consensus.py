"""Consensus of runs against counting pair by pair."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from partwise import NMF, GraphNMF
from partwise.selection import Consensus, consensus

RNG = np.random.RandomState(0)
BLOBS = np.maximum(np.repeat(np.kron(np.eye(3), np.ones(3)), 15, axis=0) + RNG.normal(scale=0.2, size=(45, 9)), 0)
TRUTH = np.repeat(np.arange(3), 15)


def test_matrix_counts_pairs():
    labellings = RNG.randint(3, size=(5, 12))
    result = Consensus(labellings, 3, np.arange(12))
    for i in range(12):
        for j in range(12):
            assert result.matrix[i, j] == np.mean([run[i] == run[j] for run in labellings])
    expected = cophenet(linkage(pdist(labellings.T, "hamming"), "average"))
    found = np.corrcoef(expected, pdist(labellings.T, "hamming"))[0, 1]
    assert result.cophenetic_correlation == pytest.approx(found, rel=1e-12)
    assert result.dispersion == pytest.approx(np.mean(4 * (result.matrix - 0.5) ** 2))
    assert result.cophenetic_error > 0
    assert sorted(result.order) == list(range(12))


def test_runs_that_agree():
    result = consensus(NMF(3), BLOBS, n_runs=4, random_state=0)
    assert result.cophenetic_correlation == pytest.approx(1)
    assert result.cophenetic_error == pytest.approx(0, abs=1e-12)
    assert result.dispersion == result.stability == 1
    assert len(np.unique(result.labels)) == 3
    assert all(len(set(result.labels[c == TRUTH])) == 1 for c in range(3))


def test_a_sample_of_the_samples():
    whole = consensus(GraphNMF(3, graph_strength=10.0), BLOBS, n_runs=3, random_state=0)
    part = consensus(GraphNMF(3, graph_strength=10.0), BLOBS, n_runs=3, max_samples=20, random_state=0)
    assert part.matrix.shape == (20, 20)
    assert part.labels.shape == (45,)
    np.testing.assert_array_equal(part.matrix, whole.matrix[np.ix_(part.rows, part.rows)])
    assert all(len(set(part.labels[c == TRUTH])) == 1 for c in range(3))


def test_runs_differ_and_the_estimator_stays_as_it_is():
    X = RNG.uniform(size=(40, 10))
    model = NMF(4, max_iter=10, tol=0)
    result = consensus(model, X, n_runs=3, random_state=0)
    assert result.dispersion < 1
    assert model.init == "auto"
    assert not hasattr(model, "labels_")


@pytest.mark.parametrize(
    "model",
    [
        NMF(3),
        NMF(3, init="kmeans", n_init=2),
        NMF(3, loss="kullback-leibler", assign="argmax"),
        GraphNMF(3, graph_strength=10.0),
    ],
    ids=repr,
)
def test_side_by_side_is_one_after_another(model):
    """The clusters of every run are those of a fit with its seed."""
    watched = clone(model).set_params(callbacks=lambda progress: None)
    assert model.replicable
    assert not watched.replicable
    together, alone = (consensus(each, BLOBS, n_runs=4, random_state=0) for each in (model, watched))
    np.testing.assert_array_equal(together.labellings, alone.labellings)


@pytest.mark.parametrize(
    "model",
    [
        NMF("auto"),
        NMF(3, loss="huber"),
        NMF(3, weighting="ncut"),
        NMF(3, verbose=1),
        NMF(3, warm_start=True),
        GraphNMF(3, graph_strength="auto"),
    ],
    ids=repr,
)
def test_what_is_chosen_or_told_for_every_fit_is_fitted_alone(model):
    assert not model.replicable
    assert consensus(model, BLOBS, n_runs=2, random_state=0).labellings.shape == (2, 45)


def test_fits_that_do_not_converge_are_counted():
    with pytest.warns(ConvergenceWarning, match="3 of 3 fits have not converged to tol=1e-09 after 2 sweeps"):
        consensus(NMF(3, max_iter=2, tol=1e-9), BLOBS, n_runs=3, random_state=0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_runs": 1}, "n_runs=1 was given; it must be a whole number of at least 2"),
        ({"n_runs": 2.5}, "n_runs=2.5 was given"),
        ({"n_runs": "many"}, "n_runs='many' was given"),
        ({"max_samples": 1}, "max_samples=1 was given"),
    ],
)
def test_too_little(options, message):
    with pytest.raises(ValueError, match=message):
        consensus(NMF(3), BLOBS, **options)

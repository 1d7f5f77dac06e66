"""Starts: where those by k-means are, how many samples they need, and that all grow as the square root of X."""

import numpy as np
import pytest

from partwise.core.objective import Objective
from partwise.core.storage import as_operand
from partwise.solvers import Options, starts
from partwise.solvers.starts import as_coordinates, kmeans_start, sampled_start, start_factors, start_from_labels
from partwise.terms import Frobenius

X = np.random.RandomState(0).uniform(0.1, 1.0, size=(5, 4))


def test_a_cluster_for_every_sample():
    """Then the centres are the samples, and the codes say which."""
    W, Ht = kmeans_start(as_operand(X), 5, np.random.RandomState(0))
    assert sorted(W.argmax(axis=1)) == list(range(5))
    np.testing.assert_allclose(Ht.T[W.argmax(axis=1)], X)


def test_the_start_has_the_best_scale():
    W, Ht = kmeans_start(as_operand(X), 2, np.random.RandomState(0))
    error = [np.sum((X - scale * W @ Ht.T) ** 2) for scale in (0.99, 1.0, 1.01)]
    assert np.argmin(error) == 1


def test_more_clusters_than_samples_are_refused():
    with pytest.raises(ValueError, match="needs at least n_components=6 samples, but X has 5"):
        kmeans_start(as_operand(X), 6, np.random.RandomState(0))


@pytest.mark.parametrize("k", [3, 7])
@pytest.mark.parametrize("init", ["random", "nndsvd", "nndsvda", "kmeans"])
@pytest.mark.parametrize("power", [-40, -4, 2, 60])
def test_factors_grow_as_the_square_root_of_the_data(init, power, k):
    data = np.random.RandomState(1).gamma(0.3, size=(9, 6))
    here, there = (start_factors(as_operand(np.ldexp(data, p)), k, init, np.random.RandomState(0)) for p in (0, power))
    for F, grown in zip(here, there, strict=True):
        np.testing.assert_array_equal(grown, np.ldexp(F, power // 2))


def test_fillers_are_small_beside_the_factors_whatever_the_unit():
    """Zeros of the start become a share of the factors, and not of the data, which have another unit."""
    for unit in (1e-6, 1.0, 1e6):
        plain, filled = (
            start_factors(as_operand(unit * np.eye(6)), 6, init, np.random.RandomState(0))
            for init in ("nndsvd", "nndsvda")
        )
        for F, G in zip(plain, filled, strict=True):
            assert (G > 0).all()
            assert G[F == 0].max() < 0.2 * F.max()


def test_coordinates_have_no_unit():
    """Components as long as samples, codes that do not depend on the unit, the product as it was."""
    data = np.random.RandomState(1).gamma(0.3, size=(9, 6))
    factors = [
        start_factors(as_operand(unit * data), 3, "nndsvda", np.random.RandomState(0)) for unit in (1.0, 2.0**20)
    ]
    (W, Ht), (V, Gt) = (as_coordinates(as_operand(u * data), *F) for u, F in zip((1.0, 2.0**20), factors, strict=True))
    np.testing.assert_array_equal(V, W)
    np.testing.assert_array_equal(Gt, np.ldexp(Ht, 20))
    np.testing.assert_allclose(W @ Ht.T, factors[0][0] @ factors[0][1].T)
    np.testing.assert_allclose(np.linalg.norm(Ht, axis=0), np.sqrt(np.mean(np.sum(data**2, axis=1))))


def test_a_sample_of_weight_two_counts_twice_in_a_start_from_labels():
    labels, weight = np.array([0, 0, 1, 1, 1]), np.array([2, 1, 1, 2, 1])
    W, Ht = start_from_labels(as_operand(X, sample_weight=weight.astype(float)), labels, 2)
    V, Gt = start_from_labels(as_operand(np.repeat(X, weight, axis=0)), np.repeat(labels, weight), 2)
    np.testing.assert_allclose(np.repeat(W, weight, axis=0), V)
    np.testing.assert_allclose(Ht, Gt)


def test_a_sample_has_a_bounded_size(monkeypatch):
    monkeypatch.setattr(starts, "SAMPLE_BYTES", 100 * 30 * 8)
    sizes = []

    def fit_to(sample):
        sizes.append(sample.shape[0])
        return Objective([Frobenius().bind(sample)])

    data = as_operand(np.random.default_rng(0).random((2000, 30)))
    W, Ht = sampled_start(data, 3, np.random.RandomState(0), fit_to, Options())
    assert sizes == [100]
    assert (W.shape, Ht.shape) == ((2000, 3), (30, 3))

"""Components of many fits, clustered."""

import tracemalloc

import numpy as np
import pytest
from sklearn.metrics import silhouette_samples
from sklearn.neighbors import NearestNeighbors

from partwise.selection.programs import find_programs, local_density, silhouette_of_rows, unit_rows

RNG = np.random.RandomState(0)
TRUTH = unit_rows(RNG.gamma(0.3, size=(3, 20)))
FOUND = unit_rows(np.abs(np.repeat(TRUTH, 12, axis=0) + 0.02 * RNG.normal(size=(36, 20))))


def test_density_is_that_of_cnmf():
    """Mean distance to the nearest others, as scikit-learn's search finds them."""
    distances, _ = NearestNeighbors(n_neighbors=6).fit(FOUND).kneighbors(FOUND)
    np.testing.assert_allclose(local_density(FOUND, 5), distances[:, 1:].mean(axis=1), rtol=1e-6)


def test_silhouettes_are_those_of_scikit_learn():
    groups = np.repeat(np.arange(3), 12)
    np.testing.assert_allclose(silhouette_of_rows(FOUND, groups), silhouette_samples(FOUND, groups), rtol=1e-6)


def test_the_components_are_found_and_the_outliers_dropped():
    outliers = unit_rows(RNG.uniform(size=(4, 20)) ** 8)
    programs = find_programs(np.vstack([FOUND, outliers]), 3, n_neighbors=4, density_threshold=0.3)
    assert (programs.labels[-4:] == -1).all()
    assert (programs.labels[:-4] >= 0).all()
    assert programs.sizes.tolist() == [12, 12, 12]
    assert (programs.components @ TRUTH.T).max(axis=1).min() > 0.99
    np.testing.assert_allclose(np.linalg.norm(programs.components, axis=1), 1)
    assert (programs.stability > 0.8).all()
    assert (programs.cosine > 0.98).all()
    assert (programs.low <= programs.high).all()


def test_the_median_is_closer_than_single_components():
    programs = find_programs(FOUND, 3, n_neighbors=4)
    assert (programs.components @ TRUTH.T).max(axis=0).mean() > (FOUND @ TRUTH.T).max(axis=1).mean()


def test_a_medoid_is_one_of_those_found():
    programs = find_programs(FOUND, 3, n_neighbors=4, center="medoid")
    for component in programs.components:
        assert (component == FOUND).all(axis=1).any()


def test_larger_clusters_come_first():
    programs = find_programs(FOUND[5:], 3, n_neighbors=3)
    assert (np.diff(programs.sizes) <= 0).all()


def test_one_component_has_a_stability():
    programs = find_programs(FOUND[:12], 1, n_neighbors=3)
    assert 0.5 < programs.mean_stability <= 1


def test_memory_is_a_few_copies_of_what_was_found():
    """Of those that are clustered, two; distances are computed in blocks."""
    many = unit_rows(np.repeat(unit_rows(RNG.gamma(0.3, size=(6, 2000))), 300, axis=0) + RNG.uniform(size=(1800, 1)))
    find_programs(many[::6], 6, n_neighbors=20, density_threshold=np.inf)  # what is imported on first use
    tracemalloc.start()
    find_programs(many, 6, n_neighbors=20, density_threshold=np.inf)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2.5 * many.nbytes


def test_fits_that_do_not_agree_are_said_to():
    with pytest.raises(ValueError, match="the fits hardly agree"):
        find_programs(np.eye(6, 20), 3, n_neighbors=2)

"""Cells of similar samples: projections, who is in which cell, and the candidates that a point finds there."""

import numpy as np
import pytest
import scipy.sparse as sp

from partwise.core.storage import as_operand
from partwise.graphs.cells import build_cells

N, M = 900, 40


@pytest.fixture(scope="module")
def X():
    """Twenty leading directions, and little in the others."""
    rng = np.random.default_rng(0)
    X = rng.gamma(1.0, size=(N, 20)) @ rng.gamma(0.5, size=(20, M)) + 0.01 * rng.random((N, M))
    X[[3, 500]] = 0
    return X


def cells_of(X, n_cells=12, unit=False):
    norms = np.sqrt(np.asarray(as_operand(X).row_squared_norms()))
    scales = np.where(norms > 0, norms, 1.0) if unit else np.full(N, norms.max())
    return build_cells(as_operand(X), scales, np.flatnonzero(norms), unit, n_cells, np.random.RandomState(0)), scales


def test_the_basis_spans_the_leading_singular_vectors(X, monkeypatch):
    monkeypatch.setattr("partwise.graphs.cells.DIMENSIONS", 20)
    for container in (np.asarray, sp.csr_array):
        basis = cells_of(container(X))[0].basis
        np.testing.assert_allclose(basis.T @ basis, np.eye(20), atol=1e-10)
        leading = np.linalg.svd(X)[2][:20]
        # Cosines of the angles between the two subspaces.
        np.testing.assert_allclose(np.linalg.svd(leading @ basis)[1], 1, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_projections_keep_distances(X, dtype):
    cells, scales = cells_of(X.astype(dtype))
    assert (cells.points.dtype, cells.basis.dtype) == (np.float32, dtype)
    for i, j in ((0, 1), (5, 800), (17, 18)):
        assert np.linalg.norm(cells.points[i] - cells.points[j]) == pytest.approx(
            np.linalg.norm(X[i] - X[j]) / scales[0], rel=1e-3
        )
    directions = cells_of(X, unit=True)[0].points
    np.testing.assert_allclose(np.linalg.norm(directions[[0, 1, 2]], axis=1), 1, rtol=1e-6)


def test_every_sample_is_in_the_cell_of_the_nearest_centre(X):
    cells, _ = cells_of(X)
    np.testing.assert_array_equal(np.sort(cells.members), np.delete(np.arange(N), [3, 500]))
    distances = np.linalg.norm(cells.points[cells.members, None] - cells.centres, axis=2)
    cell = np.repeat(np.arange(12), np.diff(cells.starts))
    np.testing.assert_allclose(distances[np.arange(N - 2), cell], distances.min(axis=1), rtol=1e-5)
    np.testing.assert_array_equal(cells.cell_of(cells.members), cell)


@pytest.mark.parametrize("n_probes", [1, 4, 12, 20])
def test_candidates_are_the_nearest_members_of_the_nearest_cells(X, n_probes):
    cells, _ = cells_of(X)
    samples = np.arange(40, 60)
    found = cells.candidates(cells.points[samples], n_probes, 8, samples)
    cell = cells.cell_of(np.arange(N))
    for i, row in zip(samples, found, strict=True):
        near = np.argsort(((cells.centres - cells.points[i]) ** 2).sum(axis=1))[:n_probes]
        members = [j for j in cells.members if cell[j] in near and j != i]
        distances = ((cells.points[members] - cells.points[i]) ** 2).sum(axis=1)
        assert set(row) == {members[t] for t in np.argsort(distances)[:8]}


def test_too_few_members_leave_places_free(X):
    cells, _ = cells_of(X, n_cells=N // 4)
    found = cells.candidates(cells.points[:5], 1, 200, np.array([0, 1, 2, 3, 4]))
    assert (found[:, -1] == -1).all()
    # Other points than the samples are candidates of themselves.
    assert (cells.candidates(cells.points[:3], 1, 1)[:, 0] == [0, 1, 2]).all()

"""Losses that need single entries, on workers: the bits of fits that read the same pieces one after another here."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from partwise import NMF, Factorization
from partwise.blocks import DaskRows
from partwise.core import block_tasks, operand, stored
from partwise.terms import TruncatedCauchy

da = pytest.importorskip("dask.array")
pytest.importorskip("distributed")

PIECE, WIDTH = 192, 20
rng = np.random.default_rng(0)
DENSE = rng.random((500, 3)) @ rng.random((3, WIDTH)) + 0.1 * rng.random((500, WIDTH))
HOLES = np.where(rng.random(DENSE.shape) < 0.2, np.nan, DENSE)
SPARSE = sp.random_array((500, WIDTH), density=0.3, format="csr", random_state=rng)
SIZES = (PIECE, 0, PIECE, 500 - 2 * PIECE)
SETTINGS = {"init": "random", "random_state": 0, "max_iter": 9, "tol": 0}


@pytest.fixture(autouse=True)
def pieces_are_chunks(monkeypatch):
    """As if data on disk were read in pieces as large as the chunks."""
    monkeypatch.setattr(operand, "BLOCK_BYTES", 64 * WIDTH * 8)
    for module in (stored, block_tasks):
        monkeypatch.setattr(module, "PIECE_BYTES", PIECE * WIDTH * 8)


def both(model, X, client, **arguments):
    """Fits on this machine and on workers, chunks being pieces."""
    chunks = da.from_array(X, chunks=(SIZES, WIDTH), asarray=False)
    return [clone(model).fit(DaskRows(chunks, where), **arguments) for where in (False, client)]


@pytest.mark.parametrize(
    ("model", "X"),
    [
        (NMF(3, loss="kullback-leibler"), DENSE),
        (NMF(3, loss="itakura-saito"), DENSE),
        (NMF(3, loss="huber"), DENSE),
        (NMF(3, loss="negative-binomial"), DENSE),
        (Factorization(3, terms=[TruncatedCauchy(0.1)]), DENSE),
        (NMF(3, missing="nan"), HOLES),
        (NMF(3, missing="nan", loss="kullback-leibler"), HOLES),
    ],
)
def test_losses_have_the_bits_of_fits_that_read_the_same_pieces(client, model, X):
    here, there = both(model.set_params(**SETTINGS), X, client)
    assert isinstance(there.embedding_, da.Array)
    np.testing.assert_array_equal(here.components_, there.components_)
    np.testing.assert_array_equal(here.embedding_, there.embedding_)
    assert here.history_["objective"] == there.history_["objective"]
    fall = np.diff(there.history_["objective"])
    assert (fall <= 0).all()
    assert here.solver_ == there.solver_ == "piecewise"


@pytest.mark.parametrize(
    ("settings", "X"),
    [
        ({"loss": "kullback-leibler", "l1_codes": 0.1, "tol": 3e-2, "max_iter": 40}, DENSE),
        ({"loss": 0.5, "weighting": "ncut"}, DENSE),
        ({"loss": "kullback-leibler"}, SPARSE),
        ({"missing": "unstored"}, SPARSE),
        ({"missing": "nan", "l2_codes": 0.1}, HOLES),
    ],
)
def test_weights_penalties_and_sparse_rows(client, settings, X):
    weight = np.random.default_rng(1).uniform(0.5, 2, 500)
    here, there = both(NMF(3, **{**SETTINGS, **settings}), X, client, sample_weight=weight)
    np.testing.assert_allclose(here.components_, there.components_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(here.embedding_, there.embedding_, rtol=1e-6, atol=1e-9)
    assert here.stop_reason_ == there.stop_reason_
    assert here.n_iter_ == there.n_iter_


def test_blocks_of_several_pieces(client, monkeypatch):
    monkeypatch.setattr(block_tasks, "PIECE_BYTES", 100 * WIDTH * 8)
    here, there = both(NMF(3, loss="kullback-leibler", **SETTINGS), DENSE, client)
    np.testing.assert_allclose(here.components_, there.components_, rtol=1e-6)


def test_samples_of_which_nothing_is_known_are_named(client):
    X = HOLES.copy()
    X[[5, 490]] = np.nan
    with pytest.warns(UserWarning, match=r"Nothing is observed of 2 samples \(5, 490\)"):
        _, there = both(NMF(3, missing="nan", **SETTINGS), X, client)
    assert not there.embedding_[490].compute().any()


@pytest.mark.parametrize("stream", ["partial_fit", "fit_batches"])
def test_chunks_as_batches(client, stream):
    """The model goes from chunk to chunk, and learns what it would from the same batches in memory."""
    seen = []
    chunks = da.from_array(DENSE, chunks=(SIZES, WIDTH))
    models = [NMF(3, random_state=0, callbacks=lambda progress: seen.append(progress.sweep)) for _ in range(3)]
    if stream == "partial_fit":
        weight = np.linspace(1, 2, 500)
        for model, where in zip(models, (False, client), strict=False):
            model.partial_fit(DaskRows(chunks, where), sample_weight=weight)
        for rows in (slice(0, 192), slice(192, 384), slice(384, 500)):
            models[2].partial_fit(DENSE[rows], sample_weight=weight[rows])
    else:
        for model, where in zip(models, (False, client), strict=False):
            model.fit_batches(DaskRows(chunks, where))
        models[2].fit_batches([DENSE[:192], DENSE[192:384], DENSE[384:]])
        assert seen == [1, 2, 3] * 3
    for model in models:
        assert model.n_steps_ == 3
        assert model.callbacks is not None
        np.testing.assert_allclose(model.components_, models[2].components_, rtol=1e-9)
        np.testing.assert_allclose(model.embedding_, models[2].embedding_, rtol=1e-9)

"""Tiles: blocks of rows, dense or gathered from lists, hold the same entries along either factor."""

import numpy as np
import pytest
import scipy.sparse as sp

from partwise.core.tiles import DenseTiles, ListedTiles
from partwise.core.types import CODES, COMPONENTS

RNG = np.random.RandomState(0)
N, M = 150, 40
KNOWN = RNG.uniform(size=(N, M)) < np.linspace(0.02, 0.9, N)[:, None]
X = RNG.gamma(1.0, size=(N, M))
V = RNG.uniform(size=(N, M))
S = RNG.uniform(size=N)


def dense():
    return DenseTiles(np.where(KNOWN, X, np.nan), V, S, complete=False)


def listed():
    rows, columns = np.nonzero(KNOWN)
    x = sp.csr_array((X[rows, columns], (rows, columns)), shape=X.shape)
    return ListedTiles(x, (V * S[:, None])[rows, columns])


def filled(tile, width):
    """Weights and weighted entries at their places in the rows."""
    v = np.broadcast_to(tile.v, tile.x.shape)
    if tile.columns is None:
        return v, v * tile.x
    both = np.zeros((2, len(v), width))
    for i, columns in enumerate(tile.columns):
        np.add.at(both[0, i], columns, v[i])
        np.add.at(both[1, i], columns, v[i] * tile.x[i])
    return both


@pytest.mark.parametrize("make", [dense, listed])
@pytest.mark.parametrize("factor", [CODES, COMPONENTS])
@pytest.mark.parametrize("wide", [False, True])
def test_blocks_cover_all_rows_once_with_their_entries(make, factor, wide):
    tiles, seen = make(), []
    v = np.where(KNOWN, V * S[:, None], 0)
    expected = (v, v * X) if factor == CODES else (v.T, (v * X).T)
    count, width = expected[0].shape
    for given in (slice(3, count), np.arange(0, count, 2)):
        seen = []
        for block in tiles.blocks(factor, given, 5, wide=wide):
            seen.extend(np.arange(count)[block])
            for found, wanted in zip(filled(tiles.tile(factor, block), width), expected, strict=True):
                np.testing.assert_allclose(found, wanted[block])
        np.testing.assert_array_equal(np.sort(seen), np.arange(count)[given])


def test_a_long_row_does_not_make_a_block_of_short_ones_large():
    lengths = np.r_[np.full(400, 2), 20_000]
    indices = np.concatenate([np.arange(length) for length in lengths])
    x = sp.csr_array((np.ones(len(indices)), indices, np.r_[0, np.cumsum(lengths)]), shape=(401, 20_000))
    tiles = ListedTiles(x)
    sizes = [tiles.tile(CODES, block).x.size for block in tiles.blocks(CODES, slice(0, 401), 20, wide=True)]
    assert max(sizes) <= 20_000 + 1000


def test_all_entries():
    total = np.where(KNOWN, V * S[:, None] * X, 0).sum()
    for tiles in (dense(), listed()):
        assert sum((tile.v * tile.x).sum() for tile in tiles.all()) == pytest.approx(total)


def test_no_entry_at_all():
    tile = ListedTiles(sp.csr_array((3, 4))).tile(CODES, np.arange(3))
    assert tile.x.shape == tile.v.shape == (3, 1)
    assert not tile.v.any()

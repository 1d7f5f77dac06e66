"""Three ways to the Gram matrix of every row: all give what the definition says, however X is stored."""

import numpy as np
import pytest
import scipy.sparse as sp

from partwise.core import squares as module
from partwise.core.squares import Listed, Packed, TakenDown
from partwise.core.state import State
from partwise.core.storage import as_operand
from partwise.core.types import CODES, COMPONENTS

RNG = np.random.RandomState(0)
N, M, K = 90, 150, 3
X = RNG.gamma(1.0, size=(N, M)) * (RNG.uniform(size=(N, M)) < 0.6)
HOLES = np.where(RNG.uniform(size=X.shape) < 0.3, np.nan, X)
HOLES[3], HOLES[:, 5] = np.nan, np.nan
V = RNG.uniform(size=X.shape)
S = RNG.uniform(size=N) * (np.arange(N) % 7 > 0)
W, HT = RNG.gamma(0.5, size=(N, K)), RNG.gamma(0.5, size=(M, K))


def listed(x, v, s):
    rows, columns = np.nonzero(~np.isnan(x))
    weight = (1 if v is None else v[rows, columns]) * (1 if s is None else s[rows]) * np.ones(len(rows), x.dtype)
    stored = sp.csr_array((x[rows, columns], (rows, columns)), shape=x.shape)
    return Listed(stored, None if v is None and s is None else weight.astype(x.dtype))


WAYS = {
    "listed": listed,
    "taken down": lambda x, v, s: TakenDown(as_operand(x, "nan"), s),
    "taken down, sparse": lambda x, v, s: TakenDown(as_operand(sp.csr_array(x), "nan"), s),
    "packed": Packed,
    "packed, sparse": lambda x, v, s: Packed(sp.csr_array(x), v, s),
    "packed, by columns": lambda x, v, s: Packed(np.asfortranarray(x), v, s),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("factor", [CODES, COMPONENTS])
@pytest.mark.parametrize(
    ("way", "v", "s"),
    [
        pytest.param(way, v, s, id=f"{way}{'' if v is None else ', v'}{'' if s is None else ', s'}")
        for way in WAYS
        for v in ((None,) if way.startswith("taken down") else (None, V))
        for s in (None, S)
    ],
)
@pytest.mark.parametrize("small", [True, False], ids=["many blocks", "one block"])
def test_all_ways_give_the_gram_matrices_of_the_definition(monkeypatch, way, v, s, factor, dtype, small):
    if small:
        monkeypatch.setattr(module, "BLOCK_BYTES", 2**10)
        monkeypatch.setattr(module, "PACKED_BYTES", 2**10)
    x, before = HOLES.astype(dtype), HOLES.astype(dtype)
    given = [None if weight is None else weight.astype(dtype) for weight in (v, s)]
    squares = WAYS[way](x, *given)
    np.testing.assert_array_equal(x, before)

    weights = ~np.isnan(HOLES) * (1 if v is None else v) * (1 if s is None else s[:, None])
    targets = weights * np.nan_to_num(HOLES)
    np.testing.assert_allclose(squares.total, (targets * np.nan_to_num(HOLES)).sum(), rtol=1e-5)
    weights, targets, G = (weights, targets, HT) if factor == CODES else (weights.T, targets.T, W)
    state = State(as_operand(x, "nan", given[1]), W.astype(dtype), HT.astype(dtype))
    blocks, seen = squares.blocks(state, factor), []
    for rows in (slice(0, 70), slice(70, len(weights))):
        for block in map(module.GramRows.kept, blocks(rows)):
            seen.extend(range(block.rows.start, block.rows.stop))
            grams = np.einsum("ip,pa,pb->iab", weights[block.rows], G, G)
            close = {"rtol": 1e-9 if dtype == np.float64 else 1e-3, "atol": 0 if dtype == np.float64 else 1e-4}
            np.testing.assert_allclose(block.grams, grams, **close)
            np.testing.assert_allclose(block.pulls, targets[block.rows] @ G, **close)
    assert seen == list(range(len(weights)))

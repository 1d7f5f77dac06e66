"""Rows that are read when needed: the same rows whatever their blocks, and errors that name their place."""

import numpy as np
import pytest
import scipy.sparse as sp
from row_sources import AnyRows, Blocks, stored

from partwise import NMF, NormalizedCut
from partwise.core import fetching
from partwise.core.reading import StoredRows, ahead
from partwise.graphs import neighbor_graph

X = np.random.default_rng(0).random((60, 5))


@pytest.mark.parametrize("kind", [Blocks, AnyRows])
@pytest.mark.parametrize("data", [X, X.astype(np.float32), (9 * X).astype(int), sp.csr_array(np.where(X > 0.6, X, 0))])
def test_slices_do_not_depend_on_blocks(kind, data, monkeypatch):
    monkeypatch.setattr(fetching, "UNIT_BYTES", 500)
    rows = stored(kind(data))
    assert rows.dtype == (np.float32 if data.dtype == np.float32 else np.float64)
    full = data.toarray() if sp.issparse(data) else data
    slices = [slice(3, 10), slice(10, 30), slice(41, 60)]
    found = [pair for group in rows.stream(slices) for pair in group]
    assert [where for where, _ in found] == slices
    for where, block in found:
        np.testing.assert_array_equal(block.toarray() if sp.issparse(block) else block, full[where])
    some = rows.take(np.array([50, 3, 3, 17]))
    np.testing.assert_array_equal(some.toarray() if sp.issparse(some) else some, full[[50, 3, 3, 17]])
    assert rows.take(np.array([], int)).shape == (0, 5)
    double = rows.scaled(1).take(np.arange(60))
    np.testing.assert_array_equal(double.toarray() if sp.issparse(double) else double, 2 * full)
    assert rows.scaled(1).facts.largest == 2 * full.max()


@pytest.mark.parametrize("kind", [Blocks, AnyRows])
@pytest.mark.parametrize(
    ("value", "message"),
    [(np.nan, r"NaN in row 33\. If these"), (np.inf, "infinity .* in row 33"), (-1.0, r"NMF \(row 33\)")],
)
def test_bad_entries_are_named_by_their_row(kind, value, message):
    for data in (X.copy(), sp.csr_array(X)):
        data[33, 2] = value
        with pytest.raises(ValueError, match=message):
            NMF(2).fit(kind(data))


def test_what_needs_memory_says_so():
    with pytest.raises(TypeError, match="NormalizedCut needs all of it in memory"):
        NormalizedCut(2).fit(Blocks(X))
    with pytest.raises(TypeError, match="this function needs all of it in memory"):
        neighbor_graph(Blocks(X))
    with pytest.raises(ValueError, match="numbers"):
        StoredRows(Blocks(X.astype(str)))


def test_reading_ahead_passes_errors_on_and_ends():
    def items():
        yield from (1, 2)
        raise OSError("bad disk")

    seen = []
    with pytest.raises(OSError, match="bad disk"):
        seen.extend(ahead(items()))
    assert next(ahead(iter([5, 6, 7]))) == 5


def test_identity_depends_on_contents(tmp_path):
    same, other = stored(AnyRows(X)).identity(), X.copy()
    other[0, 0] += 1e-9
    assert stored(AnyRows(X)).identity() == same
    assert stored(AnyRows(other)).identity() != same

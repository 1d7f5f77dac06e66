"""Samples that are coupled across blocks on workers: the matrices, the bound on their links, and fits."""

from itertools import count
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from partwise import Factorization, GraphNMF, LocalLearningNMF, SemiNMF, load
from partwise.blocks import DaskRows
from partwise.core import spread_parts
from partwise.core.dask_rows import ChunkBlocks
from partwise.core.rows import Cliques, Links, Square
from partwise.core.spread_links import spread_matrix
from partwise.core.spread_parts import PartRows
from partwise.core.spread_rows import ClusterRows
from partwise.domains import Free
from partwise.graphs import projected
from partwise.solvers import spread_aggregates
from partwise.terms import Frobenius, NeighborGraph

da = pytest.importorskip("dask.array")
pytest.importorskip("distributed")

rng = np.random.default_rng(0)
N, M = 360, 25
Y = rng.integers(4, size=N)
PARTS = rng.random((4, M)) * (rng.random((4, M)) < 0.4)
CODES = 0.6 * rng.dirichlet(np.full(4, 0.3), size=N)
CODES[np.arange(N), Y] += 1
X = CODES @ PARTS + 0.15 * rng.random((N, M))
FEW = np.where(np.arange(N) % 5 == 0, Y, -1)
SIZES = (100, 140, 120)


class Here:
    """A cluster that does everything at once, in this process."""

    def __init__(self):
        self.made = count()

    def each(self, name, task, /, *lists, urgency=0, **common):
        values = [_value(given) for given in map(list, lists)]
        return [Done(next(self.made), task(*given, **common)) for given in zip(*values, strict=True)]

    def results(self, futures):
        return _value(futures)

    def total(self, futures):
        return tuple(sum(part) for part in zip(*_value(futures), strict=True))


class Done(NamedTuple):
    """What a task gives."""

    key: int
    value: Any


def _value(given):
    """What is given to a task, or to users: with results in place of tasks."""
    if isinstance(given, Done):
        return given.value
    return [_value(each) for each in given] if isinstance(given, list) else given


def blocks(sizes):
    """Rows in blocks of these sizes."""
    rows = ClusterRows(ChunkBlocks(da.zeros((sum(sizes), 2), chunks=(sizes, 2))), Here())
    rows.blocks = [None] * len(rows.slices)
    return rows


def laplacian(n):
    edges = sp.random_array((n, n), density=0.1, random_state=rng)
    return Links.laplacian(edges + edges.T, 2.0, np.dtype(float))


def square(n):
    others = sp.random_array((n, n), density=0.05, random_state=rng, data_sampler=rng.standard_normal)
    return Square(sp.csr_array(sp.eye_array(n) - others)[: n - 3], 1.5, np.dtype(float)).formed()


def cliques(n):
    return Cliques(rng.integers(-1, 3, size=n), 0.7, np.dtype(float))


@pytest.mark.parametrize("make", [laplacian, square, cliques])
@pytest.mark.parametrize("sizes", [(40,), (7, 13, 20), (2,) * 20])
@pytest.mark.parametrize(("most_rows", "n_parts"), [(2, (1, 3, 20)), (20, (1, 2, 2)), (100, (1, 1, 1))])
def test_matrices_by_blocks_are_those_of_all_samples(make, sizes, most_rows, n_parts, monkeypatch):
    monkeypatch.setattr(spread_parts, "MOST_ROWS", most_rows)
    assert len(PartRows(blocks(sizes)).slices) in n_parts
    rows, F, S = blocks(sizes), rng.random((40, 3)), make(40)
    spread, there = spread_matrix(rows, S), rows.place(F)
    np.testing.assert_allclose(spread.energy(there), S.energy(F), rtol=1e-12)
    np.testing.assert_allclose(spread.positive(there), S.positive(F), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(spread.negative(there), S.negative(F), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("reach", "most"), [(1, 2 * 9), (20, 10)])
def test_rows_that_nearly_all_blocks_need_are_sent_once_for_all(reach, most, monkeypatch):
    monkeypatch.setattr(spread_parts, "MOST_ROWS", 4)
    edges = sp.diags_array([1.0] * (2 * reach), offsets=[*range(-reach, 0), *range(1, reach + 1)], shape=(40, 40))
    rows, F = blocks((4,) * 10), rng.random((40, 3))
    spread, there = spread_matrix(rows, Links.laplacian(edges, 1.0, np.dtype(float))), rows.place(F)
    sent = [array for others in spread.arriving(there) for array in others]
    assert len({id(array) for array in sent}) == most
    np.testing.assert_allclose(spread.negative(there), edges @ F, rtol=1e-12)


@pytest.mark.parametrize("make", [laplacian, square, cliques])
def test_the_bound_on_links_between_blocks_touches_and_lies_above(make, monkeypatch):
    monkeypatch.setattr(spread_parts, "MOST_ROWS", 10)
    rows_of = 7, 13, 20
    rows, F, S = blocks(rows_of), rng.random((40, 3)), make(40)
    spread = spread_matrix(rows, S)
    sent = spread.arriving(rows.place(F))

    def bound(G, turn):
        """Up to a constant, added up over the blocks of a turn; the others stay."""
        total = np.zeros(3)
        for number in turn:
            part, own, others = _value(spread.parts[number]), rows.slices[number], _value(sent[number])
            g, inside = G[own], part.inside
            total += np.einsum("ij,ij->j", g, inside.dot(g) - inside.diagonal()[:, None] * g)
            total += part.stiffness @ (g * g) - 2 * np.einsum("ij,ij->j", part.pull(F[own], others), g)
        return total

    for turn in ((0, 2), (1,)):
        moves = np.isin(np.repeat([0, 1, 2], rows_of), turn)[:, None]
        for size in (1e-5, 1e-2, 1.0):
            G = np.where(moves, np.abs(F + size * rng.standard_normal(F.shape)), F)
            rise, true_rise = bound(G, turn) - bound(F, turn), S.energy(G) - S.energy(F)
            assert (rise >= true_rise - 1e-9).all()
            assert (rise - true_rise <= 500 * size**2).all()
            if len(turn) == 1:
                np.testing.assert_allclose(rise, true_rise, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (GraphNMF(4, graph_strength=0.1), None),
        (GraphNMF(4, graph_strength=20.0), None),
        (GraphNMF(4, graph_strength=1.0, use_labels=True, edge_weights="heat"), FEW),
        (LocalLearningNMF(4, local_strength=1.0), None),
    ],
)
@pytest.mark.parametrize("most_rows", [100, 250])
def test_fits_never_rise_and_end_where_those_in_memory_do(client, workers, model, y, most_rows, monkeypatch):
    monkeypatch.setattr(spread_aggregates, "MOST_AGGREGATES", 40)
    monkeypatch.setattr(spread_parts, "MOST_ROWS", most_rows)
    model.set_params(random_state=0, init="nndsvda", max_iter=100, tol=1e-4)
    chunks = da.from_array(X, chunks=(SIZES, M))
    held, fitted = clone(model).fit(X, y), clone(model).fit(DaskRows(chunks, client), y)
    assert isinstance(fitted.embedding_, da.Array)
    assert (np.diff(fitted.history_["objective"]) <= 0).all()
    assert fitted.objective_ == pytest.approx(held.objective_, rel=1e-3)
    if y is not None:
        assert (fitted.transduction_ == held.transduction_).mean() > 0.99
    new = held.transform(X[:9])
    np.testing.assert_allclose(fitted.transform(X[:9]), new, atol=0.05 * new.max())
    short = clone(model).set_params(max_iter=3, tol=0)
    codes = [np.asarray(clone(short).fit(DaskRows(chunks, client), y).embedding_)]
    alone = workers(1)
    with alone.as_current():
        codes.append(np.asarray(clone(short).fit(DaskRows(chunks, alone), y).embedding_))
    np.testing.assert_array_equal(*codes)


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (GraphNMF(4, graph_strength=0.1), None),
        (GraphNMF(4, graph_strength=20.0), None),
        (GraphNMF(4, graph_strength=1.0, use_labels=True), FEW),
        (LocalLearningNMF(4, local_strength=1.0), None),
    ],
)
def test_coupled_rows_that_one_task_moves_go_the_way_of_those_in_memory(client, model, y):
    model.set_params(random_state=0, init="random", max_iter=12, tol=0)
    held, fitted = (clone(model).fit(given, y) for given in (X, DaskRows(da.from_array(X, chunks=(SIZES, M)), client)))
    np.testing.assert_allclose(fitted.history_["objective"], held.history_["objective"], rtol=1e-7)
    np.testing.assert_allclose(np.asarray(fitted.embedding_), held.embedding_, atol=1e-4 * held.embedding_.max())


def test_many_samples_are_compared_by_their_projections(client, monkeypatch, tmp_path):
    monkeypatch.setattr(projected, "MOST_WHOLE", 100)
    monkeypatch.setattr(projected, "DIMENSIONS", 10)
    model = GraphNMF(4, graph_strength=1.0, random_state=0, max_iter=8, tol=0)
    chunks = da.from_array(X, chunks=(SIZES, M))
    held, fitted = clone(model).fit(X), clone(model).fit(DaskRows(chunks, client))
    assert fitted.objective_ < 2 * held.objective_
    codes = fitted.transform(X[:30])
    fitted.save(tmp_path / "model.npz")
    np.testing.assert_array_equal(load(tmp_path / "model.npz").transform(X[:30]), codes)
    np.testing.assert_allclose(fitted.transform(chunks).compute()[:30], codes, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (GraphNMF(4, graph_strength=1.0, loss="kullback-leibler", use_labels=True), FEW[:150]),
        (GraphNMF(4, graph_strength=1.0, missing="nan"), None),
        (LocalLearningNMF(4, local_strength=1.0, loss="kullback-leibler"), None),
    ],
)
def test_other_losses_and_missing_entries_beside_links(client, workers, model, y):
    model.set_params(random_state=0, init="random", max_iter=40, tol=0)
    given = X[:150].copy()
    if getattr(model, "missing", None):
        given[::7, 3] = np.nan
    chunks = da.from_array(given, chunks=((70, 80), M))
    held, fitted = clone(model).fit(given, y), clone(model).set_params(max_iter=15).fit(DaskRows(chunks, client), y)
    assert isinstance(fitted.embedding_, da.Array)
    assert (np.diff(fitted.history_["objective"]) <= 0).all()
    assert fitted.transform(given[:9]).shape == (9, 4)
    # They go more slowly, since components make multiplicative steps; but they do not leave where a fit in memory ends.
    there = clone(model).set_params(init=(held.embedding_, held.components_), max_iter=5)
    there.fit(DaskRows(chunks, client), y)
    assert held.objective_ * 0.98 < there.objective_ < held.objective_ * 1.001
    short, alone = clone(model).set_params(max_iter=5), workers(1)
    codes = np.asarray(clone(short).fit(DaskRows(chunks, client), y).embedding_)
    with alone.as_current():
        np.testing.assert_array_equal(codes, clone(short).fit(DaskRows(chunks, alone), y).embedding_)


def test_the_same_bits_as_from_disk_where_pieces_are_chunks(client):
    model = GraphNMF(4, graph_strength=1.0, loss="kullback-leibler", init="random", random_state=0, max_iter=15, tol=0)
    chunks = da.from_array(X, chunks=(N, M))
    here, fitted = clone(model).fit(DaskRows(chunks, client=False)), clone(model).fit(DaskRows(chunks, client))
    np.testing.assert_array_equal(fitted.embedding_, here.embedding_)
    np.testing.assert_array_equal(fitted.components_, here.components_)


@pytest.mark.parametrize(
    "model",
    [
        SemiNMF(4, solver="coordinate"),
        Factorization(4, terms=[Frobenius(), NeighborGraph(1.0)], components=Free()),
    ],
)
def test_components_of_either_sign(client, model):
    signed, weight = X - X.mean(axis=0), 0.5 + rng.random(N)
    model.set_params(random_state=0, init="random", max_iter=25, tol=0)
    chunks = DaskRows(da.from_array(signed, chunks=(SIZES, M)), client)
    held, fitted = (clone(model).fit(given, sample_weight=weight) for given in (signed, chunks))
    np.testing.assert_allclose(fitted.history_["objective"], held.history_["objective"], rtol=1e-4)
    assert (fitted.components_ < 0).any()


def test_what_cannot_be_on_workers_beside_links(client, monkeypatch):
    chunks = DaskRows(da.from_array(X, chunks=(SIZES, M)), client)
    with pytest.raises(ValueError, match="init='spectral'"):
        LocalLearningNMF(4, init="spectral").fit(chunks)
    with pytest.raises(ValueError, match="but with solver='coordinate' it may be"):
        SemiNMF(4).fit(chunks)
    monkeypatch.setattr(projected, "MOST_WHOLE", 100)
    chunks = da.from_array(np.where(X.max() == X, np.nan, X), chunks=(SIZES, M))
    with pytest.raises(ValueError, match="360 samples are on workers, and have missing entries"):
        GraphNMF(4, graph_strength=1.0, missing="nan").fit(chunks)

"""Fits on the workers of a cluster: the bits of fits in memory, whatever the workers; X stays where it is."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from partwise import NMF, ConstrainedNMF, Factorization, LocalCoordinateNMF, OrthogonalNMF, load
from partwise.blocks import BlockError, ClusterError, DaskRows, memory_chunks
from partwise.callbacks import Callback, Checkpoint
from partwise.core import cluster, operand, spread_operand
from partwise.core.cluster import Cluster
from partwise.domains import Simplex
from partwise.terms import Frobenius, Orthogonality

da = pytest.importorskip("dask.array")
pytest.importorskip("distributed")

rng = np.random.default_rng(0)
DENSE = rng.random((700, 4)) @ rng.random((4, 30)) + 0.1 * rng.random((700, 30))
SPARSE = sp.random_array((700, 30), density=0.3, format="csr", random_state=rng)
MODEL = NMF(3, init="random", random_state=0, max_iter=5, tol=0)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """As if blocks were a few rows, so that there are many of each; codes are given to dask after every third pass."""
    monkeypatch.setattr(operand, "BLOCK_BYTES", 2**16)
    monkeypatch.setattr(spread_operand, "CUT_EVERY", 3)


def spread(X, client, sizes=None, **options):
    sizes = memory_chunks(X.shape, 3, X.dtype) if sizes is None else sizes
    return DaskRows(da.from_array(X, chunks=(sizes, X.shape[1]), asarray=False), client, **options)


def assert_equal(a, b):
    np.testing.assert_array_equal(a.components_, b.components_)
    np.testing.assert_array_equal(a.embedding_, b.embedding_)
    np.testing.assert_array_equal(a.labels_, b.labels_)
    # The first value is that of the start, whose sums are made otherwise.
    assert a.history_["objective"][1:] == b.history_["objective"][1:]


@pytest.mark.parametrize(("init", "dtype"), [("random", np.float32), ("kmeans", np.float64), ("sampled", np.float64)])
def test_fits_have_the_bits_of_fits_in_memory(client, init, dtype):
    model, X = clone(MODEL).set_params(init=init), DENSE.astype(dtype)
    assert len(memory_chunks(X.shape, 3, dtype)) >= 2
    held, fitted = clone(model).fit(X), clone(model).fit(spread(X, client))
    assert_equal(held, fitted)
    assert isinstance(fitted.embedding_, da.Array)
    assert isinstance(fitted.labels_, da.Array)
    assert fitted.embedding_.dtype == dtype
    assert isinstance(fitted.components_, np.ndarray)


@pytest.mark.parametrize("n_chunks", [3, 40])
def test_shares_are_looked_up_or_taken_out_by_tasks(client, monkeypatch, n_chunks):
    """Both ways have the same bits; tasks are for results that are large, on disk or lost, and for many workers."""
    X, asked, each = spread(DENSE, client, n_chunks * (700 // n_chunks,) + (700 % n_chunks,)), [], Cluster.each

    def seen(self, name, *arguments, **options):
        asked.append(name)
        return each(self, name, *arguments, **options)

    monkeypatch.setattr(Cluster, "each", seen)
    looked_up = clone(MODEL).fit(X)
    assert "shares" not in asked
    for name, value in (("LOOKED_UP_BYTES", 0), ("_last_items", lambda keys, dask_worker: {})):
        asked.clear()
        with monkeypatch.context() as patch:
            patch.setattr(cluster, name, value)
            by_tasks = clone(MODEL).fit(X)
        assert "shares" in asked
        np.testing.assert_array_equal(by_tasks.components_, looked_up.components_)
        np.testing.assert_array_equal(by_tasks.embedding_, looked_up.embedding_)


def test_sparse_rows(client):
    held, fitted = clone(MODEL).fit(SPARSE), clone(MODEL).fit(spread(SPARSE, client, (300, 400)))
    np.testing.assert_allclose(held.components_, fitted.components_, rtol=1e-9)
    many = clone(MODEL).set_params(n_components=9)
    held, fitted = clone(many).fit(SPARSE), clone(many).fit(spread(SPARSE, client, (300, 0, 400)))
    np.testing.assert_allclose(held.embedding_, fitted.embedding_, atol=1e-9)
    assert held.history_["objective"] == pytest.approx(fitted.history_["objective"])


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
def test_large_components_are_new_in_every_sweep(client, loss):
    """Dask keeps large arguments under their name, which all calls share."""
    X = rng.random((40, 3)) @ rng.random((3, 6000))
    models = [clone(MODEL).set_params(loss=loss, max_iter=sweeps) for sweeps in (3, 6)]
    here = [clone(model).fit(spread(X, False)).reconstruction_err_ for model in models]
    fitted = [clone(model).fit(spread(X, client)) for model in models]
    assert fitted[0].components_.nbytes > 10**5
    assert [model.reconstruction_err_ for model in fitted] == pytest.approx(here, rel=1e-6)
    assert fitted[1].score(spread(X, client)) == pytest.approx(fitted[1].score(X))


def test_the_number_of_workers_does_not_matter(workers, client):
    sizes = (40,) * 17 + (20,)
    model = clone(MODEL).set_params(max_iter=2, l1_codes=0.1)
    expected, other = clone(model).fit(spread(DENSE, client, sizes)), workers(1)
    expected = pickle.loads(pickle.dumps(expected))
    fitted = clone(model).fit(spread(DENSE, other, sizes))
    with other.as_current():
        assert_equal(expected, fitted)


@pytest.mark.parametrize(
    ("settings", "weighted"),
    [
        ({"init": "nndsvda"}, True),
        ({"l1_codes": 0.2, "l1_components": 0.1}, True),
        ({"l2_codes": 0.2, "n_init": 2, "max_iter": 20}, False),
        ({"tol": 1e-2, "max_iter": 30, "scale": None}, True),
        ({"n_components": [2, 4]}, False),
    ],
)
def test_penalties_starts_and_weights(client, settings, weighted):
    model = clone(MODEL).set_params(**settings)
    weight = 0.5 + rng.random(700) if weighted else None
    held = clone(model).fit(DENSE, sample_weight=weight)
    fitted = clone(model).fit(spread(DENSE, client), sample_weight=weight)
    np.testing.assert_allclose(held.components_, fitted.components_, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(held.embedding_, fitted.embedding_, rtol=1e-4, atol=1e-4)
    assert held.stop_reason_ == fitted.stop_reason_


@pytest.mark.parametrize(
    ("settings", "weighted"),
    [({}, True), ({"graph_strength": 0.5, "max_iter": 60}, False), ({"loss": "kullback-leibler"}, False)],
)
def test_local_coordinates(client, settings, weighted):
    model = LocalCoordinateNMF(3, coordinate_strength=0.1, init="random", random_state=0, max_iter=12, tol=0)
    model.set_params(**settings)
    weight = 0.5 + rng.random(700) if weighted else None
    # In memory another solver fits entries.
    here = spread(DENSE, False) if "loss" in settings else DENSE
    held, fitted = clone(model).fit(here, None, weight), clone(model).fit(spread(DENSE, client), None, weight)
    assert fitted.objective_ == pytest.approx(held.objective_, rel=1e-3)
    assert (np.diff(fitted.history_["objective"]) <= 0).all()


def test_components_that_no_sample_uses_are_moved_to_samples(client):
    start = np.full((700, 4), 0.3), np.vstack([DENSE[:3], np.full(30, 50.0)])
    model = LocalCoordinateNMF(4, coordinate_strength=0.5, init=start, max_iter=12, tol=0)
    held, fitted = clone(model).fit(DENSE), clone(model).fit(spread(DENSE, client))
    np.testing.assert_allclose(fitted.components_, held.components_, rtol=1e-3, atol=1e-3)
    assert held.embedding_.max(axis=0).min() > 0


@pytest.mark.parametrize("X", [DENSE, SPARSE])
def test_samples_of_a_class_share_their_code(client, X):
    y = np.where(rng.random(700) < 0.3, rng.integers(3, size=700), -1)
    y[300:400] = 2
    model = ConstrainedNMF(3, init="random", random_state=0, max_iter=8, tol=0)
    held, fitted = clone(model).fit(X, y), clone(model).fit(spread(X, client, (300, 100, 300)), y)
    assert fitted.embedding_.chunks[0] == (300, 100, 300)
    codes = np.asarray(fitted.embedding_)
    assert (codes[y == 2] == codes[350]).all()
    np.testing.assert_allclose(codes, held.embedding_, atol=1e-2 * codes.max())
    assert fitted.objective_ == pytest.approx(held.objective_, rel=1e-4)
    assert fitted.history_["within classes"][-1] == pytest.approx(held.history_["within classes"][-1])
    assert (fitted.transduction_ == held.transduction_).mean() > 0.99


def test_factors_of_one_row_per_component(client):
    model = Factorization(4, random_state=0, max_iter=4, tol=0)
    with pytest.warns(UserWarning, match="components"):
        held, fitted = clone(model).fit(DENSE[:4, :3]), clone(model).fit(spread(DENSE[:4, :3], client, (2, 2)))
    np.testing.assert_allclose(held.components_, fitted.components_, atol=1e-7)


def test_data_of_any_unit(client):
    held, fitted = clone(MODEL).fit(DENSE * 2.0**450), clone(MODEL).fit(spread(DENSE * 2.0**450, client))
    assert_equal(held, fitted)


def test_the_current_client_is_used(client):
    chunks = da.from_array(DENSE, chunks=(200, 30))
    assert isinstance(clone(MODEL).fit(chunks).embedding_, da.Array)
    here = clone(MODEL).fit(DaskRows(chunks, client=False))
    assert isinstance(here.embedding_, np.ndarray)
    assert_equal(here, clone(MODEL).fit(DENSE))


def test_models_are_ordinary(client, tmp_path):
    X = spread(DENSE, client)
    model = clone(MODEL).fit(X)
    codes = model.transform(DENSE[:9])
    model.save(tmp_path / "model.npz")
    for other in (load(tmp_path / "model.npz"), pickle.loads(pickle.dumps(model))):
        assert isinstance(other.embedding_, np.ndarray)
        np.testing.assert_array_equal(other.transform(DENSE[:9]), codes)
        np.testing.assert_array_equal(other.labels_, model.labels_)
        np.testing.assert_array_equal(other.predict(DENSE), model.predict(DENSE))
    np.testing.assert_allclose(model.transform(X).compute(), model.transform(DENSE), rtol=1e-9)
    np.testing.assert_array_equal(model.predict(X).compute(), model.predict(DENSE))


def test_labels_of_many_codes_come_from_a_sample(client, monkeypatch):
    from partwise.clusters import assignment

    monkeypatch.setattr(assignment, "MOST_CODES", 300)
    monkeypatch.setattr(assignment, "SAMPLED_CODES", 200)
    for rule in ("kmeans", "argmax"):
        model = clone(MODEL).set_params(assign=rule)
        held, fitted = clone(model).fit(DENSE), clone(model).fit(spread(DENSE, client))
        assert isinstance(fitted.labels_, da.Array)
        np.testing.assert_array_equal(held.labels_, fitted.labels_.compute())


def test_x_never_travels(client, monkeypatch):
    sent = []
    results = cluster.Cluster.results

    def recorded(self, futures):
        found = results(self, futures)
        sent.extend(getattr(part, "nbytes", 0) for each in found for part in (each if type(each) is tuple else [each]))
        return found

    monkeypatch.setattr(cluster.Cluster, "results", recorded)
    monkeypatch.setattr(spread_operand, "CUT_EVERY", 1000)
    clone(MODEL).fit(spread(DENSE, client, (320, 380)))
    blocks = DENSE.nbytes / 2
    assert max(sent) < blocks / 20
    assert sum(sent) < blocks / 2


class Stop(Callback):
    def __init__(self, error):
        self.error, self.codes = error, None

    def on_sweep(self, progress):
        if progress.sweep == 4:
            self.codes = np.asarray(progress.codes)
            raise self.error


def test_checkpoints_callbacks_and_interruption(client, tmp_path):
    X, path = spread(DENSE, client), tmp_path / "fit.npz"
    expected = clone(MODEL).fit(X)
    stop = Stop(RuntimeError("killed"))
    with pytest.raises(RuntimeError, match="killed"):
        clone(MODEL).set_params(callbacks=[Checkpoint(path, every=3), stop]).fit(X)
    assert stop.codes.shape == (700, 3)
    assert_equal(expected, clone(MODEL).set_params(callbacks=Checkpoint(path, every=3)).fit(X))
    with pytest.warns(UserWarning, match="interrupted after 4 sweeps"):
        model = clone(MODEL).set_params(callbacks=Stop(KeyboardInterrupt())).fit(X)
    assert model.stop_reason_ == "interrupted"
    assert model.embedding_.shape == (700, 3)


def test_fits_at_the_same_time(client):
    models = [clone(MODEL).set_params(random_state=seed) for seed in (0, 0, 1)]
    with ThreadPoolExecutor(3) as pool:
        fitted = list(pool.map(lambda model: model.fit(spread(DENSE, client)), models))
    assert_equal(fitted[0], fitted[1])
    assert_equal(fitted[2], clone(models[2]).fit(DENSE))


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (Factorization(3, terms=[Frobenius(np.ones((700, 30)))]), "with element weights"),
        (Factorization(3, terms=[Frobenius(), Orthogonality(1.0)]), "with Orthogonality"),
        (NMF(3, solver="multiplicative"), "solver='multiplicative'"),
        (Factorization(3, codes=Simplex()), "with codes at sums of one"),
        (OrthogonalNMF(3), "OrthogonalNMF cannot be fitted on the workers"),
    ],
)
def test_what_workers_cannot_do_is_refused_before_any_work(client, estimator, words, monkeypatch):
    monkeypatch.setattr(cluster.Cluster, "check", None)
    with pytest.raises(ValueError, match=words) as refusal:
        estimator.fit(spread(DENSE, client))
    assert "client=False" in str(refusal.value)


@pytest.mark.parametrize(("value", "words"), [(np.nan, "NaN in row 417"), (-1.0, "row 417"), (np.inf, "in row 417")])
def test_a_bad_entry_is_named_by_its_row(client, value, words):
    X = DENSE.copy()
    X[417, 11] = value
    with pytest.raises(ValueError, match=words):
        clone(MODEL).fit(spread(X, client, (100, 300, 300)))


def test_chunks_that_are_not_alike(client):
    mixed = da.concatenate([da.from_array(part, asarray=False) for part in (DENSE[:300], SPARSE[300:])])
    with pytest.raises(BlockError, match="from row 300 on is sparse"):
        clone(MODEL).fit(DaskRows(mixed, client))
    import dask

    wrong = da.from_delayed(dask.delayed(DENSE[:90]), (100, 30), float)
    with pytest.raises(BlockError, match="rows 0 to 99"):
        clone(MODEL).fit(DaskRows(wrong, client))
    with pytest.raises(ValueError, match="weight zero"):
        clone(MODEL).fit(spread(DENSE, client), sample_weight=np.arange(700.0))


def test_clients_that_are_of_no_use(workers):
    closed = workers(1)
    closed.close()
    with pytest.raises(ClusterError, match="is closed"):
        clone(MODEL).fit(spread(DENSE, closed))
    with pytest.raises(TypeError, match="needs a dask array"):
        DaskRows(DENSE)
    empty = workers(0)
    with pytest.raises(ClusterError, match=r"no worker for 0\.2 seconds"):
        clone(MODEL).fit(spread(DENSE, empty, patience=0.2))


def test_what_codes_on_workers_cannot_do_is_said(client):
    seen = []
    clone(MODEL).set_params(callbacks=lambda progress: seen.append(progress.codes)).fit(spread(DENSE, client))
    codes = seen[-1]
    assert codes.shape == (700, 3)
    for impossible in (
        lambda: np.sort(codes),
        lambda: codes[3],
        lambda: codes.max(axis=1),
        lambda: np.add.reduce(codes),
    ):
        with pytest.raises(TypeError, match="brings them here"):
            impossible()
    whole = np.asarray(codes)
    np.testing.assert_allclose((2 * codes + 1).max(axis=0), (2 * whole + 1).max(axis=0))
    np.testing.assert_allclose(codes.T @ codes, whole.T @ whole)
    np.testing.assert_array_equal(codes[:, [2, 0]], whole[:, [2, 0]])

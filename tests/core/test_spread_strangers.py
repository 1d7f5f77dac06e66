"""What strangers give to a fit on workers, in which order it is refused, and what they do with the model afterwards."""

import asyncio
import gc
import pickle
import time
from threading import Lock

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from partwise import (
    NMF,
    ConstrainedNMF,
    ConvexNMF,
    GraphNMF,
    GroupNMF,
    LatentSemanticKMeans,
    LocalCoordinateNMF,
    LocalLearningNMF,
    NormalizedCut,
    SemiNMF,
    load,
)
from partwise.blocks import BlockError, ClusterError, DaskRows
from partwise.core import cluster
from partwise.selection import ConsensusNMF

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")
pytest.importorskip("distributed")

rng = np.random.default_rng(0)
X = rng.random((120, 4)) @ rng.random((4, 15)) + 0.1 * rng.random((120, 15))
Y = rng.integers(-1, 3, size=120)
MODEL = NMF(3, init="random", random_state=0, max_iter=3, tol=0)


def chunks(X=X, size=40):
    return da.from_array(X, chunks=(size, -1), asarray=False)


@pytest.fixture
def no_work(monkeypatch):
    """The first thing that a fit does on workers fails."""
    monkeypatch.setattr(cluster.Cluster, "check", None)


@pytest.mark.parametrize(
    "model",
    [
        NMF(3),
        NMF(3, loss="kullback-leibler"),
        NMF([2, 3]),
        ConstrainedNMF(3),
        GraphNMF(3, graph_strength=1.0, use_labels=True),
        LocalCoordinateNMF(3),
        LocalLearningNMF(3),
        SemiNMF(3, solver="coordinate"),
    ],
)
def test_models_leave_the_cluster(client, model, tmp_path):
    model.set_params(random_state=0, max_iter=2, tol=0).fit(chunks(), Y)
    codes, labels = model.transform(X[:9]), np.asarray(model.labels_)
    model.save(tmp_path / "model.npz")
    for other in (load(tmp_path / "model.npz"), pickle.loads(pickle.dumps(model))):
        assert isinstance(other.embedding_, np.ndarray)
        np.testing.assert_array_equal(other.transform(X[:9]), codes)
        np.testing.assert_array_equal(other.labels_, labels)
        if hasattr(model, "transduction_"):
            np.testing.assert_array_equal(other.transduction_, model.transduction_)


def test_codes_that_are_gone_with_their_client(workers, tmp_path):
    one = workers(1)
    models = clone(MODEL).fit(DaskRows(chunks(), one)), ConstrainedNMF(3, max_iter=2, tol=0)
    models[1].fit(DaskRows(chunks(), one), Y)
    one.close()
    for model, use in (
        (models[0], pickle.dumps),
        (models[0], lambda model: model.save(tmp_path / "model.npz")),
        (models[0], lambda model: model.labels_),
        (models[1], lambda model: model.transduction_),
    ):
        with pytest.raises(ClusterError, match="their client is closed or not the current one"):
            use(model)
    assert models[0].transform(X[:5]).shape == (5, 3)


@pytest.mark.parametrize(
    ("use", "words"),
    [
        (lambda: clone(MODEL).fit(chunks(), None, np.r_[0.0, np.ones(119)]), "weight zero cannot be on workers"),
        (lambda: clone(MODEL).fit(chunks(), None, da.ones(7)), "120 samples, one weight each"),
        (lambda: ConstrainedNMF(3).fit(chunks(), Y[:7]), "7 labels and X has 120 samples"),
        (lambda: clone(MODEL).fit(da.ma.masked_greater(chunks(), 1.0)), "whose mask would be ignored"),
        (lambda: clone(MODEL).fit(chunks().astype(complex)), "chunks have dtype complex128"),
        (lambda: NMF(3, fixed_components=X[:1]).fit(chunks()), "fixed entries .*client=False.* chunk by chunk"),
        (lambda: ConvexNMF(3).fit(chunks()), r"ConvexNMF cannot be .*X\.compute\(\)"),
        (lambda: LatentSemanticKMeans(3).fit(chunks()), r"LatentSemanticKMeans cannot be .*X\.compute\(\)"),
        (lambda: NormalizedCut(3).fit(chunks()), r"NormalizedCut cannot be .*X\.compute\(\)"),
        (lambda: ConsensusNMF(NMF(3)).fit(chunks()), r"ConsensusNMF cannot be .*X\.compute\(\)"),
        (lambda: DaskRows(chunks(), "tcp://127.0.0.1:8786"), "must be a distributed.Client or False, not 'tcp"),
    ],
)
def test_refused_before_any_work(client, no_work, use, words):
    with pytest.raises((ValueError, TypeError), match=words):
        use()


@pytest.mark.parametrize(
    ("new", "words"),
    [
        (chunks(X[:, :5]), "X has 5 features, but NMF is expecting 15"),
        (chunks().astype(complex), "chunks have dtype complex128"),
        (chunks()[0], "has 1 dimension"),
        (da.ma.masked_greater(chunks(), 1.0), "whose mask would be ignored"),
    ],
)
def test_what_cannot_be_coded_is_refused_before_it_is_computed(new, words):
    model = clone(MODEL).fit(X)
    for method in (model.transform, model.predict):
        with pytest.raises((ValueError, TypeError), match=words):
            method(new)


def fail():
    raise OSError("the disk is gone")


def test_a_chunk_that_cannot_be_computed_is_named(client):
    for bad, words in (
        (dask.delayed(fail)(), "OSError: the disk is gone"),
        (dask.delayed(np.ma.masked_array)(X[:20], X[:20] > 1), "mask would be ignored"),
    ):
        broken = da.concatenate([chunks(), da.from_delayed(bad, (20, 15), float)])
        for where in (client, False):
            with pytest.raises(BlockError, match=rf"Block 3 of X \(from row 120 on\) cannot be read.*{words}"):
                clone(MODEL).fit(DaskRows(broken, where))


def test_nothing_stays_on_workers_after_a_fit(workers):
    """A client keeps errors of tasks, and their tracebacks keep futures."""
    one = workers(1)
    broken = da.concatenate([chunks(), da.from_delayed(dask.delayed(fail)(), (20, 15), float)])
    clone(MODEL).fit(DaskRows(chunks(), one))
    for bad, words in ((chunks(X - 1), "Negative values"), (broken, "the disk is gone")):
        with pytest.raises((ValueError, BlockError), match=words) as refusal:
            clone(MODEL).fit(DaskRows(bad, one))
        del refusal
    # The scheduler forgets what nobody needs a little later.
    until = time.monotonic() + 10
    while one.futures and time.monotonic() < until:
        gc.collect()
        time.sleep(0.02)
    assert not one.futures


def test_codes_of_groups_are_lazy(client):
    model = GroupNMF(2, random_state=0, max_iter=3, tol=0).fit(X, groups=np.arange(120) % 2)
    np.testing.assert_allclose(model.transform(chunks()).compute(), model.transform(X), atol=1e-8)
    np.testing.assert_array_equal(model.predict(chunks()).compute(), model.predict(X))


@pytest.mark.filterwarnings("ignore")
def test_chunks_that_cannot_be_sent(client, caplog):
    lock = Lock()
    with pytest.raises(ClusterError, match=r"X cannot be sent to the workers: .*lock.*client=False"):
        clone(MODEL).fit(chunks().map_blocks(lambda block: (lock, block)[1], dtype=float))


def test_an_asynchronous_client(client):
    from distributed import Client

    async def fit():
        async with Client(client.scheduler.address, asynchronous=True, set_as_default=False) as own:
            with pytest.raises(ClusterError, match=r"asyncio\.to_thread"):
                clone(MODEL).fit(DaskRows(chunks(), own))
            return await asyncio.to_thread(clone(MODEL).fit, DaskRows(chunks(), own))

    np.testing.assert_array_equal(asyncio.run(fit()).components_, clone(MODEL).fit(chunks()).components_)


def matrix(block):
    return np.matrix(block)


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize(
    ("form", "dtype"),
    [
        (np.array, np.float32),
        (np.array, np.int64),
        (np.array, bool),
        (np.array, np.float16),
        (matrix, float),
        (sp.csr_matrix, float),
        (sp.csc_array, np.float32),
        (sp.coo_matrix, np.int32),
        (sp.lil_array, float),
    ],
)
def test_chunks_of_any_form(client, form, dtype):
    whole = (X * 3).astype(dtype)
    whole[:, 4], whole[50:60] = 0, 0
    parts = [form(part) for part in np.split(whole, [30, 31, 90])]
    lazy = da.concatenate([da.from_delayed(dask.delayed(part), part.shape, dtype) for part in parts])
    here = whole if form is matrix else form(whole)
    held, fitted = (clone(MODEL).fit(given) for given in (here, lazy))
    np.testing.assert_allclose(fitted.components_, held.components_, atol=1e-3)
    np.testing.assert_allclose(np.asarray(fitted.embedding_), held.embedding_, atol=1e-3 * held.embedding_.max())
    # Empty samples, and another unit of rounding where the form is narrow.
    np.testing.assert_allclose(fitted.transform(lazy).compute(), fitted.transform(here), atol=1e-4)


def test_what_samples_have_may_be_dask_arrays(client):
    weight, there = 0.5 + rng.random(120), {"chunks": 50}
    here, fitted = (clone(MODEL).fit(chunks(), None, w) for w in (weight, da.from_array(weight, **there)))
    np.testing.assert_array_equal(fitted.components_, here.components_)
    model = ConstrainedNMF(3, random_state=0, max_iter=2, tol=0)
    here, fitted = (clone(model).fit(chunks(), y) for y in (Y, da.from_array(Y, **there)))
    np.testing.assert_array_equal(fitted.components_, here.components_)
    np.testing.assert_array_equal(fitted.transduction_, here.transduction_)


@pytest.mark.parametrize(("loss", "init"), [("frobenius", "sampled"), ("kullback-leibler", "random")])
def test_wide_data_in_many_chunks(client, loss, init):
    """Components of more than 100 kB in every task that holds some, also those of starts and new codes."""
    wide = sp.random_array((128, 3000), density=0.02, format="csr", random_state=np.random.default_rng(1))
    model = NMF(20, init=init, loss=loss, random_state=0, max_iter=2, tol=0)
    fitted, here = (clone(model).fit(DaskRows(chunks(wide, 8), where)) for where in (client, False))
    assert fitted.components_.nbytes > 10**5
    assert fitted.objective_ == pytest.approx(here.objective_, rel=1e-2)
    np.testing.assert_allclose(fitted.transform(chunks(wide, 32)).compute(), fitted.transform(wide), atol=1e-8)

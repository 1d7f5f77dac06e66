"""Threads change the time a fit takes, and nothing else."""

import threading

import numpy as np
import pytest
import scipy.sparse as sp

from partwise import NMF, ConstrainedNMF, GraphNMF
from partwise.core import operand as operands
from partwise.core.threads import Workers, thread_count


@pytest.fixture
def small_blocks(monkeypatch):
    """Many blocks and parts even on small data."""
    monkeypatch.setattr(operands, "BLOCK_BYTES", 2**12)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "estimator",
    [
        NMF(5, init="random"),
        NMF(5),
        NMF(5, init="sampled"),
        NMF(5, loss="kullback-leibler"),
        GraphNMF(5, use_labels=True),
        ConstrainedNMF(5),
    ],
    ids=["random", "nndsvda", "sampled", "divergence", "graph", "labels"],
)
def test_factors_are_bitwise_equal_for_any_number_of_threads(estimator, make, dtype, small_blocks, monkeypatch):
    rng = np.random.RandomState(0)
    X = make(np.where(rng.uniform(size=(700, 40)) < 0.5, 0, rng.uniform(size=(700, 40))).astype(dtype))
    y, weight = np.where(np.arange(700) < 60, np.arange(700) % 6, -1), rng.randint(1, 4, size=700)
    models = []
    for count in ("1", "2", "5"):
        monkeypatch.setenv("OMP_NUM_THREADS", count)
        model = estimator.set_params(max_iter=12, tol=0, random_state=0).fit(X, y, sample_weight=weight)
        models.append((model.embedding_, model.components_, model.transform(X)))
    for other in models[1:]:
        for one, two in zip(models[0], other, strict=True):
            assert np.array_equal(one, two)


def test_workers_use_threads_only_while_open(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    workers = Workers()
    here = threading.get_ident()
    assert set(workers.map(lambda _: threading.get_ident(), range(8))) == {here}
    with workers.open():
        assert here not in workers.map(lambda _: threading.get_ident(), range(8))
        assert workers.map(lambda i: i * i, range(8)) == [i * i for i in range(8)]
    assert set(workers.map(lambda _: threading.get_ident(), range(8))) == {here}


def test_thread_count(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert thread_count() == 3
    monkeypatch.setenv("OMP_NUM_THREADS", "many")
    assert thread_count() >= 1

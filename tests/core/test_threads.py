"""Threads change the time a fit takes, and nothing else."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from joblib import Parallel, delayed
from sklearn.base import clone
from threadpoolctl import ThreadpoolController, threadpool_info, threadpool_limits

from partwise import NMF, ConstrainedNMF, GraphNMF
from partwise.callbacks import Callback
from partwise.core import operand as operands
from partwise.core.threads import Workers, _pools, one_thread, thread_count


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
        GraphNMF(5, graph_strength=10.0, use_labels=True),
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


def limits():
    """Threads of every pool of BLAS and OpenMP in this process; scipy's file readers have their own."""
    return {
        pool["filepath"]: pool["num_threads"] for pool in threadpool_info() if pool["user_api"] in ("blas", "openmp")
    }


@pytest.fixture
def two_blas_threads():
    """More than one thread to lose, whatever the environment says."""
    _pools.cache_clear()  # other tests may have loaded libraries since they were looked for
    pools = ThreadpoolController().lib_controllers
    before = [pool.get_num_threads() for pool in pools]
    set_limits(pools, [2] * len(pools))
    yield limits()
    set_limits(pools, before)


def set_limits(pools, counts):
    for pool, count in zip(pools, counts, strict=True):
        pool.set_num_threads(count)
        getattr(pool, "clear_controlling_thread", lambda: None)()


class Gate(Callback):
    """Holds a fit after its first sweep until it may continue."""

    def __init__(self):
        self.inside, self.go_on = threading.Event(), threading.Event()

    def on_sweep(self, progress):
        self.inside.set()
        assert self.go_on.wait(20)


SMALL = np.random.RandomState(0).uniform(size=(30, 6))


def held_fits(count):
    """Fits that overlap, each in its own thread, which also reports the limits it left in the end."""
    fits = []
    for _ in range(count):
        gate, left = Gate(), []

        def run(gate=gate, left=left):
            before = limits()
            NMF(2, max_iter=2, tol=0, init="random", random_state=0, callbacks=gate).fit(SMALL).transform(SMALL)
            left.append((before, limits()))

        thread = threading.Thread(target=run)
        thread.start()
        assert gate.inside.wait(20)
        fits.append((thread, gate, left))
    return fits


def blas(limits):
    return {path: count for path, count in limits.items() if "blas" in path}


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_overlapping_fits_leave_the_limits_as_they_were(order, two_blas_threads):
    fits = held_fits(3)
    assert set(blas(limits()).values()) <= {1}
    for index in order:
        thread, gate, left = fits[index]
        gate.go_on.set()
        thread.join(60)
        # OpenMP has a limit for every thread.
        before, after = ({path: found[path] for path in found.keys() - blas(found)} for found in left[0])
        assert before == after
    assert limits() == two_blas_threads


def test_nested_limits_and_errors_leave_the_limits_as_they_were(two_blas_threads):
    with one_thread():
        with one_thread():
            assert set(limits().values()) == {1}
        assert set(limits().values()) == {1}
        with pytest.raises(RuntimeError), one_thread():
            raise RuntimeError
        assert set(limits().values()) == {1}
    assert limits() == two_blas_threads


def test_an_error_in_one_of_two_overlapping_fits(two_blas_threads):
    [(thread, gate, _)] = held_fits(1)

    def fail(progress):
        raise RuntimeError("as a callback may")

    with pytest.raises(RuntimeError, match="as a callback may"):
        NMF(2, max_iter=5, init="random", callbacks=fail).fit(SMALL)
    gate.go_on.set()
    thread.join(60)
    assert limits() == two_blas_threads


def test_joblib_threads(two_blas_threads):
    model = NMF(2, max_iter=20, tol=0, random_state=0)
    fits = Parallel(n_jobs=3, backend="threading")(delayed(clone(model).fit)(SMALL) for _ in range(12))
    assert limits() == two_blas_threads
    assert all(np.array_equal(fit.embedding_, fits[0].embedding_) for fit in fits)


FORKING = """
import os, threading, warnings
import numpy as np
from threadpoolctl import ThreadpoolController, threadpool_info
warnings.simplefilter("ignore")
from partwise import NMF
from partwise.core.threads import one_thread

X = np.random.RandomState(0).uniform(size=(30, 6))
NMF(2, max_iter=2).fit(X)
limits = lambda: [pool["num_threads"] for pool in threadpool_info()]

def in_child(expect):
    child = os.fork()
    if child == 0:
        try:
            ok = limits() == expect
            NMF(2, max_iter=2).fit(X)
            os._exit(0 if ok and limits() == expect else 1)
        except BaseException:
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

for pool in ThreadpoolController().lib_controllers:
    pool.set_num_threads(2)
    getattr(pool, "clear_controlling_thread", lambda: None)()
usual = limits()
inside, go_on = threading.Event(), threading.Event()

def hold():
    with one_thread():
        inside.set()
        go_on.wait(20)

other = threading.Thread(target=hold)
other.start()
inside.wait(20)
print(in_child(usual))  # the other thread is gone, and so is its limit
with one_thread():
    print(in_child([1] * len(usual)))  # the thread that forked is still inside
go_on.set()
other.join()
print(limits() == usual)
"""


def test_limits_of_the_user_around_and_between_overlapping_fits(two_blas_threads):
    with threadpool_limits(3):
        usual = limits()
        (first, first_gate, _), (second, second_gate, _) = held_fits(2)
        first_gate.go_on.set()
        first.join(60)
        assert limits() == usual or set(blas(limits()).values()) <= {1}
    second_gate.go_on.set()
    second.join(60)
    assert limits() == two_blas_threads


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_process_forgets_the_limits_of_threads_that_it_has_not():
    printed = subprocess.run([sys.executable, "-c", FORKING], capture_output=True, text=True, timeout=120)
    assert printed.stdout.split() == ["0", "0", "True"], printed.stderr

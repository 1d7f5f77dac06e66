"""Workers that are killed in the middle of a fit, and clusters that shrink to nothing."""

import subprocess
import sys

import numpy as np
import pytest
from worker_kill_trials import fit, kill_one, same, start

from partwise import NMF
from partwise.blocks import ClusterError, DaskRows
from partwise.callbacks import Callback, Checkpoint
from partwise.core import cluster as module

da = pytest.importorskip("dask.array")
pytest.importorskip("distributed")


class At(Callback):
    """Does something after a sweep."""

    def __init__(self, sweep, action):
        self.sweep, self.action = sweep, action

    def on_sweep(self, progress):
        if progress.sweep == self.sweep:
            self.action()


@pytest.mark.filterwarnings("ignore")
def test_lost_workers_change_nothing_but_the_time(tmp_path, monkeypatch):
    """One cluster for two things, since processes take seconds to start; worker_kill_trials.py has more."""
    monkeypatch.setattr(module, "GLANCE", 0.2)
    client, cluster = start()
    try:
        expected = fit(client, 4)
        # A worker dies; its nanny starts another.
        assert same(expected, fit(client, 4, At(2, lambda: kill_one(client, np.random.default_rng(0)))))
        # All workers go: an error after some time, and a fit that resumes when there are workers again.
        path = tmp_path / "fit.npz"
        with pytest.raises(ClusterError, match="no worker for 1 seconds"):
            fit(client, 4, [Checkpoint(path, every=2), At(3, lambda: cluster.scale(0))], patience=1.0)
        cluster.scale(1)
        assert same(expected, fit(client, 4, Checkpoint(path, every=2)))
    finally:
        client.close()
        cluster.close()


class Answering:
    """A client whose workers answer as they are told to."""

    status, asynchronous = "running", False

    def __init__(self, **more):
        self.more = more

    def nthreads(self):
        return {"alive": 1}

    def wait_for_workers(self, count, timeout):
        pass

    def run(self, function, on_error):
        return {"alive": function(), "dying": OSError("closed"), **self.more}


def test_a_worker_that_dies_while_versions_are_compared_is_no_worker():
    module.Cluster(Answering(), 1.0).check()


@pytest.mark.parametrize(
    ("answer", "words"),
    [("0.0.1", "partwise 0.0.1"), (ModuleNotFoundError("No module named 'partwise'"), "no partwise")],
)
def test_workers_with_another_partwise_are_refused(answer, words):
    """By fits, and before codes are asked for: a task that a worker cannot import ends the worker."""
    client = Answering(odd=answer)
    with pytest.raises(ClusterError, match=rf"1 of 3 workers .* odd has {words}"):
        module.Cluster(client, 1.0).check()
    model = NMF(2, max_iter=2, tol=0).fit(np.eye(4))
    client.scheduler_info = None
    X = DaskRows(da.ones((6, 4), chunks=(3, 4)), client)
    with pytest.raises(ClusterError, match=words):
        model.transform(X)


def test_the_question_for_the_version_is_sent_whole():
    """Workers without partwise must be able to read it."""
    cloudpickle = pytest.importorskip("cloudpickle")
    sent = cloudpickle.dumps(module._sent_whole())
    script = "import pickle, sys; sys.modules['partwise'] = None; pickle.load(sys.stdin.buffer)()"
    answer = subprocess.run([sys.executable, "-c", script], input=sent, capture_output=True)
    assert b"ModuleNotFoundError: import of partwise halted" in answer.stderr


def test_a_cluster_that_starts_workers_when_there_are_tasks():
    from distributed import Client, LocalCluster

    cluster = LocalCluster(n_workers=0, threads_per_worker=1, processes=False, dashboard_address=":0")
    with cluster, Client(cluster, set_as_default=False) as client:
        cluster.adapt(minimum=0, maximum=1, interval="20ms")
        X = DaskRows(da.ones((6, 4), chunks=(3, 4)), client, patience=20)
        assert NMF(2, init="random", max_iter=2, tol=0).fit(X).components_.shape == (2, 4)

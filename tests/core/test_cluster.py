"""Workers that are killed in the middle of a fit, and clusters that shrink to nothing."""

from typing import ClassVar

import numpy as np
import pytest
from worker_kill_trials import fit, kill_one, same, start

from partwise.blocks import ClusterError
from partwise.callbacks import Callback, Checkpoint
from partwise.core import cluster as module

pytest.importorskip("dask.array")
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


def test_a_worker_that_dies_while_versions_are_compared_is_no_worker(monkeypatch):
    class Client:
        status, asynchronous = "running", False
        more: ClassVar[dict] = {}

        def wait_for_workers(self, count, timeout):
            pass

        def run(self, function, name, on_error):
            return {"alive": "9.9", "dying": OSError("closed"), **self.more}

    client = Client()
    monkeypatch.setattr(module, "version", lambda name: "9.9")
    module.Cluster(client, 1.0).check()
    client.more = {"bare": ModuleNotFoundError("partwise")}
    with pytest.raises(ClusterError, match=r"1 of 3 workers .* bare has no partwise"):
        module.Cluster(client, 1.0).check()

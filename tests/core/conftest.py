"""Clusters in this process, which all tests of fits on workers share."""

import pytest


@pytest.fixture(scope="session")
def workers():
    """Makes clients of clusters in this process."""
    distributed = pytest.importorskip("distributed")
    made = []

    def start(n_workers=2):
        made.append(
            distributed.Client(
                n_workers=n_workers, threads_per_worker=1, processes=False, dashboard_address=":0", set_as_default=False
            )
        )
        return made[-1]

    yield start
    for client in made:
        client.close()
        client.cluster.close()


@pytest.fixture(scope="session")
def two_workers(workers):
    """The client that most tests use."""
    return workers()


@pytest.fixture
def client(two_workers):
    """The same as the current one."""
    with two_workers.as_current():
        yield two_workers

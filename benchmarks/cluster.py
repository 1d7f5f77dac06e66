"""Fits on a dask cluster of this machine: sweeps, overhead by blocks, memory, and the same under other engines.

    python -m benchmarks.cluster sweeps NMF 8 10   two worker processes against two threads, 200,000 × 800, in turn: in
                                                   8 chunks, with 10 components; GraphNMF is the same with a graph
    python -m benchmarks.cluster blocks            what a sweep costs beyond its work, for 1 to 256 blocks
    python -m benchmarks.cluster engines           plain tasks, actors and dask.array expressions, the same small sweep
    python -m benchmarks.cluster memory            4 GB on two workers of 1 GB each
    python -m benchmarks.cluster constants         what a core, the scheduler and the loopback do in a second

Each replaces its part of results/cluster.json, which `python -m docs.cluster` makes a page of. Seconds are wall time.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
import scipy.sparse as sp

RESULTS = Path(__file__).parent / "results" / "cluster.json"
ROWS, WIDTH, K = 200_000, 800, 10
SWEEPS, TURNS, FIRST, PIECE = 12, 3, 3, 25_000
CLASSES, NEIGHBORS = 50, 5
SMALL_ROWS, SMALL_WIDTH = 25_600, 64
LARGE_CHUNK, GIGABYTES = 12_500, 4


def made(start, n, width=WIDTH):
    """Rows of rank ten and noise, in float32, the same for every division into chunks of the same size."""
    H = np.random.default_rng(0).random((K, width), dtype=np.float32) ** 4
    rng = np.random.default_rng(start + 1)
    return rng.random((n, K), dtype=np.float32) ** 4 @ H + 0.1 * rng.random((n, width), dtype=np.float32)


def chunks(n, size, width=WIDTH):
    """A dask array that is made on its workers."""
    import dask
    import dask.array as da

    parts = [
        da.from_delayed(dask.delayed(made)(start, min(size, n - start), width), (min(size, n - start), width), "f4")
        for start in range(0, n, size)
    ]
    return da.concatenate(parts)


def links(n):
    """A graph whose links lead anywhere: each sample to five of its class, classes being in random order."""
    rng = np.random.default_rng(0)
    order = rng.permutation(n)
    size = n // CLASSES
    ends = [order[(np.arange(n) // size) * size + rng.integers(size, size=n)] for _ in range(NEIGHBORS)]
    graph = sp.csr_array((np.ones(n * NEIGHBORS), (np.tile(order, NEIGHBORS), np.concatenate(ends))), shape=(n, n))
    graph = graph.maximum(graph.T)
    graph.setdiag(0)
    graph.eliminate_zeros()
    return graph


def estimator(method, n, sweeps=SWEEPS, k=K):
    """The fit that is timed."""
    from partwise import NMF, GraphNMF

    settings = {"init": "random", "random_state": 0, "max_iter": sweeps, "tol": 0}
    if method == "NMF":
        return NMF(k, **settings)
    return GraphNMF(k, graph=links(n), graph_strength=1.0, **settings)


def seconds_per_sweep(model):
    """The median, without the first sweeps, which compile."""
    return median(np.diff(model.history_["time"])[2:])


def cluster(n_workers=2, **options):
    """A client of workers that are processes."""
    from distributed import Client, LocalCluster

    os.environ["OMP_NUM_THREADS"] = "1"
    logging.getLogger("distributed").setLevel(logging.ERROR)
    made_cluster = LocalCluster(
        n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.ERROR, **options
    )
    return Client(made_cluster), made_cluster


def one(side, method, n_chunks, k):
    """Seconds per sweep of one side, in a process of its own: wall time, and that of all processors."""
    model, read = estimator(method, ROWS, k=int(k)), []
    if side == "threads":
        X = np.concatenate([made(start, PIECE) for start in range(0, ROWS, PIECE)])
        model.set_params(callbacks=lambda progress: read.append(time.process_time()))
        model.fit(X)
    else:
        client, local = cluster()

        def spent(progress):
            # The scheduler is in this process.
            if progress.sweep in (FIRST, SWEEPS):
                read.append(time.process_time() + sum(client.run(time.process_time).values()))

        model.set_params(callbacks=spent).fit(chunks(ROWS, ROWS // int(n_chunks)))
        client.close()
        local.close()
    first = read[FIRST - 1] if side == "threads" else read[0]
    print(json.dumps({"wall": seconds_per_sweep(model), "processors": (read[-1] - first) / (SWEEPS - FIRST)}))


def sweeps(method="NMF", n_chunks="8", k=str(K)):
    """Both sides in turn, so that whatever else runs disturbs both."""
    times = {"threads": [], "workers": []}
    for _ in range(TURNS):
        for side in times:
            times[side].append(_alone("one", side, method, n_chunks, k, threads=2 if side == "threads" else 1))
    found = {"rows": ROWS, "width": WIDTH, "chunks": int(n_chunks), "components": int(k), "all": times}
    for clock in ("wall", "processors"):
        middle = {side: median(each[clock] for each in turns) for side, turns in times.items()}
        found[clock] = {**middle, "ratio": middle["workers"] / middle["threads"]}
    return found


def _alone(*arguments, threads=1):
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    command = [sys.executable, "-m", "benchmarks.cluster", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def blocks():
    """A sweep of the same small data in more and more blocks."""
    client, local = cluster()
    found = []
    for count in (1, 4, 16, 64, 256):
        row = {"blocks": count}
        for method in ("NMF", "GraphNMF"):
            X = chunks(SMALL_ROWS, SMALL_ROWS // count, SMALL_WIDTH)
            row[method] = seconds_per_sweep(estimator(method, SMALL_ROWS, 8).fit(X))
        print(row, flush=True)
        found.append(row)
    client.close()
    local.close()
    return {"rows": SMALL_ROWS, "width": SMALL_WIDTH, "components": K, "table": found}


class Holder:
    """An actor that has a block and its codes."""

    def __init__(self, start, n):
        self.X = made(start, n, SMALL_WIDTH)
        self.W = np.ones((n, K), np.float32)

    def sweep(self, H):
        """A multiplicative step of the codes, and what the components need."""
        self.W *= (self.X @ H.T) / (self.W @ (H @ H.T) + 1e-9)
        return self.X.T @ self.W, self.W.T @ self.W


def engines(count=8, turns=10):
    """The same sweep, which is multiplicative, as actors and as expressions; and ours as plain tasks."""
    client, local = cluster()
    size = SMALL_ROWS // count
    H = np.random.default_rng(0).random((K, SMALL_WIDTH), dtype=np.float32)
    actors = [client.submit(Holder, start, size, actor=True).result() for start in range(0, SMALL_ROWS, size)]

    def by_actors():
        parts = [future.result() for future in [actor.sweep(H) for actor in actors]]
        return [sum(part) for part in zip(*parts, strict=True)]

    X = chunks(SMALL_ROWS, size, SMALL_WIDTH).persist()
    import dask.array as da

    state = {"W": da.ones((SMALL_ROWS, K), chunks=(size, K), dtype="f4").persist()}

    def by_expressions():
        W = state["W"]
        state["W"] = (W * ((X @ H.T) / (W @ (H @ H.T) + 1e-9))).persist()
        return da.compute(X.T @ state["W"], state["W"].T @ state["W"])

    found = {}
    for name, sweep in (("actors", by_actors), ("expressions", by_expressions)):
        times = []
        for _ in range(turns):
            clock = time.perf_counter()
            sweep()
            times.append(time.perf_counter() - clock)
        found[name] = median(times)
    found["tasks"] = seconds_per_sweep(estimator("NMF", SMALL_ROWS, turns).fit(X))
    client.close()
    local.close()
    return {"blocks": count, **found}


def memory(sweeps=4):
    """More data than the workers' memory: dask keeps on disk what does not fit."""
    n = GIGABYTES * 10**9 // (4 * WIDTH) // LARGE_CHUNK * LARGE_CHUNK
    with tempfile.TemporaryDirectory() as folder:
        client, local = cluster(memory_limit="1GB", local_directory=folder)
        clock = time.perf_counter()
        model = estimator("NMF", n, int(sweeps)).fit(chunks(n, LARGE_CHUNK))
        seconds = time.perf_counter() - clock
        residents = client.run(_peak)
        client.close()
        local.close()
    return {
        "gigabytes": n * WIDTH * 4 / 1e9,
        "rows": n,
        "seconds": seconds,
        "seconds_per_sweep": float(np.diff(model.history_["time"]).mean()),
        "sweeps": model.n_iter_,
        "peaks_megabytes": [value / 2**10 for value in residents.values()],
        "falls": bool((np.diff(model.history_["objective"]) <= 0).all()),
    }


def _peak():
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def constants():
    """For an estimate on paper: sparse entries that a core goes over in a second, tasks, and bytes."""
    import scipy.sparse as sparse

    from partwise import NMF

    n, width, per_row, k = 40_000, 10_000, 100, 20
    X = sparse.random_array((n, width), density=per_row / width, format="csr", dtype=np.float32, rng=0)
    model = NMF(k, init="random", random_state=0, max_iter=6, tol=0).fit(X)
    entries = X.nnz / seconds_per_sweep(model)
    client, local = cluster()
    first, second = list(client.scheduler_info()["workers"])
    clock = time.perf_counter()
    futures = client.map(abs, range(5000), pure=False)
    client.gather(futures)
    tasks = 5000 / (time.perf_counter() - clock)
    big = client.submit(np.ones, 2**25, workers=first, pure=False)
    big.result().sum()
    clock = time.perf_counter()
    client.submit(len, big, workers=second, pure=False).result()
    return_value = {"entries_per_second": entries, "components": k, "tasks_per_second": tasks}
    return_value["bytes_per_second"] = 2**28 / (time.perf_counter() - clock)
    client.close()
    local.close()
    return return_value


PARTS = {"sweeps": sweeps, "blocks": blocks, "engines": engines, "memory": memory, "constants": constants}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=[*PARTS, "one"])
    parser.add_argument("rest", nargs="*")
    options = parser.parse_args()
    if options.what == "one":
        one(*options.rest)
        return
    load = os.getloadavg()[0]
    name = " ".join([options.what, *options.rest]) if options.what == "sweeps" else options.what
    found = PARTS[options.what](*options.rest)
    known = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    known[name] = {**found, "load": round(load, 1), "cores": len(os.sched_getaffinity(0))}
    RESULTS.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(known[name], indent=1))


if __name__ == "__main__":
    main()

"""Kill workers at random moments of a fit, and compare it with one that was left alone.

    python tests/core/worker_kill_trials.py --trials 20 --seed 0

Every trial fits the same data on a cluster of processes, and meanwhile kills a random worker with SIGKILL once or
twice, or adds one, at moments drawn evenly over the time that a fit takes. Factors and history are compared bit for
bit. Exits with 1 if any differs.
"""

import argparse
import logging
import os
import signal
import sys
import threading
import time

import numpy as np

ROWS, FEATURES, CHUNK = 1600, 40, 400


def data():
    rng = np.random.default_rng(0)
    return rng.random((ROWS, 5)) @ rng.random((5, FEATURES)) + 0.1 * rng.random((ROWS, FEATURES))


def fit(client, sweeps, callbacks=None, patience=60.0):
    import dask.array as da

    from partwise import NMF
    from partwise.blocks import DaskRows

    X = DaskRows(da.from_array(data(), chunks=(CHUNK, FEATURES)), client, patience)
    model = NMF(5, init="random", random_state=0, max_iter=sweeps, tol=0, l1_codes=0.1, callbacks=callbacks).fit(X)
    return model.components_, np.asarray(model.embedding_), model.history_["objective"]


def kill_one(client, rng):
    """Kill a random worker; its nanny starts another."""
    pids = [pid for pid in client.run(os.getpid, on_error="ignore").values() if pid]
    if not pids:
        return
    os.kill(pids[rng.integers(len(pids))], signal.SIGKILL)


def disturb(client, cluster, rng, moments):
    """Kill workers, or add one, at given moments."""
    begin = time.perf_counter()
    for moment in sorted(moments):
        time.sleep(max(moment - (time.perf_counter() - begin), 0))
        if rng.random() < 0.2 and len(cluster.workers) < 4:
            cluster.scale(len(cluster.workers) + 1)
        else:
            kill_one(client, rng)


def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


def start(n_workers=2):
    from distributed import Client, LocalCluster

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    cluster = LocalCluster(
        n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.CRITICAL
    )
    return Client(cluster), cluster


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--sweeps", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    client, cluster = start()
    fit(client, 2)
    clock = time.perf_counter()
    expected = fit(client, options.sweeps)
    duration = time.perf_counter() - clock
    differing = 0
    for number in range(options.trials):
        moments = rng.uniform(0, duration, size=rng.integers(1, 3))
        thread = threading.Thread(target=disturb, args=(client, cluster, rng, moments))
        thread.start()
        clock = time.perf_counter()
        outcome = same(expected, fit(client, options.sweeps))
        took = time.perf_counter() - clock
        thread.join()
        differing += not outcome
        verdict = "equal" if outcome else "DIFFERENT"
        print(f"{number + 1:3d}  {len(moments)} disturbances, {took / duration:.1f} × the time: {verdict}", flush=True)
    print(f"{options.trials} trials, {differing} differ")
    client.close()
    cluster.close()
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())

"""Kill workers at random moments of a fit, and compare it with one that was left alone.

    python tests/core/worker_kill_trials.py --trials 20 --seed 0

Every trial fits the same data on a cluster of processes, by one of five methods in turn, and meanwhile kills a random
worker with SIGKILL once or twice, or adds one, at moments drawn evenly over the time that a fit takes. Factors and
history are compared bit for bit. Exits with 1 if any differs.
"""

import argparse
import json
import logging
import os
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

RECORD = Path(__file__).parents[2] / "docs" / "measured" / "worker_kills.json"
ROWS, FEATURES, CHUNK = 1600, 40, 400
# Coupled rows in parts that learn of each other, as there are of far more rows.
IN_PARTS = "GraphNMF in parts"


def data():
    rng = np.random.default_rng(0)
    return rng.random((ROWS, 5)) @ rng.random((5, FEATURES)) + 0.1 * rng.random((ROWS, FEATURES))


def models():
    """A fit to products, one to entries, and three with a graph."""
    from partwise import NMF, GraphNMF

    return {
        "NMF": NMF(5, l1_codes=0.1),
        "Kullback-Leibler": NMF(5, loss="kullback-leibler"),
        "GraphNMF": GraphNMF(5, graph_strength=1.0),
        IN_PARTS: GraphNMF(5, graph_strength=1.0),
        "GraphNMF with Kullback-Leibler": GraphNMF(5, loss="kullback-leibler", graph_strength=1.0),
    }


def fit(client, sweeps, callbacks=None, patience=60.0, name="NMF"):
    import dask.array as da

    from partwise.blocks import DaskRows
    from partwise.core import spread_parts

    X = DaskRows(da.from_array(data(), chunks=(CHUNK, FEATURES)), client, patience)
    settings = {"init": "random", "random_state": 0, "max_iter": sweeps, "tol": 0, "callbacks": callbacks}
    with pytest.MonkeyPatch.context() as patch:
        if name == IN_PARTS:
            patch.setattr(spread_parts, "MOST_ROWS", ROWS // 4)
        model = models()[name].set_params(**settings).fit(X)
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
    parser.add_argument("--record", action="store_true", help="write docs/measured/worker_kills.json")
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    client, cluster = start()
    undisturbed = {}
    for name in models():
        fit(client, 2, name=name)
        clock = time.perf_counter()
        undisturbed[name] = fit(client, options.sweeps, name=name), time.perf_counter() - clock
    outcomes = []
    for number in range(options.trials):
        name = list(undisturbed)[number % len(undisturbed)]
        expected, duration = undisturbed[name]
        moments = rng.uniform(0, duration, size=rng.integers(1, 3))
        thread = threading.Thread(target=disturb, args=(client, cluster, rng, moments))
        thread.start()
        clock = time.perf_counter()
        outcome = same(expected, fit(client, options.sweeps, name=name))
        took = (time.perf_counter() - clock) / duration
        thread.join()
        outcomes.append({"method": name, "disturbances": len(moments), "times": round(took, 2), "equal": outcome})
        verdict = "equal" if outcome else "DIFFERENT"
        print(f"{number + 1:3d}  {name}: {len(moments)} disturbances, {took:.1f} × the time: {verdict}", flush=True)
    differing = sum(not each["equal"] for each in outcomes)
    print(f"{options.trials} trials, {differing} differ")
    client.close()
    cluster.close()
    if options.record:
        RECORD.write_text(json.dumps({"seed": options.seed, "sweeps": options.sweeps, "trials": outcomes}, indent=1))
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())

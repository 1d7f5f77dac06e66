"""Peak memory and time of LocalSimilarityNMF on dense data: python benchmarks/similarity_memory.py [kernel] [solver].

Memory must grow linearly with the number of samples: neither D (n × n) nor E (n × m) is stored. Every size is measured
in a process of its own, against what that process holds when X is there.
"""

import multiprocessing
import resource
import sys
import time
from pathlib import Path

import numpy as np

from partwise import LocalSimilarityNMF

N_FEATURES, N_COMPONENTS, SWEEPS = 500, 20, 5


def held():
    """What the process holds now, in GB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**30


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def measure(n_samples, kernel, solver):
    rng = np.random.default_rng(0)
    X = np.empty((n_samples, N_FEATURES))
    H = rng.gamma(0.3, size=(N_COMPONENTS, N_FEATURES))
    for start in range(0, n_samples, 1000):
        block = X[start : start + 1000]
        block[:] = rng.gamma(1.0, size=(len(block), N_COMPONENTS)) @ H
    before, clock = held(), time.perf_counter()
    assert peak() < before + 0.05, "the peak is not that of the fit"
    model = LocalSimilarityNMF(N_COMPONENTS, kernel=kernel, solver=solver, max_iter=SWEEPS, tol=0, random_state=0)
    model.fit(X).transform(X)
    seconds = time.perf_counter() - clock
    print(
        f"{kernel} {solver} {X.shape}: {peak() - before:.2f} GB beyond X ({X.nbytes / 2**30:.2f} GB), {seconds:.1f} s"
    )


if __name__ == "__main__":
    kernel = sys.argv[1] if len(sys.argv) > 1 else "linear"
    solver = sys.argv[2] if len(sys.argv) > 2 else "projected"
    context = multiprocessing.get_context("spawn")
    for n_samples in (12_500, 25_000, 50_000):
        process = context.Process(target=measure, args=(n_samples, kernel, solver))
        process.start()
        process.join()

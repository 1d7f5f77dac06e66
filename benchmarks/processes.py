"""What needs its own process: memory, threads, the time to import, and the first fit."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from .table import Row

# The peak of this process as the operating system reports it; writing 5 to clear_refs resets earlier peaks.
MEMORY = """
import numpy as np
def status(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith(name))
rng = np.random.default_rng(0)
n, m, k = {n}, {m}, {k}
X = rng.random((n, m), dtype=np.float32)
W, H = rng.random((n, k), dtype=np.float32), rng.random((k, m), dtype=np.float32)
{prepare}
open("/proc/self/clear_refs", "w").write("5")
before = status("VmRSS:")
{fit}
print(status("VmHWM:") - before)
"""
OURS = "from partwise import NMF; model = NMF(k, init=(W, H), tol=0, max_iter=5).fit(X)"
WARM = "from partwise import NMF; NMF(2, tol=0, max_iter=3).fit(X[:100])"
PEERS = {
    "scikit-learn cd": (
        "sklearn",
        "from sklearn.decomposition import NMF",
        "NMF(k, init='custom', tol=0, max_iter=5).fit_transform(X, W=W, H=H)",
    ),
    "torchnmf": (
        "torchnmf",
        "import torch; from torchnmf.nmf import NMF",
        "net = NMF(W=torch.from_numpy(H.T.copy()), H=torch.from_numpy(W)); net.fit(torch.from_numpy(X), 2, max_iter=5)",
    ),
}


def python(script, threads=1):
    """The last number that a script prints, run in a new process with this many threads."""
    return numbers(script, threads)[-1]


def numbers(script, threads=1):
    """All numbers that a script prints, run in a new process with this many threads."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    environment = {**os.environ, **dict.fromkeys(names, str(threads)), "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-c", script]
    out = subprocess.run(command, capture_output=True, text=True, env=environment, check=True).stdout
    return [float(word) for word in out.split()]


def memory(n=200_000, m=100, k=50):
    """Rows: peak memory beyond X and the returned model, in MB, of ours and of peers."""
    case, data = "peak memory beyond X and the model", f"made-up {n // 1000}k × {m} k={k} float32"
    if not os.path.exists("/proc/self/clear_refs"):
        return [Row(case, data, note="peaks can only be read under Linux")]
    sizes = {"n": n, "m": m, "k": k}
    model = (n + m) * k * 4 / 2**20
    budget = 4 * n * k * 4 / 2**20 + 100
    cold, warm = (python(MEMORY.format(prepare=prepare, fit=OURS, **sizes)) - model for prepare in ("", WARM))
    note = f"after the imports and a small fit; {cold:.0f} MB with these"
    rows = [Row(case, data, "", warm, unit="MB", figure=warm, needed=f"≤ {budget:.0f}", note=note)]
    for name, (package, imports, fit) in PEERS.items():
        try:
            theirs = python(MEMORY.format(prepare=imports, fit=fit, **sizes)) - model
        except subprocess.CalledProcessError:
            rows.append(Row(case, data, name, note=f"{package} is not installed, or failed"))
            continue
        rows.append(Row(case, data, name, warm, theirs, "MB", theirs / warm, note="after the imports"))
    return rows


THREADS = """
import time
import numpy as np
from benchmarks.problems import as_type, problem, start
from partwise import NMF
X = as_type(problem("mnist")[0], np.float32)
X = np.tile(X, ({copies}, 1))
init = start(X, {k}, 0)
NMF({k}, init=init, tol=0, max_iter=2).fit(X)
begin = time.perf_counter()
NMF({k}, init=init, tol=0, max_iter={sweeps}).fit(X)
print(time.perf_counter() - begin)
"""


def two_threads(k=50, copies=2, sweeps=30, repeats=3):
    """Rows: wall time of a fit on one thread over that on two. Meaningful only on a quiet machine.

    And what the machine allows: twice the work of one process over two such processes side by side.
    """
    script = THREADS.format(k=k, copies=copies, sweeps=sweeps)
    data = f"mnist ×{copies} k={k} float32"
    times = []
    for _ in range(repeats):
        one, two = python(script, 1), python(script, 2)
        with ThreadPoolExecutor(2) as pool:
            beside = max(pool.map(python, (script, script)))
        times.append((one, two, beside))
    one, two, beside = np.transpose(times)
    return [
        _wall_time("wall time, one thread over two", data, "one thread", two, one, "≥ 1.8"),
        _wall_time("work per wall time, two processes over one", data, "one process", beside, 2 * one, ""),
    ]


def _wall_time(case, data, against, ours, theirs, needed):
    figures = theirs / ours
    middles = (float(np.median(values)) for values in (ours, theirs))
    bounds = (float(np.median(figures)), figures.min(), figures.max())
    return Row(case, data, against, *middles, "s", *bounds, needed, note="needs two idle cores")


IMPORT = "import time; begin = time.process_time(); {}; print(time.process_time() - begin)"
NO_NUMBA = "import sys; {}; print(int('numba' in sys.modules))"


def import_time(repeats=5):
    """Rows: CPU time of `import partwise`, and of importing an estimator, beyond `import sklearn.decomposition`."""
    theirs = "import sklearn.decomposition"
    rows = []
    for ours, needed in (("import partwise", "≤ 0.1"), ("from partwise import NMF", "")):
        times = np.array([[python(IMPORT.format(line)) for line in (ours, theirs)] for _ in range(repeats + 1)])[1:]
        beyond = times[:, 0] - times[:, 1]
        middle = np.median(times, axis=0)
        note = "numba is imported: it must not be" if python(NO_NUMBA.format(ours)) else "seconds beyond; no numba"
        bounds = (float(np.median(beyond)), beyond.min(), beyond.max())
        rows.append(Row(ours, "", theirs, *middle, "s", *bounds, needed=needed, note=note))
    return rows


FIRST_FIT = """
import time
import numpy as np
from partwise import {method}
X = np.random.default_rng(0).random((500, 60)).astype("{dtype}")
times = []
for _ in range(2):
    begin = time.process_time()
    {make}, init="random", random_state=0, tol=0, max_iter=10).fit(X)
    times.append(time.process_time() - begin)
print(times[0] - times[1])
"""


def first_fit(repeats=3):
    """Rows: CPU seconds by which a process's first fit exceeds its second, with compiled code on disk."""
    rows = []
    calls = {"NMF": "NMF(5", "GraphNMF": "GraphNMF(5, graph_strength=10.0"}
    for method, dtype in (("NMF", "float64"), ("NMF", "float32"), ("GraphNMF", "float64")):
        script = FIRST_FIT.format(method=method, make=calls[method], dtype=dtype)
        times = [python(script) for _ in range(repeats + 1)][1:]
        figure = float(np.median(times))
        rows.append(Row(f"first {method} fit of a process, overhead", dtype, "the second fit", figure, figure=figure))
        rows[-1].low, rows[-1].high, rows[-1].needed = min(times), max(times), "≤ 0.6"
        rows[-1].note = "seconds; compiled code on disk"
    return rows


REPLICATES = """
import numpy as np
import scipy.sparse as sp
from partwise import NMF
from partwise.selection import ConsensusNMF
def status(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith(name))
rng = np.random.RandomState(0)
mean = rng.gamma(0.5, size=({n}, {k})) @ rng.gamma(0.3, size=({k}, {m}))
X = rng.poisson({level} * mean).astype(np.float32)
X = sp.csr_array(X) if {sparse} else X
del mean
def consensus(k, n_replicates):
    estimator = NMF(k, loss="{loss}", tol=0, max_iter=3)
    return ConsensusNMF(
        estimator, n_replicates=n_replicates, resample={resample}, density_threshold=np.inf, random_state=0
    )
consensus(3, 3).fit(X[:300])
open("/proc/self/clear_refs", "w").write("5")
before = status("VmRSS:")
consensus({k}, {n_replicates}).fit(X)
print(status("VmHWM:") - before)
"""


def replicates_memory(n=10_000, m=1000, k=10, counts=(50, 100, 200)):
    """Rows: what a replicate of `ConsensusNMF` adds to the peak of memory, over the size of its components.

    Its codes, which are not kept, are ten times as large. And, over the size of X, the peak of 20 Poisson replicates.
    """
    case = "memory that a replicate adds"
    if not os.path.exists("/proc/self/clear_refs"):
        return [Row(case, note="peaks can only be read under Linux")]
    rows, components, data = [], k * m * 4 / 2**20, n * m * 4 / 2**20
    for sparse, loss in ((False, "frobenius"), (True, "frobenius"), (True, "kullback-leibler")):
        name = f"{'sparse' if sparse else 'dense'} {n // 1000}k × {m} k={k} float32, {loss}"
        given = {"n": n, "m": m, "k": k, "level": 0.03 if sparse else 3, "sparse": sparse, "loss": loss}
        peaks = [python(REPLICATES.format(**given, resample=None, n_replicates=count)) for count in counts]
        # With few replicates the peak is that of the fits side by side.
        added = (peaks[-1] - peaks[-2]) / (counts[-1] - counts[-2])
        each = ", ".join(f"{count}: {peak:.0f}" for count, peak in zip(counts, peaks, strict=True))
        note = f"over the size of its components; peaks beyond X in MB, by number of replicates: {each}"
        rows.append(Row(case, name, "", added, components, "MB", added / components, needed="≤ 6", note=note))
        if not sparse:
            drawn = python(REPLICATES.format(**given, resample="'counts'", n_replicates=20))
            note = "over the size of X: those of this and the next replicate are in memory"
            rows.append(Row("peak memory of 20 Poisson replicates", name, "", drawn, data, "MB", drawn / data))
            rows[-1].needed, rows[-1].note = "≤ 5", note
    return rows

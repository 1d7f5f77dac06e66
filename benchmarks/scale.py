"""Data larger than memory: time per sweep and peak memory, against reading the file and against data in memory.

    python -m benchmarks.scale                          files of 0.1 GB
    python -m benchmarks.scale --gigabytes 6 --folder DIR

makes up a dense and a sparse file in the folder (removed at the end) and writes results/scale.csv. Six gigabytes are
2,000,000 rows of each, and take a quarter of an hour. Every measurement has a process of its own. Memory is the peak of
the process beyond what it held before the fit, after a small fit that compiles everything, and without the factors that
it returns. Seconds are wall time: figures are ratios of them. Rows are also fitted in memory, as many as fit there.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from partwise import NMF
from partwise.blocks import CsrRows, NpyFile
from partwise.callbacks import Callback
from partwise.core.reading import StoredRows

RESULTS = Path(__file__).parent / "results" / "scale.csv"
COLUMNS = ("data", "rows", "gigabytes", "seconds_read", "seconds_in_memory", "seconds_per_sweep", "ratio", "megabytes")
COLUMNS = (*COLUMNS, "factors_megabytes", "compared", "equal", "threads", "load")
K, SWEEPS = 20, 6
# So large that the last sweeps also measure how far the factors are from the best ones, which takes memory.
TOLERANCE = 1e-2
DENSE_WIDTH, SPARSE_WIDTH, PER_ROW = 800, 20_000, 375
ROW_BYTES = {"dense": 4 * DENSE_WIDTH, "sparse": 8 * PER_ROW}
ROWS_PER_GIGABYTE = 2_000_000 / 6
# The share of the available memory that rows may take which are fitted there; sparse ones are transposed as well.
IN_MEMORY_SHARE = {"dense": 0.4, "sparse": 0.15}
BLOCK = 20_000


def write_npy(path, shape, dtype, blocks):
    """An npy file, written block by block."""
    with open(path, "wb") as file:
        header = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        for block in blocks:
            file.write(np.ascontiguousarray(block, dtype).data)


def make_dense(folder, n):
    """Rank 20 and noise."""
    rng = np.random.default_rng(0)
    H = rng.random((K, DENSE_WIDTH), dtype=np.float32) ** 4

    def blocks():
        for start in range(0, n, BLOCK):
            W = rng.random((min(BLOCK, n - start), K), dtype=np.float32) ** 2
            yield W @ H + rng.random((len(W), DENSE_WIDTH), dtype=np.float32)

    write_npy(folder / "dense.npy", (n, DENSE_WIDTH), np.float32, blocks())


def make_sparse(folder, n):
    """As many positive entries in every row, more of them in some features."""
    sizes = [min(BLOCK, n - start) for start in range(0, n, BLOCK)]
    rng = np.random.default_rng(0)
    stride = SPARSE_WIDTH // PER_ROW

    def indices():
        for size in sizes:
            # One entry in every stretch of features, near its beginning.
            within = (stride * rng.random((size, PER_ROW), dtype=np.float32) ** 2).astype(np.int32)
            yield (np.minimum(within, stride - 1) + stride * np.arange(PER_ROW, dtype=np.int32)).ravel()

    write_npy(folder / "indices.npy", (n * PER_ROW,), np.int32, indices())
    values = (rng.random(size * PER_ROW, dtype=np.float32) + 0.1 for size in sizes)
    write_npy(folder / "data.npy", (n * PER_ROW,), np.float32, values)


class Part:
    """The first rows of a source."""

    def __init__(self, source, n):
        self._source, self.paths = source, source.paths
        self.shape, self.dtype = (min(n, source.shape[0]), source.shape[1]), source.dtype

    def rows(self, start, stop):
        return self._source.rows(start, min(stop, self.shape[0]))

    def blocks(self):
        yield self.rows(0, self.shape[0])


def opened(folder, kind, n=None):
    """The source of one of the files, or of its first rows."""
    if kind == "dense":
        source = NpyFile(folder / "dense.npy")
        return source if n is None else Part(source, n)
    data, indices = NpyFile(folder / "data.npy"), NpyFile(folder / "indices.npy")
    n = len(data) // PER_ROW if n is None else min(n, len(data) // PER_ROW)
    pointers = PER_ROW * np.arange(n + 1)
    return CsrRows(_first(data, n), _first(indices, n), pointers, (n, SPARSE_WIDTH))


def _first(file, n):
    """A flat file that ends with the entries of n rows."""
    file.shape = (n * PER_ROW,)
    return file


class Times(Callback):
    """When every sweep ended."""

    def __init__(self):
        self.times = []

    def on_sweep(self, progress):
        self.times.append(time.perf_counter())

    def per_sweep(self):
        return float(np.median(np.diff(self.times)))


def status(name):
    """A line of the system's account of this process, in megabytes."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith(name))


def fitted(X, times=None):
    return NMF(K, random_state=0, tol=TOLERANCE, max_iter=SWEEPS, callbacks=times).fit(X)


def measure(what, folder, kind, n):
    """One measurement, in this process."""
    source = opened(folder, kind, n)
    fitted(opened(folder, kind, 500))
    if what == "read":
        begin = time.perf_counter()
        for _ in StoredRows(source).whole():
            pass
        return {"seconds": time.perf_counter() - begin}
    X = source.rows(0, source.shape[0]) if what == "memory" else source
    times = Times()
    Path("/proc/self/clear_refs").write_text("5")
    before = status("VmRSS:")
    model = fitted(X, times)
    peak = status("VmHWM:") - before
    factors = (model.embedding_.nbytes + model.components_.nbytes) / 2**20
    digest = hashlib.blake2b(model.embedding_.tobytes() + model.components_.tobytes()).hexdigest()
    return {"seconds": times.per_sweep(), "megabytes": peak - factors, "factors": factors, "digest": digest}


def apart(what, folder, kind, n=None):
    """One measurement, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.scale", "--measure", what, "--kind", kind, "--folder", str(folder)]
    command += [] if n is None else ["--rows", str(n)]
    out = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONWARNINGS": "ignore"})
    if out.returncode:
        raise RuntimeError(out.stderr)
    return json.loads(out.stdout.splitlines()[-1])


def row(folder, kind, n, part):
    """What one size costs, beside reading it and beside as many rows in memory, measured on a part."""
    disk, read, memory = (
        apart("disk", folder, kind, n),
        apart("read", folder, kind, n),
        apart("memory", folder, kind, part),
    )
    again = disk if part >= n else apart("disk", folder, kind, part)
    in_memory = memory["seconds"] * n / part
    found = {
        "data": kind,
        "rows": n,
        "gigabytes": n * ROW_BYTES[kind] / 1e9,
        "seconds_read": read["seconds"],
        "seconds_in_memory": in_memory,
        "seconds_per_sweep": disk["seconds"],
        "ratio": disk["seconds"] / max(read["seconds"], in_memory),
        "megabytes": disk["megabytes"],
        "factors_megabytes": disk["factors"],
        "compared": part,
        "equal": again["digest"] == memory["digest"],
        "threads": os.environ.get("OMP_NUM_THREADS", "all"),
        "load": os.getloadavg()[0],
    }
    print({name: round(value, 3) if isinstance(value, float) else value for name, value in found.items()}, flush=True)
    return found


def rows_in_memory(kind):
    """How many rows are fitted in memory, by what is available of it."""
    with open("/proc/meminfo") as file:
        free = next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable:"))
    return int(IN_MEMORY_SHARE[kind] * free / ROW_BYTES[kind])


def main(gigabytes, folder):
    rows = []
    with tempfile.TemporaryDirectory(dir=folder) as place:
        for kind, make in (("dense", make_dense), ("sparse", make_sparse)):
            whole = round(gigabytes * ROWS_PER_GIGABYTE)
            make(Path(place), whole)
            part = min(whole, rows_in_memory(kind))
            sizes = [n for n in (10_000, 30_000, 100_000, 300_000, 1_000_000) if n <= whole / 2]
            rows += [row(Path(place), kind, n, min(n, part)) for n in (*sizes, whole)]
            for file in Path(place).iterdir():
                file.unlink()
    with open(RESULTS, "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for each in rows:
            writer.writerow({name: f"{v:.4g}" if isinstance(v, float) else v for name, v in each.items()})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=0.1)
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--measure", choices=("disk", "memory", "read"))
    parser.add_argument("--kind", choices=("dense", "sparse"))
    parser.add_argument("--rows", type=int)
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(measure(given.measure, given.folder, given.kind, given.rows)))
    else:
        main(given.gigabytes, given.folder)

"""Data larger than memory: time per sweep and peak memory, against reading the file and against data in memory.

    python -m benchmarks.scale                          files of 0.1 GB
    python -m benchmarks.scale --gigabytes 6 --folder DIR
    python -m benchmarks.scale --gigabytes 6 --folder DIR --kind sparse --sizes 300000 2000000 --keep

makes up a dense and a sparse file in the folder (removed at the end, unless they are kept for another run) and writes
results/scale.csv, or only the rows of some sizes. Six gigabytes are 2,000,000 rows of each.

Times are taken in one process in which three things take turns: a sweep from the file, a sweep over the same rows in
memory, as many as fit there, and reading the file. So whatever else the machine does slows all of them. Memory is the
peak of another process beyond what it held before the fit, after a small fit that compiles everything, and without the
factors that it returns.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from partwise import NMF
from partwise.blocks import CsrRows, NpyFile
from partwise.callbacks import Callback
from partwise.core.reading import StoredRows

RESULTS = Path(__file__).parent / "results" / "scale.csv"
COLUMNS = ("data", "rows", "gigabytes", "seconds_read", "seconds_in_memory", "seconds_per_sweep", "ratio")
COLUMNS = (*COLUMNS, "cpu_read", "cpu_in_memory", "cpu_per_sweep", "megabytes", "factors_megabytes")
COLUMNS = (*COLUMNS, "compared", "equal", "threads", "load")
# Sweeps of the fit whose memory is measured, and of those that take turns.
K, SWEEPS, TURNS = 20, 6, 4
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

    def each(self, slices):
        return self._source.each(slices)

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


class Turns:
    """Several threads, of which one runs at a time: they take turns in a fixed order until they are done."""

    def __init__(self, names):
        self._order = list(names)
        self._change = threading.Condition()

    def wait(self, name):
        with self._change:
            self._change.wait_for(lambda: self._order[0] == name)

    def pass_on(self, name, done=False):
        with self._change:
            self._order.remove(name)
            self._order += [] if done else [name]
            self._change.notify_all()


class Timed(Callback):
    """Wall and CPU seconds of every sweep, or whatever else happens between two calls, in turns with others."""

    def __init__(self, turns, name):
        self._turns, self._name = turns, name
        self.times = []

    def now(self):
        return np.array([time.perf_counter(), time.process_time()])

    def on_sweep(self, progress=None):
        if self.times:
            self.times[-1] = self.now() - self.times[-1]
        self._turns.pass_on(self._name)
        self._turns.wait(self._name)
        self.times.append(self.now())

    def medians(self):
        """Without the last turn, which ends with the fit and not with a sweep."""
        return np.median(self.times[:-1], axis=0)


def status(name):
    """A line of the system's account of this process, in megabytes."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith(name))


def digest(model):
    return hashlib.blake2b(model.embedding_.tobytes() + model.components_.tobytes()).hexdigest()


def fitted(X):
    return NMF(K, random_state=0, tol=TOLERANCE, max_iter=SWEEPS).fit(X)


def swept(X, callbacks=None):
    """A fit that consists of sweeps, from a start that reads nothing."""
    return NMF(K, init="random", random_state=0, tol=0, max_iter=TURNS, callbacks=callbacks).fit(X)


def in_turns(folder, kind, n, part):
    """Times of a sweep from the file, of one in memory and of reading; and what both fits found."""
    source, few = opened(folder, kind, n), opened(folder, kind, part)
    turns = Turns(("disk", "memory", "read"))
    timed = {name: Timed(turns, name) for name in ("disk", "memory", "read")}
    found = {}

    def fit(name, X):
        turns.wait(name)
        found[name] = digest(swept(X(), timed[name]))
        turns.pass_on(name, done=True)

    def read():
        turns.wait("read")
        for _ in range(TURNS):
            timed["read"].on_sweep()
            for _ in StoredRows(source).whole():
                pass
        turns.pass_on("read", done=True)

    makers = {"disk": lambda: source, "memory": lambda: few.rows(0, part)}
    threads = [threading.Thread(target=fit, args=item) for item in makers.items()] + [threading.Thread(target=read)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {**{name: timed[name].medians().tolist() for name in timed}, "digests": found}


def memory_of(folder, kind, n):
    """The peak of memory of a fit from the file, with the start and the checks that users have by default."""
    source = opened(folder, kind, n)
    Path("/proc/self/clear_refs").write_text("5")
    before = status("VmRSS:")
    model = fitted(source)
    peak = status("VmHWM:") - before
    factors = (model.embedding_.nbytes + model.components_.nbytes) / 2**20
    return {"megabytes": peak - factors, "factors": factors}


def measure(what, folder, kind, n, part):
    """One measurement, in this process."""
    fitted(opened(folder, kind, 500))
    if what == "times":
        return in_turns(folder, kind, n, part)
    if what == "memory":
        return memory_of(folder, kind, n)
    return {"digest": digest(swept(opened(folder, kind, n)))}


def apart(what, folder, kind, n, part=0):
    """One measurement, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.scale", "--measure", what, "--kind", kind, "--folder", str(folder)]
    command += ["--sizes", str(n), str(part)]
    out = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONWARNINGS": "ignore"})
    if out.returncode:
        raise RuntimeError(out.stderr)
    return json.loads(out.stdout.splitlines()[-1])


def row(folder, kind, n, part):
    """What one size costs, beside reading it and beside as many rows in memory, measured on a part."""
    load = os.getloadavg()[0]
    times, memory = apart("times", folder, kind, n, part), apart("memory", folder, kind, n)
    disk, read, scaled = times["disk"], times["read"], [n / part * each for each in times["memory"]]
    from_file = times["digests"]["disk"] if part == n else apart("digest", folder, kind, part)["digest"]
    found = {
        "data": kind,
        "rows": n,
        "gigabytes": n * ROW_BYTES[kind] / 1e9,
        "seconds_read": read[0],
        "seconds_in_memory": scaled[0],
        "seconds_per_sweep": disk[0],
        "ratio": disk[0] / max(read[0], scaled[0]),
        "cpu_read": read[1],
        "cpu_in_memory": scaled[1],
        "cpu_per_sweep": disk[1],
        "megabytes": memory["megabytes"],
        "factors_megabytes": memory["factors"],
        "compared": part,
        "equal": from_file == times["digests"]["memory"],
        "threads": os.environ.get("OMP_NUM_THREADS", "all"),
        "load": load,
    }
    print({name: round(value, 3) if isinstance(value, float) else value for name, value in found.items()}, flush=True)
    return found


def rows_in_memory(kind):
    """How many rows are fitted in memory, by what is available of it."""
    with open("/proc/meminfo") as file:
        free = next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable:"))
    return int(IN_MEMORY_SHARE[kind] * free / ROW_BYTES[kind])


def written(rows):
    """Replace the rows of results/scale.csv that were measured again."""
    new = [{name: f"{v:.4g}" if isinstance(v, float) else str(v) for name, v in each.items()} for each in rows]
    again = {(each["data"], each["rows"]) for each in new}
    with open(RESULTS, newline="") as file:
        old = [each for each in csv.DictReader(file) if (each["data"], each["rows"]) not in again]
    with open(RESULTS, "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n", extrasaction="ignore")
        writer.writeheader()
        writer.writerows(sorted(old + new, key=lambda each: (each["data"], int(each["rows"]))))


def main(gigabytes, folder, kinds, sizes, keep):
    """Measure all sizes of all kinds of data, and keep what was measured whatever happens next."""
    whole = round(gigabytes * ROWS_PER_GIGABYTE)
    sizes = sizes or [n for n in (10_000, 30_000, 100_000, 300_000, 1_000_000) if n <= whole / 2] + [whole]
    with contextlib.ExitStack() as stack:
        place = folder if keep else Path(stack.enter_context(tempfile.TemporaryDirectory(dir=folder)))
        for kind in kinds:
            first = place / ("dense.npy" if kind == "dense" else "data.npy")
            if not first.is_file():
                (make_dense if kind == "dense" else make_sparse)(place, whole)
            for n in sizes:
                written([row(place, kind, n, min(n, rows_in_memory(kind)))])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=0.1)
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--kind", choices=("dense", "sparse"))
    parser.add_argument("--sizes", type=int, nargs="+")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--measure", choices=("times", "memory", "digest"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(measure(given.measure, given.folder, given.kind, *given.sizes)))
    else:
        kinds = ("dense", "sparse") if given.kind is None else (given.kind,)
        main(given.gigabytes, given.folder, kinds, given.sizes, given.keep)

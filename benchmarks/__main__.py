"""The command: python -m benchmarks [--full] [--only PATTERN …] [--list]."""

from __future__ import annotations

import argparse
import os
import sys
import time
from fnmatch import fnmatch

# Before numpy is imported: one thread each, or libraries are compared by how many threads they start.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[name] = "1"


def main():
    """Run the cases, print each row as soon as it is known; a whole run writes results/quick.* or results/full.*."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Speed and memory against peers.")
    parser.add_argument("--full", action="store_true", help="everything, on the whole of the data (long)")
    parser.add_argument("--only", nargs="+", default=["*"], metavar="PATTERN", help="cases whose names match")
    parser.add_argument("--list", action="store_true", help="print the names of the cases and end")
    options = parser.parse_args()

    from . import cases, table

    mode = "full" if options.full else "quick"
    chosen = {
        name: case
        for name, case in (cases.full() if options.full else cases.quick()).items()
        if any(fnmatch(name, pattern) for pattern in options.only)
    }
    if options.list:
        print("\n".join(chosen))
        return
    if not chosen:
        sys.exit(f"No case matches {' '.join(options.only)}; --list prints their names.")
    rows = []
    begin = time.perf_counter()
    for case in chosen.values():
        found = case()
        load = os.getloadavg()[0]
        for row in found:
            row.load = load
            print(" | ".join(cell for cell in table.cells(row) if cell), flush=True)
        rows += found
    print(f"{len(rows)} rows in {time.perf_counter() - begin:.0f} s")
    # A run of a few cases must not overwrite the table of a whole one.
    if options.only == ["*"]:
        table.write(rows, table.machine(mode), mode)
        print(f"Written to benchmarks/results/{mode}.md and {mode}.csv.")


if __name__ == "__main__":
    main()

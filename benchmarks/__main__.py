"""The command: python -m benchmarks [--full] [--only PATTERN …] [--list]."""

from __future__ import annotations

import argparse
import os
import sys
import time
from fnmatch import fnmatch

# Before numpy is imported: one thread each, or the comparison would be of how many threads libraries start.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[name] = "1"


def main():
    """Run the cases; each prints its rows and writes them to results/quick.* or full.* as soon as it is done."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Speed and memory against peers.")
    parser.add_argument("--full", action="store_true", help="everything, on all of the data (long)")
    parser.add_argument("--only", nargs="+", default=["*"], metavar="PATTERN", help="cases whose names match")
    parser.add_argument("--list", action="store_true", help="print the names of the cases and exit")
    options = parser.parse_args()

    from . import cases, table

    mode = "full" if options.full else "quick"
    known = cases.full() if options.full else cases.quick()
    chosen = {name: case for name, case in known.items() if any(fnmatch(name, wish) for wish in options.only)}
    if options.list:
        print("\n".join(chosen))
        return
    if not chosen:
        sys.exit(f"No case matches {' '.join(options.only)}; --list prints their names.")
    begin = time.perf_counter()
    for name, case in chosen.items():
        rows = case()
        load = os.getloadavg()[0]
        for row in rows:
            row.name, row.load = name, load
            print(" | ".join(cell for cell in table.cells(row) if cell), flush=True)
        table.update(rows, known, table.machine(mode), mode)
    print(f"{time.perf_counter() - begin:.0f} s; written to benchmarks/results/{mode}.md and {mode}.csv.")


if __name__ == "__main__":
    main()

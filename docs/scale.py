"""Write docs/scale.md and its figure from what the benchmarks have measured.

python -m benchmarks.scale --gigabytes 6 --folder DIR     measures, and writes benchmarks/results/scale.csv
python -m docs.scale                                      writes the page
"""

from __future__ import annotations

import csv
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "scale.csv"
PAGE, FIGURE = ROOT / "docs" / "scale.md", ROOT / "docs" / "images" / "scale.svg"

GOAL = 1.5

TEXT = """# Larger than memory

Measured by `python -m benchmarks.scale`, written by `python -m docs.scale`. The data are made up: dense float32 of 800
features, of rank 20 and noise, and CSR with 375 entries in every row of 20,000 features. `NMF` with 20 components, the
squared error and its default start reads them from files, as the guide's page on large data describes.

- *A sweep* is its median wall time; *reading* is one pass over the file and nothing else; *in memory* is a sweep of as
  many rows in memory, measured on the *compared* rows and multiplied if these are fewer. The three take turns in one
  process, so that whatever else the machine does slows all of them. The *ratio* is a sweep over the larger of the other
  two; at most 1.5 is the goal. *CPU* is the CPU time of a sweep from the file over that of one in memory, which is what
  the ratio comes to if all cores are idle and busy to the end. Files were written a few minutes before, so they were in
  the cache of the operating system as far as they fit.
- *Dense* files are read by the threads that compute, each block into the same memory of its thread: it is still in the
  cache of the processor when it is multiplied. *Sparse* files are read by a thread of their own.
- *Memory* is the peak of the process beyond what it held before the fit, from its default start, without the factors it
  returns; at most 600 MB is the goal. It holds some units of the file of up to 16 MB, and at most three more copies of
  the codes: what the fit starts from and ends with, or the codes of the last sweep before and after extrapolation and
  the gradient at them.
- *Equal*: components and codes are, bit for bit, those of the same rows in memory; of the first *compared* rows, if
  memory has no room for all.

{table}

![CPU time per sweep and memory against the number of rows](images/scale.svg)

{largest}
Above the goal of 1.5 are {short} of the {count} rows ({which}).
Threads: {threads}; load of the machine, which has two cores, before each row: {load}. A sparse X is transposed once if
it is in memory, and not if it is read: for few rows, whose codes fit into the cache, that is faster, and for many it is
not.
"""


WHOLE = "Files have up to {:.2g} GB (`python -m benchmarks.scale --gigabytes 6 --folder DIR`)."
SHORT = (
    "The largest file measured here has {:.2g} GB. The goal is one of 6 GB, which has not been measured yet:\n"
    "`python -m benchmarks.scale --gigabytes 6 --folder DIR` does it."
)


def read():
    """The rows of the benchmark."""
    with open(RESULTS, newline="") as file:
        return list(csv.DictReader(file))


def page(rows):
    """The text."""
    head = ["data", "rows", "GB", "reading", "in memory", "a sweep", "ratio", "CPU"]
    head += ["memory", "factors", "compared", "equal"]
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for row in rows:
        seconds = [f"{float(row[name]):.2f} s" for name in ("seconds_read", "seconds_in_memory", "seconds_per_sweep")]
        memory = [f"{float(row[name]):.0f} MB" for name in ("megabytes", "factors_megabytes")]
        cells = [row["data"], f"{int(row['rows']):,}", f"{float(row['gigabytes']):.2g}", *seconds]
        cells += [
            f"{float(row['ratio']):.2f}",
            f"{float(row['cpu_per_sweep']) / float(row['cpu_in_memory']):.2f}",
            *memory,
            f"{int(row['compared']):,}",
            "yes" if row["equal"] == "True" else "no",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    largest = max(float(row["gigabytes"]) for row in rows)
    missed = [row for row in rows if float(row["ratio"]) > GOAL]
    loads = sorted(float(row["load"]) for row in rows)
    return TEXT.format(
        table="\n".join(lines),
        largest=(WHOLE if largest > 5.5 else SHORT).format(largest),
        short=len(missed),
        count=len(rows),
        which=", ".join(f"{row['data']} {int(row['rows']):,}" for row in missed) or "none",
        threads=rows[0]["threads"],
        load=f"{loads[0]:.1f} to {loads[-1]:.1f}",
    )


def draw(rows):
    """CPU time per sweep and memory against the number of rows, both axes logarithmic."""
    from matplotlib import pyplot

    pyplot.rcParams["svg.hashsalt"] = "scale"
    figure, axes = pyplot.subplots(1, 2, figsize=(8, 3), layout="constrained")
    for kind, style in (("dense", "o-"), ("sparse", "s--")):
        mine = [row for row in rows if row["data"] == kind]
        n = [int(row["rows"]) for row in mine]
        (line,) = axes[0].loglog(
            n, [float(row["cpu_per_sweep"]) for row in mine], style, label=f"{kind}, from the file"
        )
        in_memory = [float(row["cpu_in_memory"]) for row in mine]
        axes[0].loglog(n, in_memory, ":", color=line.get_color(), label=f"{kind}, in memory")
        axes[1].loglog(n, [float(row["megabytes"]) for row in mine], style, label=kind)
    axes[1].axhline(600, color="grey", linewidth=0.8, label="goal: 600")
    for axis, title in zip(axes, ("CPU seconds per sweep", "megabytes beyond the factors"), strict=True):
        axis.set(xlabel="rows", title=title)
        axis.legend(fontsize="small", loc="lower right")
    figure.savefig(FIGURE, metadata={"Date": None})
    pyplot.close(figure)


if __name__ == "__main__":
    found = read()
    PAGE.write_text(page(found), "utf-8")
    draw(found)

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
  many rows in memory, measured on the *compared* rows and multiplied if these are fewer. The *ratio* is a sweep over
  the larger of both; at most 1.5 is the goal. Files were written just before, so they were in the cache of the
  operating system as far as they fit.
- *Memory* is the peak of the process beyond what it held before the fit, without the factors it returns; at most 600 MB
  is the goal. It holds some 16 MB units of the file, and at most three more copies of the codes: what the fit starts
  from and ends with, or the codes of the last sweep before and after extrapolation and the gradient at them.
- *Equal*: components and codes are, bit for bit, those of the same rows in memory; of the first *compared* rows, if
  memory has no room for all.

{table}

![Time per sweep and memory against the number of rows](images/scale.svg)

{largest} {short} of the {count} rows miss the goal of 1.5. Wall times of single runs vary
by a factor of two. Threads: {threads}; load of the machine: {load}.
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
    head = ["data", "rows", "GB", "reading", "in memory", "a sweep", "ratio", "memory", "factors", "compared", "equal"]
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for row in rows:
        seconds = [f"{float(row[name]):.2f} s" for name in ("seconds_read", "seconds_in_memory", "seconds_per_sweep")]
        memory = [f"{float(row[name]):.0f} MB" for name in ("megabytes", "factors_megabytes")]
        cells = [row["data"], f"{int(row['rows']):,}", f"{float(row['gigabytes']):.2g}", *seconds]
        cells += [
            f"{float(row['ratio']):.2f}",
            *memory,
            f"{int(row['compared']):,}",
            "yes" if row["equal"] == "True" else "no",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    largest = max(float(row["gigabytes"]) for row in rows)
    loads = sorted(float(row["load"]) for row in rows)
    return TEXT.format(
        table="\n".join(lines),
        largest=(WHOLE if largest > 5.5 else SHORT).format(largest),
        short=sum(float(row["ratio"]) > GOAL for row in rows),
        count=len(rows),
        threads=rows[0]["threads"],
        load=f"{loads[0]:.1f} to {loads[-1]:.1f} on two cores",
    )


def draw(rows):
    """Time per sweep and memory against the number of rows, both axes logarithmic."""
    from matplotlib import pyplot

    pyplot.rcParams["svg.hashsalt"] = "scale"
    figure, axes = pyplot.subplots(1, 2, figsize=(8, 3), layout="constrained")
    for kind, style in (("dense", "o-"), ("sparse", "s--")):
        mine = [row for row in rows if row["data"] == kind]
        n = [int(row["rows"]) for row in mine]
        axes[0].loglog(n, [float(row["seconds_per_sweep"]) for row in mine], style, label=kind)
        axes[1].loglog(n, [float(row["megabytes"]) for row in mine], style, label=kind)
    axes[1].axhline(600, color="grey", linewidth=0.8)
    for axis, title in zip(axes, ("seconds per sweep", "megabytes beyond the factors"), strict=True):
        axis.set(xlabel="rows", title=title)
        axis.legend()
    figure.savefig(FIGURE, metadata={"Date": None})
    pyplot.close(figure)


if __name__ == "__main__":
    found = read()
    PAGE.write_text(page(found), "utf-8")
    draw(found)

"""Write docs/cluster.md from what the benchmarks have measured.

python -m benchmarks.cluster PART                               measures, and writes benchmarks/results/cluster.json
python tests/core/worker_kill_trials.py --trials 21 --record    writes docs/measured/worker_kills.json
python -m docs.cluster                                          writes the page
"""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "cluster.json"
KILLS = ROOT / "docs" / "measured" / "worker_kills.json"
PAGE = ROOT / "docs" / "cluster.md"

GOAL = 1.3
# The estimate: samples, features, entries in a row, components, machines, and cores and bytes a second of each.
SAMPLES, FEATURES, PER_ROW, COMPONENTS = 1e9, 1e4, 100, 20
MACHINES, CORES, NETWORK = 100, 32, 1.25e9
SIZES = (1e8, 1e9)
TASKS_PER_BLOCK = 2 + 1 / 15

HEAD = """# On a cluster

Measured on one machine, over its loopback, by `python -m benchmarks.cluster PART`; written by `python -m docs.cluster`.
The guide's page "From a laptop's array to a cluster" says how to use it. Times are wall time on a machine that others
use as well: what counts is the ratio of two sides that were measured in turn.
"""


def sweeps(found):
    """Two workers against two threads."""
    rows = [row for name, row in found.items() if name.startswith("sweeps ")]
    if not rows:
        return ["`sweeps` has not been measured yet."]
    names = [name.split()[1] for name in found if name.startswith("sweeps ")]
    size, runs = rows[0]["rows"] * rows[0]["width"] * 4 / 1e6, len(rows[0]["all"]["threads"])
    lines = [
        "## Two worker processes against two threads",
        "",
        f"{rows[0]['rows']:,} × {rows[0]['width']} in float32, {size:.0f} MB, {rows[0]['cores']} cores; the graph has "
        f"five links a sample, to any chunk. Seconds per sweep, medians of {runs} runs in turn: wall time, for which "
        f"the goal is a ratio of at most {GOAL}, and the ratio of the time of all processors.",
        "",
        "| method | components | chunks | two threads | two workers | ratio | of all processors | load |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for method, row in zip(names, rows, strict=True):
        wall, parts = row["wall"], f"{row['chunks']} of {size / row['chunks']:.0f} MB"
        lines.append(
            f"| {method} | {row['components']} | {parts} | {wall['threads']:.3f} | {wall['workers']:.3f} | "
            f"{wall['ratio']:.2f} | {row['processors']['ratio']:.2f} | {row['load']} |"
        )
    missed = [
        f"{method} with {row['components']} components in {row['chunks']} chunks"
        for method, row in zip(names, rows, strict=True)
        if row["wall"]["ratio"] > GOAL
    ]
    met = "The goal is met." if not missed else f"The goal is missed by {'; '.join(missed)}."
    return [
        *lines,
        "",
        f"{met} To send components, to bring shares back and to hand out tasks takes a time of its own (below). It "
        "counts where a sweep itself is short, and is why chunks should be large. With a graph, all codes are moved by "
        "one task, as one thread does in memory.",
    ]


def blocks(found):
    """What a block costs."""
    lines = [
        "## What a sweep costs beyond its work",
        "",
        f"The same {found['rows']:,} × {found['width']} float32 in more and more blocks: seconds per sweep with "
        f"two worker "
        f"processes. Load {found['load']}.",
        "",
        "| blocks | NMF | GraphNMF |",
        "|---|---|---|",
    ]
    for row in found["table"]:
        graph = f"{row['GraphNMF']:.3f}" if "GraphNMF" in row else "–"
        lines.append(f"| {row['blocks']} | {row['NMF']:.3f} | {graph} |")
    first, last = found["table"][0], found["table"][-1]
    each = (last["NMF"] - first["NMF"]) / (last["blocks"] - first["blocks"])
    lines += ["", f"A block costs {1000 * each:.1f} ms a sweep with NMF, most of it in the scheduler."]
    return lines


def engines(found):
    """Tasks, actors, expressions."""
    return [
        "## Plain tasks, actors and expressions",
        "",
        f"A sweep over {found['blocks']} small blocks, in seconds: plain tasks (which is what fits use) "
        f"{found['tasks']:.3f}, one actor for every block {found['actors']:.3f}, `dask.array` expressions "
        f"{found['expressions']:.3f}; load {found['load']}. Actors are faster, but what they hold is lost with their "
        "worker; tasks are repeated by dask itself.",
    ]


def memory(found):
    """More data than memory."""
    peaks = " and ".join(f"{peak:.0f}" for peak in found["peaks_megabytes"])
    return [
        "## More data than the workers' memory",
        "",
        f"Two workers limited to 1 GB each fitted {found['gigabytes']:.1f} GB ({found['rows']:,} rows) in "
        f"{found['sweeps']} sweeps: dask keeps on disk what does not fit. Their peaks were {peaks} MB.",
    ]


def kills(found):
    """Trials with killed workers."""
    trials = found["trials"]
    equal = sum(trial["equal"] for trial in trials)
    times = [trial["times"] for trial in trials]
    methods = ", ".join(dict.fromkeys(trial["method"] for trial in trials))
    return [
        "## Workers that are killed",
        "",
        f"`make kills`: {len(trials)} fits ({methods}, in turn) of {found['sweeps']} sweeps while a random "
        f"worker is killed, "
        f"or one is added, at random moments. {equal} of {len(trials)} have the bits of the fit that was left "
        f"alone. They "
        f"took {np.median(times):.1f} times as long (median; the fits are short, and a worker takes seconds to "
        f"start).",
    ]


def estimate(found):
    """On paper."""
    entries = SAMPLES * PER_ROW
    work = entries / (found["entries_per_second"] * MACHINES * CORES) * COMPONENTS / found["components"]
    size_x, codes, H = 8 * entries, 4 * SAMPLES * COMPONENTS, 4 * FEATURES * COMPONENTS
    lines = [
        "## On paper: a billion rows on a hundred machines",
        "",
        f"From `python -m benchmarks.cluster constants`: a core goes over {found['entries_per_second']:.2g} "
        f"stored entries "
        f"a second ({found['components']} components), the scheduler handles {found['tasks_per_second']:.0f} tasks a "
        f"second, and the loopback moves {found['bytes_per_second'] / 1e9:.1f} GB a second (load "
        f"{found['load']}, so these "
        f"are low). Assumed: {SAMPLES:.0e} × {FEATURES:.0e} with {PER_ROW} entries in a row, float32, {COMPONENTS} "
        f"components, {MACHINES} machines of {CORES} cores with {NETWORK / 1e9:.3g} GB/s of network each.",
        "",
        f"- X is {size_x / 1e9:.0f} GB, {size_x / MACHINES / 1e9:.1f} GB a machine. The codes are "
        f"{codes / 1e9:.0f} GB in "
        f"every copy, and a fit holds three: {3 * codes / MACHINES / 1e9:.1f} GB a machine.",
        f"- Work: {work:.1f} s a sweep on {MACHINES * CORES} cores.",
    ]
    for size in SIZES:
        count = size_x / size
        tasks = count * TASKS_PER_BLOCK
        traffic = 2 * count * H
        lines.append(
            f"- Chunks of {size / 1e9:g} GB: {count:.0f} blocks, {tasks:.0f} tasks a sweep, "
            f"{tasks / found['tasks_per_second']:.1f} s for the scheduler; shares of XᵀW and components "
            f"{traffic / 1e9:.1f} GB in all, {traffic / MACHINES / NETWORK:.2f} s."
        )
    slow = stragglers()
    lines += [
        "",
        'What breaks first: a start other than `init="sampled"` makes all codes on the machine of the client '
        f"({codes / 1e9:.0f} GB), and norms of the samples take {8 * SAMPLES / 1e9:.0f} GB there; a graph takes "
        f"{24 * 5 * SAMPLES / 1e9:.0f} GB of links there, so graph methods end at some {1e7:.0e} rows. Then the "
        f"scheduler, "
        "unless chunks are large. The network is far from its limit.",
        "",
        f"Stragglers, simulated: blocks stay where they are, so a sweep takes as long as the slowest machine. "
        f"With times of "
        f"blocks that vary by a fifth and one machine in fifty at a third of its speed, a sweep takes "
        f"{slow:.1f} times as "
        "long as on equal machines.",
    ]
    return lines


def stragglers(sweeps=200, seed=0):
    """The time of a sweep relative to that on equal machines; every core has four blocks."""
    rng = np.random.default_rng(seed)
    times = rng.lognormal(sigma=0.2, size=(sweeps, MACHINES, CORES, 4)).sum(axis=3).max(axis=2)
    times *= np.where(rng.random((sweeps, MACHINES)) < 0.02, 3.0, 1.0)
    return float(times.max(axis=1).mean() / 4)


def page():
    """The text; what has not been measured is left out, and said so."""
    found = json.loads(RESULTS.read_text("utf-8"))
    lines = [HEAD.rstrip(), "", *sweeps(found), ""]
    for name, write in (("blocks", blocks), ("engines", engines), ("memory", memory)):
        lines += [*(write(found[name]) if name in found else [f"`{name}` has not been measured yet."]), ""]
    if KILLS.exists():
        lines += [*kills(json.loads(KILLS.read_text("utf-8"))), ""]
    if "constants" in found:
        lines += [*estimate(found["constants"]), ""]
    return "\n".join(_wrapped(line) for line in lines)


def _wrapped(line):
    """Paragraphs and points in lines of 120 characters; tables and headings as they are."""
    if line.startswith(("|", "#")) or "\n" in line:
        return line
    return textwrap.fill(line, 120, subsequent_indent="  " if line.startswith("- ") else "", break_long_words=False)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

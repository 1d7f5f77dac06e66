"""Write docs/counts.md: how fast fits of counts are, where they end, and why some losses keep slow rules.

    python -m docs.counts

from the rows of `python -m benchmarks --full --only 'counts-*' 'graph-counts-*' '*-counts'` and of the studies
`counts_starts` and `zeros`.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks import table
from studies import counts_starts, zeros

PAGE = Path(__file__).with_name("counts.md")
TOP = """\
# Fits of counts

The Kullback–Leibler divergence is fitted by Newton steps on single rows, which touch only positive entries.
This page has what that is worth, and where fits end. Written by `python -m docs.counts`.

## Speed

CPU time on one thread to the objective that others have after some sweeps, theirs over ours; medians of three starts.
scikit-learn and partwise each have a new process to themselves, with the same data, start and limit of one thread,
and warm up on the same data before the clock starts: sweeps that allocate arrays as large as the data depend on what
a process has allocated before. The note of a row has the figure with both in one process. `python -m
benchmarks --full --only 'counts-*'` repeats the comparison.
"""
NO_ROWS = "No rows have been measured yet."
STARTS = """\
## Where fits end

The first sweeps decide in which minimum a fit ends, so fast steps could lead to worse ones. Therefore the first four
sweeps are multiplicative, three of them with ratios to the power of three, which leads as far as ten. The
objective after {ours} sweeps of ours over that of the multiplicative rules after {rules}, from the same random start:
"""
ZEROS = """\
A case with fewer than ten starts is not finished; `python -m studies.counts_starts` continues it.

## Other β-divergences of data with many zeros

For β below 2, other than 1, the curvature at a zero of X is far from that at other entries, and zeros count too: no
list of positive entries suffices, and no Gram matrix stands for all entries of a row. Steps in blocks, which are the
fast way where few entries are zero, can be made there too, and never rise. On the digits, of which half the entries
are zero, they end like this after {sweeps} sweeps of both:
"""
END = """\
Below β = 1 they lead to worse minima, so `solver="auto"` makes multiplicative steps there, with ratios to a power that
the objective decides (`solver_` is then "hastened"). Above β = 1 they end lower from every start, and `solver="auto"`
makes them. Made by `python -m studies.zeros`.

## Other programs

fastTopics is an R package, which was not run here. Carbonetto, Sarkar, Wang & Stephens
("Non-negative matrix factorization algorithms generally improve topic model fits", arXiv:2105.13440) fit the same
Poisson likelihood by extrapolated coordinate descent, and report better fits in less time than by the multiplicative
rules, which are the EM algorithm. Their logs are public (stephenslab/fastTopics-experiments on GitHub). On the 20
newsgroups, 18,774 documents of 55,911 words, with 10 topics, fastTopics 0.5-24 took 5,172.76 seconds for 1,000
extrapolated coordinate updates and 5,462.62 seconds for 1,000 EM updates, on eight threads of an Intel Broadwell. That
is 5.2 seconds of wall time an update, with four passes over each row and a report of the likelihood every time. The row
`counts-newsgroups-paper` above sets a sweep of ours beside it, in CPU time of one thread, on made-up counts of that
size: other processors, other data, and sweeps that do not gain the same, so only the order of magnitude counts. After
1,000 EM updates theirs reached its final likelihood, to a millionth, in some 45 extrapolated updates.

RcppML 0.3.7, which Debian has, fits the squared error only; it was run for [those rows](../benchmarks/results/full.md).
Its paper (DeBruine, Pospisilik & Triche, bioRxiv 2021.09.01.458620) reports run times like those of a truncated SVD.
"""


def speed(rows):
    """Lines of Markdown: every row of counts that was measured."""
    chosen = [row for row in rows if "counts" in row.name.split("-") and row.figure == row.figure]
    if not chosen:
        return [NO_ROWS]
    lines = ["| case | data | against | times faster | needed | note |", "|---|---|---|---|---|---|"]
    for row in chosen:
        figure = f"{row.figure:.3g} ({row.low:.3g}–{row.high:.3g})"
        note = row.note + (f" [load {row.load:.1f}]" if row.load > 1.5 else "")
        lines.append(f"| {row.case} | {row.data} | {row.against} | {figure} | {row.needed} | {note} |")
    return lines


def page():
    """The text."""
    starts = STARTS.format(ours=counts_starts.OUR_SWEEPS, rules=f"{counts_starts.RULES_SWEEPS:,}")
    parts = [
        TOP,
        *speed(table.read("full")),
        "",
        starts,
        *counts_starts.table(counts_starts.read()),
        "",
        ZEROS.format(sweeps=zeros.SWEEPS),
        *zeros.table(zeros.read()),
        "",
        END,
    ]
    return "\n".join(parts).rstrip("\n") + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"Wrote {PAGE}.")

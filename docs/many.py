"""Write docs/many.md and its figure: what many fits as one are worth.

    python -m docs.many

from the rows of `python -m benchmarks --full --only 'replicates-*'` and of the study `consensus`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks import table
from studies import consensus

PAGE = Path(__file__).with_name("many.md")
FIGURE = PAGE.parent / "images" / "consensus.svg"
COLOURS = {
    "typical": "#8a93a6",
    "best": "#3b68c4",
    "consensus": "#c4553b",
    "best quarter": "#7a3bc4",
    "bootstrap": "#c99a2e",
    "bagged": "#2f8f5b",
}
TOP = """\
# Many fits as one

What it is worth to solve many fits side by side, and what their consensus is worth. Written by `python -m docs.many`;
the page "Many fits as one" of the guide shows how to do it.

## Speed

CPU times on one thread, from `python -m benchmarks --full --only 'replicates-*'`. A share is our time over the other
one; elsewhere the figure says how many times faster we are. "Product rates allow" is the share that is left when the
products of single fits are replaced by as many columns of a wide product, at the rates measured in the same run: as
wide as those that are made side by side, or with the columns of all replicates if that is faster.
"""
NO_ROWS = "No rows have been measured yet."
SHARED = """\
### What is shared, and what is not

- **Replicates with the squared error** (`ConsensusNMF`, `consensus`, `rank_evidence`, `solve_many`): every product with
  X is one for all fits. Results differ from those of single fits by rounding.
- **`n_init`**: starts are tried side by side, and a block of X that is in the cache serves all of them, but each has
  its own product. So results are, to the bit, those of one start after the other, and do not depend on whether a
  callback listens. One wide product would save more, and round differently. With a sparse X, products with the features
  are one, because their sums are added in a fixed order.
- **`"auto"`** follows paths through the strengths, each fit beginning where the last one ended, on at most 2,000
  samples. The fits of two paths at one strength run side by side as those of `n_init` do, to the bit; with so few fits
  and rows there is little to gain (the case `replicates-starts-digits`).
- **Kullback–Leibler**: a step is made of sums over the entries of a row with the components of the one fit, and of the
  Gram matrix of that row. Fits could share only the reading of the entries. The cases
  `replicates-entries-*` say what share of a sweep this is. Lists of entries and graphs are made once for all fits.
- **Hidden or missing entries**: every fit sees other entries. Nothing is shared.
- **Poisson draws** (`resample="counts"`) are other data for each fit, which are solved one after another, so that two
  draws are in memory at a time. Of every replicate only the components are kept (the case `replicates-memory`): memory
  grows by a few copies of these, which clustering needs, and not with the number of samples.

What limits the factorisation step of cNMF is the sweeps themselves: with Kullback–Leibler, each goes twice over the
positive entries, and these loops take six sevenths of the time. The objective that scikit-learn's rules end at
is reached in the few careful sweeps at the beginning; a fit that goes on ends lower, and takes longer.

SigProfilerExtractor was not run beside these fits; by its documentation it makes, by default, 100 Poisson replicates
for each of 1 to 25 signatures, of 10,000 to 1,000,000 multiplicative sweeps each. The case
`replicates-signatures-paper` sets one of our replicates beside the least of that.

## Closer to the truth?

Six programs of unequal abundance, hidden in Poisson counts; the fewer counts per entry, the more noise. The mean cosine
of the true programs with those found, for a typical fit, the best of {replicates} fits (that with the lowest
objective), their consensus, that of the best quarter of them (`best_share=0.25`), that of fits to bootstrap samples,
and the means of further fits to samples weighted at random (`n_bagged=20`); means over {draws} draws, and mean
differences with their standard errors. The last column has the numbers of programs that `ConsensusNMF` chooses from
3 to 9 in {choices} draws.

![Mean cosine with the truth against the number of counts per entry](images/consensus.svg)
"""
END = """\
With little noise all good fits agree, and the consensus is the best of them. With more noise it is ahead of a typical
fit, and within the errors of these draws level with the best one. With the squared error and three counts per entry it
is behind: in two of the draws most fits miss a program that the best ones find, and a consensus is what most fits find.
That of the best quarter does not have this fault, and is level with the best fit. So what many fits to the same data
agree on is no closer to the truth than the best of them: all follow the same noise. The means of fits to weighted
samples do not: at one count per entry and fewer they are closer to the truth than the best fit, by 0.002 to 0.04, and
never further away by more than 0.0003. (They were chosen among other ways on other draws.) Bootstrap samples tell how
certain a component is, but with few counts their consensus is further from the truth: each fit sees 63 % of the
samples. The number chosen errs towards fewer programs when the weak ones are below the noise. Made by `python -m
studies.consensus`.
"""


def speed(rows):
    """Lines of Markdown: every row of replicates that was measured."""
    chosen = [row for row in rows if row.name.startswith("replicates-") and row.figure == row.figure]
    if not chosen:
        return [NO_ROWS]
    lines = ["| case | data | against | figure | needed | note |", "|---|---|---|---|---|---|"]
    for row in chosen:
        note = row.note + (f" [load {row.load:.1f}]" if row.load > 1.5 else "")
        lines.append(f"| {row.case} | {row.data} | {row.against} | {row.figure:.3g} | {row.needed} | {note} |")
    return lines


def page():
    """The text."""
    given = {"replicates": consensus.REPLICATES, "draws": consensus.DRAWS, "choices": consensus.CHOICES}
    parts = [TOP, *speed(table.read("full")), "", SHARED.format(**given), *consensus.table(consensus.read()), "", END]
    return "\n".join(parts).rstrip("\n") + "\n"


def draw():
    """The means over the draws with their standard errors."""
    from matplotlib import pyplot

    pyplot.rcParams["svg.hashsalt"] = "consensus"
    rows = consensus.read()
    figure, panels = pyplot.subplots(1, 2, figsize=(9, 3.4), layout="constrained", sharey=True)
    for panel, loss in zip(panels, consensus.LOSSES, strict=True):
        for method in consensus.METHODS:
            by_count = [consensus.scores(rows, loss, count, method) for count in consensus.COUNTS]
            means = [values.mean() for values in by_count]
            errors = [values.std(ddof=1) / np.sqrt(len(values)) for values in by_count]
            panel.errorbar(
                consensus.COUNTS,
                means,
                errors,
                label=method,
                color=COLOURS[method],
                marker="o",
                markersize=4,
                capsize=2,
            )
        panel.set(xscale="log", xlabel="counts per entry", title=loss)
        panel.set_xticks(consensus.COUNTS, [f"{count:g}" for count in consensus.COUNTS])
    panels[0].set_ylabel("mean cosine with the truth")
    panels[1].legend(frameon=False, loc="lower right")
    figure.savefig(FIGURE, metadata={"Date": None})


if __name__ == "__main__":
    draw()
    PAGE.write_text(page(), encoding="utf-8")
    print(f"Wrote {PAGE} and {FIGURE}.")

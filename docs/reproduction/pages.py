"""Write the pages of this folder from ``results/*.csv``.

    python -m docs.reproduction

The results come from ``partwise reproduce PAPER``; ``findings.md`` discusses them.
"""

from pathlib import Path

from partwise.experiments import load_protocol, paper_names, read_cells
from partwise.experiments.plan import Place, Plan
from partwise.experiments.printed import AVERAGE
from partwise.experiments.tables import (
    LEGEND,
    counts_line,
    markdown_tables,
    plain_line,
    plain_shares,
    summary_table,
)

from .closing import closing_table, short_table
from .fresh import fresh_table
from .headline import all_accuracies

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parents[1] / "results"
NOTE = "<!-- Written by `python -m docs.reproduction` from results/*.csv. -->\n"


def paper_page(name, cells):
    """All tables of a paper."""
    protocol = load_protocol(name)
    return "\n".join(
        [
            NOTE,
            f"# {protocol.paper}: printed and measured",
            "",
            f"{protocol.citation}. The protocol is"
            f" [{name}.toml](../../src/partwise/experiments/papers/{name}.toml); made by `partwise reproduce {name}`.",
            "",
            f"{counts_line(cells)}. {plain_line(cells)}.",
            "",
            summary_table(cells, "method"),
            "",
            f"{LEGEND}. Numbers of runs are ours: in the title of a table, and in brackets in a cell that has others."
            f" {printed_runs(protocol)}",
            "",
            markdown_tables(cells),
        ]
    )


def printed_runs(protocol):
    """How many runs the paper has."""
    if protocol.full_repeats == protocol.repeats:
        return f"The paper has {protocol.repeats} everywhere."
    return f"The paper has {protocol.repeats}, and {protocol.full_repeats} where all classes are used."


def defaults_table():
    """Own methods as printed, as reproduced, and with this library's defaults."""
    lines = ["| paper | method | data | printed | reproduced | partwise |", "|:--|:--|:--|--:|--:|--:|"]
    for paper, found in all_accuracies().items():
        for (method, dataset), means in found.items():
            lines.append(f"| {paper} | {method} | {dataset} | " + " | ".join(f"{mean:.1f}" for mean in means) + " |")
    return "\n".join(lines)


def behind_line():
    """Where the defaults fall behind what is printed."""
    behind = [
        f"{dataset} ({paper}, by {printed - ours:.1f})"
        for paper, found in all_accuracies().items()
        for (_, dataset), (printed, _, ours) in found.items()
        if ours < printed - 3
    ]
    return f"More than three points behind what is printed: {', '.join(behind) or 'none'}."


def much_better(cells):
    """How many measured numbers are more than ten points above the printed ones."""
    return sum(cell.verdict == "better" and cell.mean > cell.printed_mean + 10 for cell in cells)


def full_line(cells):
    """How many of the measured cells have all runs that the protocol asks for; averages are not counted."""
    plans = {paper: Plan(load_protocol(name)) for name, paper in paper_names().items()}
    measured = [c for c in cells if c.verdict and c.mean is not None and c.n_clusters != AVERAGE]
    full = [c for c in measured if c.repeats >= len(plans[c.paper].draws(Place(c.dataset, int(c.n_clusters))))]
    if len(full) == len(measured):
        return f"All {len(measured):,} measured cells (without averages) have all runs of their protocol."
    return (
        f"{len(full):,} of the {len(measured):,} measured cells (without averages) have all runs of their protocol;"
        " `partwise reproduce PAPER` makes the others."
    )


def unmeasured_line(cells):
    """On which data sets the column of defaults is not whole."""
    shown = {(paper, dataset) for paper, found in all_accuracies().items() for _, dataset in found}
    missing = {}
    for cell in cells:
        if (cell.paper, cell.dataset) not in shown:
            missing.setdefault(cell.paper, {})[cell.dataset] = None
    listed = "; ".join(f"{', '.join(datasets)} ({paper})" for paper, datasets in missing.items())
    if not listed:
        return "The defaults have been measured with all numbers of clusters of all papers."
    return f"The defaults have not been measured with all numbers of clusters on: {listed}."


def front_numbers(cells):
    """What README.md says about the papers: how many numbers, and the share that is reached."""
    measured = [cell for cell in cells if cell.verdict and cell.mean is not None]
    share = plain_shares(measured)["≥ printed − 3"]
    return f"{len(measured):,}", f"{100 * share:.0f}"


def summary_page(cells):
    """Verdicts per paper and per paper's own method, then the findings."""
    own = {
        (protocol.paper, method) for protocol in map(load_protocol, paper_names()) for method in protocol.own_methods
    }
    pages = [f"- [{paper}]({name}.md)" for name, paper in paper_names().items()]
    return "\n".join(
        [
            NOTE,
            "# The five papers, reproduced",
            "",
            f"Of {sum(1 for cell in cells if cell.verdict):,} printed numbers: {counts_line(cells)}. Without any rule:",
            f"{plain_line(cells)}.",
            full_line(cells),
            "",
            "A cell is *equal* if the measured mean is within three points of the printed one, or within two",
            "standard errors of the difference but never more than five points; *better* or *short* beyond. Neither",
            f"is a reproduction: {much_better(cells)} of the better cells are so by more than ten points. The error",
            "of a measured mean is its own, the printed one comes from the printed deviation (the measured one where",
            "none is printed), and an average has the error of a mean over all of its runs. With fewer than five runs",
            "there is no verdict. *Not run*: the code gives other results than it did, so earlier runs do not count.",
            "Every table gives the runs per cell in its title, and in the cell where it has others:",
            "",
            *pages,
            "",
            "## By paper",
            "",
            summary_table(cells, "paper"),
            "",
            "## The papers' own methods",
            "",
            summary_table([cell for cell in cells if (cell.paper, cell.method) in own], "method"),
            "",
            "Before and after readings that hold for whole papers, and without runs of earlier code",
            "([closing.py](closing.py)). Shares are of measured cells, verdicts of those with enough runs:",
            "",
            closing_table(),
            "",
            "What is short. *Within two errors*: by more than five points, the most that can count as equal, but by",
            "less than two standard errors of the difference.",
            "",
            short_table(),
            "",
            "## Runs that nobody has seen",
            "",
            "`partwise reproduce PAPER --draws-from 1000 --one-in 10`: one in ten of the cells with other draws of",
            "classes and other starts. How many means agree with the committed ones within two standard errors of",
            "the difference ([fresh.py](fresh.py)); 95 % would, if nothing had been chosen by looking at the draws and",
            "cells were independent. They are not: all cells of a place (a data set and a number of clusters) share",
            "its draws, so a few hard draws move them together.",
            "",
            fresh_table(),
            "",
            "## By method",
            "",
            summary_table(cells, "method"),
            "",
            "## The same methods with this library's defaults",
            "",
            "Accuracy, mean over the numbers of clusters, of data sets where all of these have been measured;",
            "[headline.py](headline.py) draws it. In the last column nothing is tuned: solver and scale are defaults,",
            "and GNMF, LLNMF and NLCF choose their strength without labels. The other columns use the paper's best",
            "setting by labels. Repeats differ, see the tables: a single draw of classes moves these means by points.",
            "",
            "![Printed, reproduced, and with defaults](../images/headline.png)",
            "",
            defaults_table(),
            "",
            behind_line(),
            unmeasured_line(cells),
            "",
            (HERE / "findings.md").read_text("utf-8"),
        ]
    )


def main():
    """Write everything."""
    found = {name: read_cells(RESULTS / f"{name}.csv") for name in paper_names() if (RESULTS / f"{name}.csv").exists()}
    for name, cells in found.items():
        (HERE / f"{name}.md").write_text(paper_page(name, cells).rstrip() + "\n", "utf-8")
    everything = [cell for cells in found.values() for cell in cells]
    (HERE / "README.md").write_text(summary_page(everything).rstrip() + "\n", "utf-8")


if __name__ == "__main__":
    main()

"""Write the pages of this folder from ``results/*.csv``.

    python -m docs.reproduction

The results come from ``partwise reproduce PAPER``; ``findings.md`` discusses them.
"""

from pathlib import Path

from partwise.experiments import load_protocol, paper_names, read_cells
from partwise.experiments.tables import LEGEND, counts_line, markdown_tables, plain_line, summary_table

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
            f"{LEGEND}. A number in brackets: the runs of a cell that has others than the title says.",
            "",
            markdown_tables(cells),
        ]
    )


def defaults_table():
    """Own methods as printed, as reproduced, and with this library's defaults."""
    lines = ["| paper | method | data | printed | reproduced | partwise |", "|:--|:--|:--|--:|--:|--:|"]
    for paper, found in all_accuracies().items():
        for (method, dataset), means in found.items():
            lines.append(f"| {paper} | {method} | {dataset} | " + " | ".join(f"{mean:.1f}" for mean in means) + " |")
    return "\n".join(lines)


def much_better(cells):
    """How many measured numbers are more than ten points above the printed ones."""
    return sum(cell.verdict == "better" and cell.mean > cell.printed_mean + 10 for cell in cells)


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
            "",
            "A cell is *equal* if the measured mean is within three points of the printed one, or within two",
            "standard errors of the difference but never more than five points; *better* or *short* beyond. Neither",
            f"is a reproduction: {much_better(cells)} of the better cells are so by more than ten points. The error",
            "of a measured mean is its own, the printed one comes from the printed deviation (the measured one where",
            "none is printed), and an average has the error of a mean over all of its runs. With fewer than five runs",
            "there is no verdict. *No data*: JAFFE and PIE are not public. Every table gives the runs per cell in its",
            "title, and in the cell where it has others:",
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
            "## By method",
            "",
            summary_table(cells, "method"),
            "",
            "## The same methods with this library's defaults",
            "",
            "Accuracy, mean over the numbers of clusters; [headline.py](headline.py) draws it. In the last column",
            "nothing is tuned: solver and scale are defaults, and GNMF, LLNMF and NLCF choose their strength without",
            "labels. The other columns use the paper's best setting by labels. Repeats differ, see the tables:",
            "a single draw of classes moves these means by points.",
            "",
            "![Printed, reproduced, and with defaults](../images/headline.png)",
            "",
            defaults_table(),
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

"""Numbers that the README and the site state beside the tables they come from, written from these tables.

    python -m docs.stated

rewrites the numbers and the tables below where `benchmarks/results`, `results` or `studies/results` have changed, and
prints where each of them stands and what it comes from. All words around them are written by hand.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import summary, table
from docs.reproduction import pages as reproduction
from partwise.experiments import paper_names, read_cells
from studies import defaults, forgetting, groups, unequal_groups

ROOT = Path(__file__).resolve().parents[1]
NUMBER = r"(\d[\d.,]*\d|\d)"
README, START = "README.md", "docs/site/index.md"
PERFORMANCE, STREAMS, GROUPS = (
    f"docs/site/{page}.md" for page in ("inside/performance", "guide/streams", "guide/groups")
)
SPEED, ACCURACY = "benchmarks/results/full.csv", "studies/results/defaults.csv"


@dataclass(frozen=True)
class Sentence:
    """Words in which `{}` stands for numbers, on one page or more."""

    pages: tuple[str, ...]
    words: str
    source: str
    numbers: Callable[[], Sequence[str]]

    def written(self, text: str) -> str:
        """The text of a page with these numbers; lines may end between any two words."""
        pattern = r"\s+".join(re.escape(word).replace(r"\{\}", NUMBER) for word in self.words.split())
        match = re.search(pattern, text)
        if match is None:
            raise ValueError(
                f"{' and '.join(self.pages)} should say “{self.words}”. Put it back, or change docs/stated.py."
            )
        for i, number in reversed(list(enumerate(self.numbers(), 1))):
            text = text[: match.start(i)] + number + text[match.end(i) :]
        return text


@dataclass(frozen=True)
class Table:
    """A table whose first line begins with `head`, up to the line that is not a row of it."""

    pages: tuple[str, ...]
    head: str
    source: str
    lines: Callable[[], Iterable[str]]

    @property
    def words(self) -> str:
        """What the table is found by."""
        return self.head

    def written(self, text: str) -> str:
        """The text of a page with this table."""
        match = re.search(rf"^{re.escape(self.head)}.*\n(?:\|.*\n)+", text, re.MULTILINE)
        if match is None:
            raise ValueError(f"{self.pages[0]} should have a table that begins with “{self.head}”.")
        return text[: match.start()] + "".join(f"{line}\n" for line in self.lines()) + text[match.end() :]


def span(figures: Iterable[float]) -> tuple[str, str]:
    """The smallest and the largest, without decimals."""
    known = [figure for figure in figures if figure == figure]
    return f"{min(known):.0f}", f"{max(known):.0f}"


def against_scikit_learn() -> Sequence[str]:
    """Plain NMF in float64 on MNIST and TDT2."""
    names = {"nmf-mnist-10-float64", "nmf-mnist-50-float64", "nmf-tdt2-peers"}
    return span(row.figure for row in table.read("full") if row.name in names and row.against == "scikit-learn cd")


def against_rcppml() -> Sequence[str]:
    """Plain NMF in float64 on digits, MNIST and TDT2."""
    return span(row.figure for row in table.read("full") if row.name.endswith("-rcppml"))


def of_counts() -> Sequence[str]:
    """Kullback–Leibler, 200 sweeps."""
    rows = (row for row in table.read("full") if row.name.startswith("counts-") and row.against == "scikit-learn mu")
    return span(row.figure for row in rows if row.case.endswith("200 sweeps"))


def of_graphs() -> Sequence[str]:
    """The lines of GraphNMF in the table of performance."""
    names = {name for label, cases in summary.PENALISED.items() if label.startswith("GraphNMF") for name in cases}
    return span(row.figure for row in table.read("full") if row.name in names)


def default_scores() -> dict[tuple[str, str], tuple[float, float]]:
    """{(data, method): (accuracy, NMI)}."""
    with defaults.RESULTS.open(encoding="utf-8", newline="") as file:
        return {
            (row["data"], row["method"]): (float(row["accuracy"]), float(row["nmi"])) for row in csv.DictReader(file)
        }


def default_means() -> Sequence[str]:
    """The mean accuracies of GraphNMF, k-means and NMF."""
    scores = default_scores()
    return [
        f"{np.mean([score[0] for (_, of), score in scores.items() if of == method]):.3f}"
        for method in ("GraphNMF", "k-means", "NMF")
    ]


def default_table() -> Iterable[str]:
    """Accuracy and NMI by data set, the best accuracy bold."""
    titles = ("COIL-20, 20 objects", "TDT2, 8 topics", "Semeion digits", "ORL faces", "MNIST, 3,000 digits")
    titles = (*titles, "Reuters, 8 topics", "Yale faces")
    scores = default_scores()
    lines = {
        title: [scores[name, method] for method in defaults.METHODS]
        for title, name in zip(titles, defaults.SETS, strict=True)
    }
    lines["mean"] = np.mean(list(lines.values()), axis=0).tolist()
    yield "| data | k-means | NMF | GraphNMF | GraphNMF, strength 10 |"
    yield "|---|---|---|---|---|"
    for title, row in lines.items():
        best = max(accuracy for accuracy, _ in row)
        cells = [f"**{a:.3f}** / {nmi:.3f}" if a == best else f"{a:.3f} / {nmi:.3f}" for a, nmi in row]
        yield f"| {title} | {' | '.join(cells)} |"


def plain_speed() -> Iterable[str]:
    """The first table of `benchmarks.summary`."""
    return _parts_of_summary()[0]


def penalised_speed() -> Iterable[str]:
    """The second one."""
    return _parts_of_summary()[1]


def _parts_of_summary() -> tuple[list[str], list[str]]:
    lines = list(summary.lines(table.read("full")))
    end = lines.index("")
    return lines[:end], lines[end + 1 :]


def papers() -> Sequence[str]:
    """Of the papers' numbers."""
    cells = [cell for name in paper_names() for cell in read_cells(ROOT / "results" / f"{name}.csv")]
    return reproduction.front_numbers(cells)


def stream_table() -> Iterable[str]:
    """Every stream that was measured."""
    data = {"mnist": "MNIST (10,000)", "tdt2": "TDT2"}
    losses = {"frobenius": "squared error", "kullback-leibler": "Kullback–Leibler"}
    cases: dict[str, dict[bool, table.Row]] = {}
    for row in table.read("full"):
        if row.name.startswith("stream-"):
            cases.setdefault(row.name, {})[row.against == "NMF.fit"] = row
    yield "| data, components, loss | over `fit` | CPU time over that of `fit` | over `MiniBatchNMF` |"
    yield "|---|---|---|---|"
    for name, rows in cases.items():
        _, of, k, loss = name.split("-", 3)
        fit, mini = rows[True], rows[False]
        figures = f"{fit.figure:.3f} | {fit.ours / fit.theirs:.1f} | {mini.figure:.3f}"
        yield f"| {data[of]}, k = {k}, {losses[loss]} | {figures} |"


def forgetting_table() -> Iterable[str]:
    """Means over the orders, by data and power."""
    titles = {"digits": "digits", "semeion": "Semeion", "coil20": "COIL20", "cstr": "CSTR", "webkb4_1000": "WebKB4"}
    losses = {"frobenius": "squared error", "kullback-leibler": "Kullback–Leibler"}
    rows, told = forgetting.read(), set()
    notes = {0: ": nothing fades", 2: ": the default"}
    yield f"| | {' | '.join(f'{p:g}{notes.get(p, str())}' for p in forgetting.POWERS)} |"
    yield "|---|" + "---|" * len(forgetting.POWERS)
    for loss, name in dict.fromkeys((row["loss"], row["data"]) for row in rows):
        mine = [row for row in rows if (row["loss"], row["data"]) == (loss, name)]
        means = [np.mean([float(row["ratio"]) for row in mine if float(row["power"]) == p]) for p in forgetting.POWERS]
        title = titles[name] if loss in told else f"{losses[loss]}, {titles[name]}"
        told.add(loss)
        yield f"| {title} | {' | '.join(f'{mean:.3f}' for mean in means)} |"


def groups_table() -> Iterable[str]:
    """Medians over the draws, by effect, size and mean count."""
    shown = [("kullback-leibler", method) for method in ("NMF(5)", "GroupNMF", "GroupNMF, means")]
    shown += [("frobenius", method) for method in ("NMF(5)", "GroupNMF", "iNMF")]
    with groups.RESULTS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    yield (
        "| effect | size | mean count | `NMF(5)` | `GroupNMF` | features divided by means | squared error: `NMF(5)` |"
        " `GroupNMF` | integrative NMF |"
    )
    yield "|:--|--:|--:|--:|--:|--:|--:|--:|--:|"
    for case in dict.fromkeys((row["effect"], row["size"], row["mean count"]) for row in rows):
        mine = [row for row in rows if (row["effect"], row["size"], row["mean count"]) == case]
        scores = [
            np.median([float(row["smallest cosine"]) for row in mine if (row["loss"], row["method"]) == of])
            for of in shown
        ]
        effect, *sizes = case
        numbers = [f"{float(size):g}" for size in sizes] + [f"{score:.2f}" for score in scores]
        yield f"| {effect} | {' | '.join(numbers)} |"


STATED: tuple[Sentence | Table, ...] = (
    Sentence(
        (README, START),
        "scikit-learn has after 100 sweeps (50 on TDT2) {} to {} times sooner",
        SPEED,
        against_scikit_learn,
    ),
    Sentence((README, START), "sooner (RcppML's {} to {} times)", SPEED, against_rcppml),
    Sentence((README, START), "Kullback–Leibler divergence the one after 200 sweeps {} to {} times", SPEED, of_counts),
    Sentence((README,), "that of the papers' rules {} to {} times", SPEED, of_graphs),
    Sentence(
        (README, START),
        "`GraphNMF` has a mean accuracy of {} with one set of defaults, k-means {} and NMF {}.",
        ACCURACY,
        default_means,
    ),
    Sentence(
        (README,),
        "Of the {} numbers of five papers that have been measured by their protocols, {} % are at least the printed one"
        " less three points:",
        "results/*.csv",
        papers,
    ),
    Table((PERFORMANCE,), "| float64 / float32 |", SPEED, plain_speed),
    Table((PERFORMANCE,), "| against the papers' rules |", SPEED, penalised_speed),
    Table((PERFORMANCE,), "| data | k-means |", ACCURACY, default_table),
    Table((STREAMS,), "| data, components, loss |", SPEED, stream_table),
    Table((STREAMS,), "| | 0: nothing fades |", "studies/results/forgetting.csv", forgetting_table),
    Table((GROUPS,), "| effect | size |", "studies/results/groups.csv", groups_table),
    Table(
        (GROUPS,),
        "| groups | mean count |",
        "studies/results/unequal_groups.csv",
        lambda: unequal_groups.table(unequal_groups.read()),
    ),
)


def main() -> None:
    """Write all pages, and say what stands where."""
    for stated in STATED:
        for page in stated.pages:
            path = ROOT / page
            before = path.read_text(encoding="utf-8")
            after = stated.written(before)
            path.write_text(after, encoding="utf-8")
            print(f"{page}: “{stated.words}”, from {stated.source}{'' if after == before else ' (changed)'}")


if __name__ == "__main__":
    main()

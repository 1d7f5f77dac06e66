"""The table at the end: numbers as text, the best of each column marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .outcomes import Outcome, shown_scores


def header(outcomes: Sequence[Outcome]) -> list[str]:
    """The names of the columns."""
    return ["method", *shown_scores(outcomes), "time"]


def legend(outcomes: Sequence[Outcome], hidden: int) -> list[str]:
    """What the columns mean; `hidden` samples have labels that no method was given."""
    shown = shown_scores(outcomes)
    lines = ["* best score"]
    if "accuracy" not in shown:
        lines.append('no labels, so scores say how well the clusters fit the data, as when "auto" chooses')
    if "unlabelled" in shown:
        lines.append(f"unlabelled: accuracy on the {hidden} samples whose label no method was given")
    return [
        *lines,
        "time: from the data to the clusters (k-means on the codes included), one thread, without compilation",
    ]


@dataclass(frozen=True)
class Cell:
    """One cell of the table."""

    text: str
    best: bool = False

    @property
    def marked(self) -> str:
        """The text with its mark, or with a blank in its place."""
        return self.text + ("*" if self.best else " ")


def table_cells(outcomes: Sequence[Outcome]) -> list[list[Cell]]:
    """One line of cells per method; equal numbers, as shown, are equally good."""
    texts = [[f"{getattr(outcome, score):.3f}" for score in shown_scores(outcomes).values()] for outcome in outcomes]
    best = [max(column, key=float) for column in zip(*texts, strict=True)]
    return [
        [
            Cell(outcome.name),
            *(Cell(text, text == top) for text, top in zip(line, best, strict=True)),
            Cell(f"{outcome.seconds:.2f} s"),
        ]
        for outcome, line in zip(outcomes, texts, strict=True)
    ]


def plain_table(outcomes: Sequence[Outcome]) -> str:
    """The table in plain characters."""
    first, *others = header(outcomes)
    head = [first, *(f"{name} " for name in others)]
    lines = [head, *([cell.marked for cell in line] for line in table_cells(outcomes))]
    widths = [max(len(line[j]) for line in lines) for j in range(len(head))]
    padded = [
        "  ".join(text.ljust(width) if j == 0 else text.rjust(width) for j, (text, width) in enumerate(columns))
        for columns in (list(zip(line, widths, strict=True)) for line in lines)
    ]
    padded.insert(1, "-" * len(padded[0].rstrip()))
    return "\n".join(line.rstrip() for line in padded)

"""What the user sees while methods run: bars on a terminal, plain lines anywhere else."""

from __future__ import annotations

import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..callbacks import Callback, Progress
from ..experiments.comparison import Steps
from ..experiments.outcomes import Outcome
from ..experiments.score_table import header, plain_table, table_cells
from .lines import fold, say

if TYPE_CHECKING:
    from rich.progress import TaskID

SWEEPS_PER_LINE = 100
# Columns of a terminal that has room for long bars.
WIDE = 100


class Display(Steps, ABC):
    """Something to show a comparison on; used in a with statement."""

    def __enter__(self) -> Display:
        return self

    def __exit__(self, *exception: object) -> None:
        return

    def say(self, text: str) -> None:
        """Print a line."""
        say(text)

    @abstractmethod
    def begin(self, name: str) -> Callback:
        """A step begins; the callback returned is told about its sweeps."""

    @abstractmethod
    def end(self, name: str, ending: str) -> None:
        """The step ends."""

    @abstractmethod
    def table(self, outcomes: Sequence[Outcome]) -> None:
        """The scores of all methods."""


class PlainDisplay(Display):
    """Lines without control characters, in ASCII."""

    def begin(self, name: str) -> Callback:
        """Nothing is printed until there is something to report."""
        return _Lines(name)

    def end(self, name: str, ending: str) -> None:
        """One line per step."""
        self.say(f"{name}: {ending}")

    def table(self, outcomes: Sequence[Outcome]) -> None:
        """Columns separated by blanks."""
        print(f"\n{plain_table(outcomes)}\n", flush=True)


class _Lines(Callback):
    def __init__(self, name: str):
        self._name = name

    def on_sweep(self, progress: Progress) -> None:
        if progress.sweep % SWEEPS_PER_LINE == 0:
            say(f"{self._name}: sweep {progress.sweep}, objective {progress.objective:.6g}")


class RichDisplay(Display):
    """A bar per step that fills with its sweeps, and a table with the best scores in bold."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bars
        from rich.table import Column

        self._console = Console()
        self._bars = Bars(
            TextColumn("{task.description}", style="bold"),
            BarColumn(bar_width=28 if self._console.width >= WIDE else 4),
            TimeElapsedColumn(),
            # The rest of the line; a narrow terminal truncates only this.
            TextColumn("{task.fields[status]}", style="dim", table_column=Column(ratio=1, no_wrap=True)),
            console=self._console,
            expand=True,
        )
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> RichDisplay:
        self._bars.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._bars.stop()

    def say(self, text: str) -> None:
        """Print a line above the bars, verbatim."""
        self._console.print(fold(text), markup=False, highlight=False, soft_wrap=True)

    def begin(self, name: str) -> Callback:
        """A bar that moves to and fro until the number of sweeps is known."""
        task = self._tasks[name] = self._bars.add_task(name, total=None, status="")
        return _Bar(self._bars, task)

    def end(self, name: str, ending: str) -> None:
        """A full bar."""
        task = self._tasks[name]
        self._bars.update(task, total=1, completed=1, status=ending)
        self._bars.stop_task(task)

    def table(self, outcomes: Sequence[Outcome]) -> None:
        """A table with rules."""
        from rich.box import SIMPLE_HEAD
        from rich.table import Table

        table = Table(box=SIMPLE_HEAD, header_style="bold")
        for j, name in enumerate(header(outcomes)):
            table.add_column(name, justify="left" if j == 0 else "right", no_wrap=True)
        for line in table_cells(outcomes):
            table.add_row(line[0].text, *(f"[bold green]{c.marked}[/]" if c.best else c.marked for c in line[1:]))
        self._console.print(table)


class _Bar(Callback):
    def __init__(self, bars: Any, task: TaskID):
        self._bars = bars
        self._task = task

    def on_sweep(self, progress: Progress) -> None:
        self._bars.update(
            self._task,
            total=progress.max_iter,
            completed=progress.sweep,
            status=f"sweep {progress.sweep}, objective {progress.objective:.6g}",
        )


def choose_display() -> Display:
    """Bars if standard output is a terminal that can move its cursor and rich is installed, plain lines otherwise."""
    if not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":
        return PlainDisplay()
    try:
        return RichDisplay()
    except ImportError:
        return PlainDisplay()

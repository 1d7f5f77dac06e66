"""A progress bar, in terminals and notebooks."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from .base import Callback, Fit, Progress


class ProgressBar(Callback):
    """Show how far a fit is in one line, which changes as it goes on. Needs rich (``pip install 'partwise[cli]'``).

    While open parameters are being chosen, it shows the value tried last. ``verbose=1`` shows one wherever it can be
    shown.

    Parameters
    ----------
    console : rich.console.Console, optional
        Where to show it; by default the standard output.
    """

    def __init__(self, console: Any = None):
        self._console = console
        self._bar: Any = None
        self._task: Any = None

    def setup(self, fit: Fit) -> None:
        """Show the bar, unless another one is already shown."""
        from rich.errors import LiveError
        from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        texts = [TextColumn(f"{{task.{what}}}", markup=False) for what in ("description", "fields[detail]")]
        # Short enough that the line fits into the cell of a notebook, and into a terminal of 80 columns.
        bar = Bar(SpinnerColumn(), texts[0], BarColumn(16), texts[1], TimeElapsedColumn(), console=self._console)
        try:
            bar.start()
        except LiveError:
            return
        self._bar = bar
        self._task = bar.add_task(type(fit.estimator).__name__, total=None, detail="preparing")

    def on_trial(self, parameter: str, value: float, worth: Mapping[str, float]) -> None:
        """Name the value."""
        self._show(detail=f"choosing {parameter}: tried {value:g}")

    def on_sweep(self, progress: Progress) -> None:
        """A step further."""
        start = f"start {progress.start}, " if progress.start else ""
        detail = f"{start}sweep {progress.sweep}, objective {progress.objective:.6g}"
        self._show(total=progress.max_iter, completed=progress.sweep, detail=detail)

    def on_end(self) -> None:
        """A fit that has converged is complete."""
        if self._bar is not None:
            self._show(total=self._bar.tasks[self._task].completed)

    def teardown(self) -> None:
        """Leave the line as it is."""
        if self._bar is not None:
            self._bar.refresh()  # in notebooks, stopping does not draw the last state
            self._bar.stop()
            self._bar = None

    def _show(self, **changes: Any) -> None:
        if self._bar is not None:
            self._bar.update(self._task, **changes)


def can_show_bar() -> bool:
    """Whether the standard output is a terminal or a notebook, and what draws the bar is installed."""
    if find_spec("rich") is None:
        return False
    from rich.console import Console

    console = Console()
    return console.is_terminal if not console.is_jupyter else find_spec("ipywidgets") is not None

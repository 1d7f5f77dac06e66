"""The progress bar."""

import io

import numpy as np
from rich.console import Console
from rich.progress import Progress

from partwise import NMF, GraphNMF
from partwise.callbacks import PrintProgress, ProgressBar, TimeBudget, as_callbacks, bar

X = np.random.RandomState(0).uniform(size=(40, 8))


def terminal():
    return Console(file=io.StringIO(), force_terminal=True, width=140, legacy_windows=False)


def test_bar_shows_the_choice_and_the_sweeps():
    console = terminal()
    shown = ProgressBar(console)
    seen = []
    shown._show = lambda show=shown._show, **changes: (seen.append(changes.get("detail", "")), show(**changes))
    GraphNMF(3, graph_strength=[0.1, 1.0], max_iter=4, tol=0, callbacks=shown, random_state=0).fit(X)
    assert seen[:2] == ["choosing graph_strength: tried 0.1", "choosing graph_strength: tried 1"]
    assert [text.split(",")[0] for text in seen[2:6]] == ["sweep 1", "sweep 2", "sweep 3", "sweep 4"]
    text = console.file.getvalue()
    assert "GraphNMF" in text
    assert "sweep 4, objective" in text


def test_bar_ends_however_the_fit_ends_and_can_be_used_again():
    console = terminal()
    shown = ProgressBar(console)
    for _ in range(2):
        NMF(2, callbacks=[shown, TimeBudget(1e-9)], random_state=0).fit(X)
        assert shown._bar is None


def test_last_state_is_shown_where_stopping_does_not_draw_it(monkeypatch):
    drawn = []
    monkeypatch.setattr(Progress, "refresh", lambda self: drawn.append(self.tasks and self.tasks[0].finished))
    NMF(2, max_iter=2, tol=0, callbacks=ProgressBar(terminal()), random_state=0).fit(X)
    assert drawn[-1]


def test_line_fits_into_80_columns():
    console = Console(file=io.StringIO(), force_terminal=True, width=80, legacy_windows=False)
    GraphNMF(3, graph_strength=[0.1, 1.0], max_iter=4, tol=0, callbacks=ProgressBar(console), random_state=0).fit(X)
    last = next(line for line in reversed(console.file.getvalue().splitlines()) if "GraphNMF" in line)
    assert "sweep 4, objective" in last
    assert "0:00:0" in last


def test_a_second_bar_does_not_disturb_the_first():
    console = terminal()
    with Progress(console=console):
        NMF(2, max_iter=2, tol=0, callbacks=ProgressBar(console), random_state=0).fit(X)


def test_verbose_is_a_bar_where_it_can_be_shown(monkeypatch):
    assert isinstance(as_callbacks(None, 1)[-1], PrintProgress)  # neither a terminal nor a notebook
    monkeypatch.setattr("rich.console.Console.is_terminal", True)
    assert isinstance(as_callbacks(None, 1)[-1], ProgressBar)
    assert isinstance(as_callbacks(None, 2)[-1], PrintProgress)
    monkeypatch.setattr(bar, "find_spec", lambda name: None)
    assert isinstance(as_callbacks(None, 1)[-1], PrintProgress)

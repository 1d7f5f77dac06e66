"""``partwise reproduce``: a paper's tables, as printed and as measured."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from ..experiments import (
    Journal,
    JournalDamaged,
    JournalInUse,
    UnknownPaper,
    compare,
    load_protocol,
    paper_names,
    reproduce,
    write_cells,
)
from ..experiments.example import example
from ..experiments.plan import Plan
from ..experiments.sensitivity import sensitivities
from ..experiments.tables import LEGEND, counts_line, plain_line, plain_tables
from ..files.writing import WriteError
from ..report import reproduction_page
from .arguments import CommandError, check_output, whole_number, write_whole
from .lines import say, terminal_width

IF_INTERRUPTED = "finished runs are kept and the same command continues"
DESCRIPTION = """\
Repeat the experiments of a paper and print its tables with the printed number,
the measured mean and deviation, and a verdict for every cell: equal (within 3
points, or two standard errors of the difference but at most 5 points), better,
short, or too few runs to say.

Every finished run is kept in RESULTS/runs/PAPER.csv, and in the end compressed
in PAPER.csv.gz. An interrupted reproduction continues where it stopped; nothing
is computed twice. The tables are written to RESULTS/PAPER.csv, and with charts
to RESULTS/PAPER.html, a page that also shows what was learned from one of the
draws. For a single table or method a page is written only if --output names it.
"""
QUICK_REPEATS = 2
SECONDS_BETWEEN_LINES = 20.0
SECONDS_BETWEEN_BARS = 0.2
BAR_WIDTH = 30


def add(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("paper", metavar="PAPER", help=f"one of: {', '.join(paper_names())}")
    parser.add_argument("--table", metavar="T", help="only this table, by its number in the paper")
    parser.add_argument("--method", metavar="M", help="only this method, by its name in the tables, or partwise")
    parser.add_argument("--show", action="store_true", help="run nothing, show what has been measured")
    parser.add_argument("--output", metavar="PAGE", type=Path, help="where to write the page (.html)")
    parser.add_argument("--quick", action="store_true", help=f"only {QUICK_REPEATS} repeats of everything")
    parser.add_argument(
        "--repeats", metavar="N", type=whole_number(1), help="at most this many repeats (default: as in the paper)"
    )
    parser.add_argument(
        "--draws-from",
        metavar="N",
        type=whole_number(0),
        default=0,
        help="number the draws from N on, for classes and starts that no other run has seen; the results get files of "
        "their own, PAPER-from-N",
    )
    parser.add_argument(
        "--one-in",
        metavar="N",
        type=whole_number(1),
        default=1,
        help="only about one in N of the cells, always the same ones; with --draws-from a check of the others' runs",
    )
    parser.add_argument(
        "--jobs", metavar="N", type=whole_number(1), default=1, help="processes to use (default: %(default)s)"
    )
    parser.add_argument(
        "--results", metavar="RESULTS", type=Path, default=Path("results"), help="folder of results (default: results)"
    )


def run(options: argparse.Namespace) -> None:
    """Run what is missing, print the tables, and write them.

    Parameters
    ----------
    options : argparse.Namespace
        paper, table, method, show, output, quick, repeats, draws_from, one_in, jobs, results.
    """
    repeats = QUICK_REPEATS if options.quick else options.repeats
    try:
        protocol = load_protocol(options.paper)
        plan = Plan(protocol, options.table, options.method, repeats, options.draws_from, options.one_in)
    except UnknownPaper as error:
        raise CommandError(f"{error}.") from None
    name = options.paper.lower() + (f"-from-{options.draws_from}" if options.draws_from else "")
    whole = options.table is None and options.method is None and options.one_in == 1
    runs, table = options.results / "runs" / f"{name}.csv", options.results / f"{name}.csv"
    output = options.output or (options.results / f"{name}.html" if whole else None)
    _check_outputs([*([] if options.show else [runs]), *([table] if whole else [])], output)
    try:
        journal = Journal(runs)
        if not options.show:
            for reason in plan.absent.values():
                say(reason)
            reproduce(plan, journal, options.jobs, _Lines())
        cells = compare(plan, journal)
        if whole:
            write_cells(table, cells)
    except (JournalInUse, JournalDamaged) as error:
        raise CommandError(f"{error}.") from None
    except WriteError as error:
        raise CommandError(str(error)) from None
    except OSError as error:
        raise CommandError(f"{error.filename} cannot be written: {error.strerror}.") from None
    print("\n".join(plain_tables(cells, terminal_width())))
    say(LEGEND, counts_line(cells), plain_line(cells))
    if repeats is not None and repeats < plan.protocol.repeats:
        say(f"with {repeats} repeats, where the paper has {plan.protocol.repeats}")
    if output is not None:
        shown = None if options.show else example(plan, journal)
        settings = _settings(options, plan)
        text = reproduction_page(plan.protocol, cells, sensitivities(plan, journal), settings, shown)
        write_whole(output, text.encode("utf-8"))
        say(f"page written to {output}")


def _check_outputs(tables: Sequence[Path], page: Path | None) -> None:
    """Check before any run that all outputs can be written."""
    if page is not None and page.suffix.lower() != ".html":
        raise CommandError(f"{page} does not end in .html.")
    for path in tables:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CommandError(f"{path} cannot be written: {error.strerror}.") from None
        check_output(path)
    if page is not None:
        check_output(page)


def _settings(options: argparse.Namespace, plan: Plan) -> dict[str, str]:
    return {
        "paper": plan.protocol.paper,
        "table": options.table or "all",
        "method": options.method or "all",
        "repeats": f"at most {plan.repeats or plan.protocol.repeats}, in the paper {plan.protocol.repeats}",
        "repeats for grids": str(plan.protocol.grid_repeats),
        "first draw": str(plan.first_draw),
    }


class _Lines:
    """Progress and time left, on standard error: a bar on a terminal, otherwise lines."""

    def __init__(self) -> None:
        self._next = 0.0
        self._bar = sys.stderr.isatty()

    def __call__(self, done: int, total: int, seconds_left: float | None) -> None:
        now = time.monotonic()
        if now < self._next and done < total:
            return
        self._next = now + (SECONDS_BETWEEN_BARS if self._bar else SECONDS_BETWEEN_LINES)
        text = f"{done} of {total} runs"
        if seconds_left is not None:
            text += f", about {_duration(seconds_left)} left"
        if self._bar:
            full = BAR_WIDTH * done // total
            end = "\n" if done == total else ""
            print(f"\r\x1b[K[{'#' * full}{'.' * (BAR_WIDTH - full)}] {text}", end=end, file=sys.stderr, flush=True)
        else:
            print(text, file=sys.stderr, flush=True)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"

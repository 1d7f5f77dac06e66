"""Write docs/quality.md, how much of the code the tests cover, from the last measurements.

    python -m docs.quality              the page from docs/measured
    python -m docs.quality --coverage   first read what `coverage` has just measured

`make coverage`, `make kills`, `make fuzz`, `make mutation` and `make test-cpus` call it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

PAGE = Path(__file__).with_name("quality.md")
MEASURED = Path(__file__).with_name("measured")

HEAD = """\
# What the tests cover

Written by `python -m docs.quality` from the last measurements; do not edit. What partwise does with hard cases is on
[another page](reliability.md).

## Lines

`make coverage`: the small tests of kernels, graphs, terms and missing entries run with `NUMBA_DISABLE_JIT=1`, so that
the lines of compiled kernels count, and all others run as usual; processes started by tests count too. The table of
hard cases, scikit-learn's checks and a few others are left out: they take long and are not needed here.

"""

MUTATION = """\

## Mistakes

`make mutation`: [mutmut](https://mutmut.readthedocs.io) changes one thing at a time (a sign, a bound, an argument) in
terms, solvers and metrics, and runs those tests of these rooms, of some estimators and of the oracles that reach the
changed function. Running all changes would take days; this is a random sample of {sample} per room (seed {seed}). The
words of messages are not changed, nor are functions with decorators and compiled kernels, which mutmut skips. The score
is the share of changes that the tests detected in that run.

"""

KILLS = """\

## Kills

`make kills`: a fit is killed with SIGKILL at up to three random moments, resumed from its checkpoint each time, and
compared bit for bit with an uninterrupted fit. {trials} trials, at least one of every estimator; {kills} kills,
{under_way} of them after a checkpoint had been written; {differ} differ.
"""

FUZZ = """\

## Damaged input

`make fuzz`: the readers of files, models, checkpoints and graphs are given damaged and hostile ones. The result is data
or an error message of one sentence, never a crash.

"""

KERNELS = """\

## Other processors

`make test-cpus`: all tests with OpenBLAS's kernels for other processors (`OPENBLAS_CORETYPE`), and once with the
package's own kernels compiled for a generic processor (`NUMBA_CPU_NAME=generic`).

"""


def page() -> str:
    """The page as text."""
    parts = HEAD, _lines(_read("coverage")), KERNELS, _kernels(_read("cpus")), KILLS.format(**_read("kills"))
    return "".join((*parts, FUZZ, _executions(_read("fuzz")))) + _mistakes(_read("mutation"))


def _lines(coverage: dict[str, Any]) -> str:
    lines = [_row("room", "lines", "not run", "covered"), _rule(4)]
    for room, (count, missed) in sorted(coverage["rooms"].items()):
        lines.append(_row(room, count, missed, _percent(count - missed, count)))
    count, missed = (sum(numbers) for numbers in zip(*coverage["rooms"].values(), strict=True))
    lines.append(_row("**all**", count, missed, f"**{_percent(count - missed, count)}**"))
    return "\n".join(lines) + "\n"


def _kernels(results: dict[str, Any]) -> str:
    lines = [_row("kernels", "passed", "failed", "skipped"), _rule(4)]
    for name, result in results.items():
        numbers = ["–"] * 3 if "reason" in result else [f"{result[key]:,}" for key in ("passed", "failed", "skipped")]
        lines.append(_row(f"{name}: {result['reason']}" if "reason" in result else name, *numbers))
    return "\n".join(lines) + "\n"


def _executions(counts: dict[str, int]) -> str:
    rows = [_row(name, f"{count:,}") for name, count in {**counts, "**all**": sum(counts.values())}.items()]
    return "\n".join([_row("target", "executions"), _rule(2), *rows]) + "\n"


def _mistakes(mutation: dict[str, Any]) -> str:
    lines = [_row("room", "changes possible", "tried", "noticed", "score"), _rule(5)]
    total = [0, 0, 0]
    for room, counts in mutation["rooms"].items():
        killed, survived = counts.get("killed", 0), counts.get("survived", 0)
        lines.append(_row(room, counts["mutants"], killed + survived, killed, _percent(killed, killed + survived)))
        total = [have + more for have, more in zip(total, (counts["mutants"], killed + survived, killed), strict=True)]
    lines.append(_row("**all**", *total, f"**{_percent(total[2], total[1])}**"))
    return MUTATION.format(**mutation) + "\n".join(lines) + "\n" + _survivors(mutation)


def _survivors(mutation: dict[str, Any]) -> str:
    reasons = _read("survivors")
    lines = [
        "",
        "Changes that no test of the run detected, each examined:",
        "",
        _row("function", "was", "became", "what it is"),
    ]
    lines.append("|:--" * 4 + "|")
    for counts in mutation["rooms"].values():
        for name, change in counts["survivors"].items():
            half = len(change) // 2
            was, became = (" ⏎ ".join(f"`{line}`" for line in part) for part in (change[:half], change[half:]))
            function = (
                name.removeprefix("partwise.")
                .rpartition("__mutmut_")[0]
                .replace(".xǁ", ".")
                .replace("ǁ", ".")
                .replace(".x_", ".")
            )
            lines.append(
                _row(
                    f"`{function}`",
                    *(text.replace("|", "\\|") for text in (was, became)),
                    reasons.get(name, "not looked at yet"),
                )
            )
    return "\n".join(lines) + "\n"


def _read(name: str) -> dict[str, Any]:
    return dict(json.loads((MEASURED / f"{name}.json").read_text(encoding="utf-8")))


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %"


def _row(*cells: Any) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def _rule(width: int) -> str:
    return "|:--" + "|--:" * (width - 1) + "|"


def take_over_coverage() -> None:
    """Lines, and lines that were not run, of every room."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "coverage.json"
        subprocess.run([sys.executable, "-m", "coverage", "json", "--quiet", "-o", path], check=True)
        files = json.loads(path.read_text(encoding="utf-8"))["files"]
    rooms: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for name, file in files.items():
        parts = Path(name).parts
        inside = parts[parts.index("partwise") + 1 :]
        room = rooms[f"`{inside[0]}`" if len(inside) > 1 else "modules of their own"]
        room[0] += file["summary"]["num_statements"]
        room[1] += file["summary"]["missing_lines"]
    (MEASURED / "coverage.json").write_text(json.dumps({"rooms": rooms}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if "--coverage" in sys.argv[1:]:
        take_over_coverage()
    PAGE.write_text(page(), encoding="utf-8")

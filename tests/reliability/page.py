"""docs/reliability.md: what was tried, by group and estimator, with what outcome."""

from collections import Counter
from pathlib import Path

from case import NO_ESTIMATOR, SUBJECTS, Refused
from catalogue import CASES

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
GROUPS = {
    "A": "Values",
    "B": "Types",
    "C": "Shapes and parameters",
    "D": "Sparse structure",
    "E": "Labels",
    "F": "Repetition",
    "G": "Interruption, resuming, limits",
    "I": "Files and security",
}
INTRODUCTION = """# What partwise survives

Written by `python -m docs.reliability`, which runs `tests/reliability`. Every case is tried on every estimator to which
it can apply; every estimator that the package exports is on the list. A model called finite has finite factors,
non-negative codes where the method requires them, labels without gaps, and was fitted without a numerical warning; the
data are unchanged. Errors come before any work. Broken sparse matrices also run in a separate process
(`test_hostile.py`), which must survive.

Not in these tables, because they have their own tests: kill and resume at random moments (`tests/callbacks`), more
files of data (`tests/files`), damaged files at random (`make fuzz`), the memory that sparse data take
(`tests/estimators/test_memory.py`), the number of threads (`tests/core/test_threads.py`), and properties for random
data (`tests/reliability/test_properties.py`).

## Data of any size

X whose products do not fit into its floating-point type is fitted as X / 2^e and the result is scaled back, for values
of 1e±300 as of 1e±30 in float32. A power of two changes no digit: codes, components and labels are those of the data
divided by 2^e, bit for bit (`test_units.py`).

- Codes carry the size of the data, or the components where codes have unit norm. Where codes would not fit, they share
  it with the components, with a warning. An objective beyond float64 (the square of 1e200) stays that of
  X / 2^e, with a warning.
- Parameters with the unit of X, or of a power of it, keep their meaning: strengths of penalties next to a fit that
  grows differently, bandwidths, `cauchy_scale`, `dispersion`, `outlier_strength`, `ridge` with a linear kernel. If
  such a number cannot be expressed in the other unit, the fit is refused with a sentence. So are functions of X
  (`graph`, `kernel`, `weights`), terms of `Factorization` other than fits, and `LocalNMF`, whose objective depends on
  the unit of X.
- New samples must be about as large as those of the fit.
"""


def text(outcomes):
    """The page; `outcomes` counts, for every pair of a case and an estimator, what happened."""
    tried = Counter((case.group, name) for case in CASES for name in case.subjects())
    total = sum(tried.values())
    lines = [INTRODUCTION, "## Outcome", ""]
    lines.append(
        f"{len(CASES)} cases × the estimators they apply to = {total} trials: "
        f"{outcomes['passed']} as expected, {outcomes['failed']} not."
    )
    header = [f"{group}. {title}" for group, title in GROUPS.items()]
    lines += ["", *_row("estimator", *header), *_rule(len(header) + 1)]
    for name in (*SUBJECTS, NO_ESTIMATOR):
        lines += _row(name, *(tried[group, name] for group in GROUPS))
    lines += _row("cases", *(sum(case.group == group for case in CASES) for group in GROUPS))
    for group, title in GROUPS.items():
        lines += ["", f"## {group}. {title}", "", *_row("case", "expected", "estimators"), *_rule(3)]
        for case in CASES:
            if case.group == group:
                what = f"refused: {case.expected}" if isinstance(case.expected, Refused) else str(case.expected)
                lines += _row(case.name, what, "–" if case.alone else len(case.subjects()))
    return "\n".join(lines) + "\n"


def _row(*cells):
    return ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"]


def _rule(width):
    return ["|" + "---|" * width]

"""Write the tables and the picture of docs/selection.md from the rows of the studies in benchmarks/results.

    python -m docs.selection

The text around the tables is written by hand; how the rows are made, say `benchmarks/selection_study.py` and
`benchmarks/selection_rules.py`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

STUDIES = Path(__file__).parents[1] / "benchmarks"

if __name__ == "__main__":
    for study in ("selection_rules.py", "selection_study.py"):
        subprocess.run([sys.executable, STUDIES / study, "--report"], check=True)

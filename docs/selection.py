"""Write the tables and the picture of docs/selection.md from the rows in studies/results.

    python -m docs.selection

The text around the tables is written by hand; `studies/selection.py` and `studies/selection_rules.py` make the rows.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

if __name__ == "__main__":
    for study in ("selection_rules", "selection"):
        subprocess.run([sys.executable, "-m", f"studies.{study}", "--report"], cwd=ROOT, check=True)

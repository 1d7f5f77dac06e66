"""Write the tables and the picture of docs/duplicates.md.

    python -m docs.duplicates            all of them
    python -m docs.duplicates halves     one of picture, halves, shares, rules

The text around them is written by hand. `studies/duplicates.py` makes the fits; those of `shares` and `rules` need
the data sets in the folder that PARTWISE_DATA names, and take long.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

if __name__ == "__main__":
    subprocess.run([sys.executable, "-m", "studies.duplicates", *sys.argv[1:]], cwd=ROOT, check=True)

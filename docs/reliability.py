"""Write docs/reliability.md: every hard case on every estimator, and its result.

    python -m docs.reliability

runs `tests/reliability`, in as many processes as there are processors, and takes minutes.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

if __name__ == "__main__":
    pytest = [sys.executable, "-m", "pytest", "tests/reliability", "--numprocesses", "auto", "--page"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    sys.exit(subprocess.run(pytest, cwd=Path(__file__).parents[1], env=environment).returncode)

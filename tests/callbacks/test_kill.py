"""SIGKILL at random moments, in separate processes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("kill_trials.py")

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that can be forked")


def run(*arguments):
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    ended = subprocess.run(
        [sys.executable, SCRIPT, *arguments], capture_output=True, text=True, env=environment, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout.splitlines()[-1]


def test_two_trials():
    assert run("--trials", "2", "--sweeps", "40", "--seed", "3").endswith("; 0 differ")

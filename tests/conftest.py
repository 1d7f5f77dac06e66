"""What all tests have: the same random numbers in every run, and the papers' data where they are.

The data are in the folder that PARTWISE_DATA names, or in ../shared/data beside the checkout.
"""

import os
import signal
from pathlib import Path

import numpy as np
import pytest

BESIDE_THE_CHECKOUT = Path(__file__).resolve().parents[2] / "shared" / "data"
if "PARTWISE_DATA" not in os.environ and BESIDE_THE_CHECKOUT.is_dir():
    os.environ["PARTWISE_DATA"] = str(BESIDE_THE_CHECKOUT)

# A shell starts jobs in the background deaf to Ctrl-C, and they pass this on; tests that interrupt a fit need it heard.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def same_random_numbers():
    """Fits without a random_state draw from numpy's global numbers; a test that fails must fail in every run."""
    np.random.seed(0)  # noqa: NPY002


@pytest.fixture
def no_data(monkeypatch, tmp_path):
    """A computer without any data set: no folder is named, and the cache is empty."""
    monkeypatch.delenv("PARTWISE_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

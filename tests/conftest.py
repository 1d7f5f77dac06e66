"""Where tests find the papers' data.

They are in the folder that PARTWISE_DATA names, or in ../shared/data beside the checkout.
"""

import os
import signal
from pathlib import Path

import pytest

BESIDE_THE_CHECKOUT = Path(__file__).resolve().parents[2] / "shared" / "data"
if "PARTWISE_DATA" not in os.environ and BESIDE_THE_CHECKOUT.is_dir():
    os.environ["PARTWISE_DATA"] = str(BESIDE_THE_CHECKOUT)

# A shell starts jobs in the background deaf to Ctrl-C, and they pass this on; tests that interrupt a fit need it heard.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def no_data(monkeypatch, tmp_path):
    """A computer without any data set: no folder is named, and the cache is empty."""
    monkeypatch.delenv("PARTWISE_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

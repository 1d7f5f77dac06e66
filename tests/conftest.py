"""Where tests find the papers' data: in the folder PARTWISE_DATA names, or in ../shared/data beside the checkout."""

import os
from pathlib import Path

import pytest

BESIDE_THE_CHECKOUT = Path(__file__).resolve().parents[2] / "shared" / "data"
if "PARTWISE_DATA" not in os.environ and BESIDE_THE_CHECKOUT.is_dir():
    os.environ["PARTWISE_DATA"] = str(BESIDE_THE_CHECKOUT)


@pytest.fixture
def no_data(monkeypatch, tmp_path):
    """A computer without any data set: no folder is named, and the cache is empty."""
    monkeypatch.delenv("PARTWISE_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

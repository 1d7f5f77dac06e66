"""The versions that `make test-oldest` installs are the lower bounds of pyproject.toml."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_the_oldest_versions_are_the_lower_bounds():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    needed = [
        *project["dependencies"],
        *(line for name in ("cli", "dask", "data", "disk", "test") for line in extras[name]),
    ]
    bounds = dict(re.sub(r"\[.*\]", "", entry).split(">=") for entry in needed if not entry.startswith("partwise"))
    pinned = dict(re.findall(r"^([\w-]+)==([\d.]+)$", (ROOT / "tests" / "oldest.txt").read_text("utf-8"), re.M))
    # What these need in turn has no bound here, but may be too new for them.
    assert pinned.keys() - bounds.keys() == {"numcodecs", "pyparsing"}
    assert bounds.keys() <= pinned.keys()
    for name, bound in bounds.items():
        # The first release of a series: 1.6 is 1.6.0.
        assert re.fullmatch(rf"{re.escape(bound)}(\.0)*", pinned[name]), name

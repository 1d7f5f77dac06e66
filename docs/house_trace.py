"""How far one has to move through the source to follow a fit: what runs in which file and room.

    PYTHONPATH=SOURCE python docs/house_trace.py

prints, as JSON, for each of four pieces of work the files that ran and how often the work changed rooms. It is a script
and not a module of `docs`, so that it imports the package only from SOURCE.

- The data are scikit-learn's digits; a fit has `random_state=0`, `tol=0` and 10 sweeps. One sweep is what a fit of 3
  sweeps does beyond a fit of 2.
- A file is visited when one of its functions is called in the main thread. Every fit is run twice and the second is
  counted, so that imports and compilation do not count.
- A room is a folder or a module directly in the package. At every call and return the work is in the room of the
  innermost running function of the package; other libraries and compiled kernels count as part of their caller. A room
  change is a call or return after which that room is another one.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from sklearn.datasets import load_digits

import partwise
from partwise import GraphNMF, LocalSimilarityNMF

PACKAGE = Path(partwise.__file__).parent


class Route:
    """Counts calls per file and changes of room while it is the profile function."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.changes = 0
        self._rooms: list[str] = []

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        """Record a call or return of the package."""
        path = frame.f_code.co_filename
        if event not in ("call", "return") or not path.startswith(f"{PACKAGE}/"):
            return
        before = self._rooms[-1:]
        if event == "call":
            file = path.removeprefix(f"{PACKAGE}/")
            self.calls[file] += 1
            self._rooms.append(file.removesuffix(".py").partition("/")[0])
        elif self._rooms:
            self._rooms.pop()
        after = self._rooms[-1:]
        self.changes += bool(before and after and before != after)


def trace(work: Callable[[], Any]) -> Route:
    """Do the work twice, and count the second time."""
    work()
    counted = Route()
    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(None)
    return counted


def main() -> dict[str, dict[str, int]]:
    """Files and room changes of each piece of work."""
    X = load_digits().data

    def graph(strength: float | str, sweeps: int) -> Callable[[], Any]:
        return lambda: GraphNMF(10, graph_strength=strength, max_iter=sweeps, tol=0, random_state=0).fit(X)

    two, three = trace(graph(10.0, 2)), trace(graph(10.0, 3))
    numbers = {
        "one sweep of GraphNMF(10, graph_strength=10)": {
            "files": len(three.calls - two.calls),
            "room changes": three.changes - two.changes,
        }
    }
    for name, work in {
        "GraphNMF(10, graph_strength=10).fit(X)": graph(10.0, 10),
        'GraphNMF(10, graph_strength="auto").fit(X)': graph("auto", 10),
        "LocalSimilarityNMF(10).fit(X)": lambda: LocalSimilarityNMF(10, max_iter=10, tol=0, random_state=0).fit(X),
    }.items():
        counted = trace(work)
        numbers[name] = {"files": len(counted.calls), "room changes": counted.changes}
    return numbers


if __name__ == "__main__":
    print(json.dumps(main()))

"""Fuzz every target for some time and print how often each was tried: ``python tests/fuzz --seconds 20``."""

import argparse
import faulthandler
import itertools
import json
import sys
import time
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

sys.path.insert(0, str(Path(__file__).parent))
from targets import EXECUTIONS, TARGETS

BATCH = 250
MEASURED = Path(__file__).parents[2] / "docs" / "measured" / "fuzz.json"


def fuzz(name, seconds, first):
    """Try a target for a while, every batch with another seed."""
    target, inputs = TARGETS[name]
    deadline = time.perf_counter() + seconds
    for number in itertools.count(first):

        @seed(number)
        @settings(
            max_examples=BATCH,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            phases=(Phase.generate, Phase.shrink),
        )
        @given(inputs)
        def run(case):
            target(case)

        run()
        if time.perf_counter() >= deadline:
            return


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0, help="for every target (default: %(default)g)")
    parser.add_argument("--seed", type=int, default=0, help="of the first batch (default: %(default)s)")
    parser.add_argument("--target", choices=list(TARGETS), help="only this one")
    parser.add_argument("--record", action="store_true", help=f"write the counts to docs/measured/{MEASURED.name}")
    options = parser.parse_args()
    faulthandler.enable()
    counts = {}
    for name in [options.target] if options.target else TARGETS:
        before = EXECUTIONS.total()
        fuzz(name, options.seconds, options.seed)
        counts[name] = EXECUTIONS.total() - before
        print(f"{name:24s} {counts[name]:8d} executions, no failure", flush=True)
    print(f"{'all':24s} {EXECUTIONS.total():8d} executions, no failure")
    if options.record:
        MEASURED.write_text(json.dumps(counts, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""Do the tests notice when the code is wrong? ``python tests/mutation --sample 60`` asks mutmut.

mutmut changes one thing at a time (a sign, a bound, an argument, a word) in the rooms that `[tool.mutmut]` of
pyproject.toml names, and runs the tests that reach the changed function. To run them all would take days:
here it is a random sample of each room, the same for a seed. A change that no test notices has survived. The
counts and the survivors go to docs/measured/mutation.json and to docs/quality.md; what each is, is said in
docs/measured/survivors.json.
"""

import argparse
import json
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
MEASURED = ROOT / "docs" / "measured" / "mutation.json"
MUTMUT = Path(sys.executable).with_name("mutmut")
ROOMS = ("terms", "solvers", "metrics")
# Exit codes of pytest and of mutmut's worker: a failure, a crash or running out of time is noticed, a pass is not.
SURVIVED, NO_TESTS, NOT_RUN = 0, 33, None


def mutmut(*arguments):
    paths = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    return subprocess.run([MUTMUT, "run", *arguments], cwd=ROOT, check=False, env={**os.environ, "PYTHONPATH": paths})


def mutants(room):
    """Name of every change in a room, with the exit code of its tests if they were run."""
    found = {}
    for path in sorted((ROOT / "mutants" / "src" / "partwise" / room).glob("*.meta")):
        found |= json.loads(path.read_text(encoding="utf-8"))["exit_code_by_key"]
    return dict(sorted(found.items()))


def summary(room, sample):
    """How many were run, and which survived; changes in functions that no test reaches count as survivors."""
    codes = mutants(room)
    outcomes = Counter()
    for name in sample:
        code = codes[name]
        outcomes["survived" if code in (SURVIVED, NO_TESTS) else "not run" if code is NOT_RUN else "killed"] += 1
    survivors = {name: change(name) for name in sample if codes[name] in (SURVIVED, NO_TESTS)}
    return {"mutants": len(codes), **outcomes, "survivors": survivors}


def change(name):
    """The line as it was and as it was changed."""
    shown = subprocess.run([MUTMUT, "show", name], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    lines = [line for line in shown.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    return [" ".join(line[1:].split()) for sign in "-+" for line in lines if line[0] == sign]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=60, help="changes of each room (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the sample (default: %(default)s)")
    parser.add_argument("--processes", type=int, default=2, help="at once (default: %(default)s)")
    options = parser.parse_args()
    # The changes are made, and the tests of each function found, before any is run: this name is of none.
    mutmut("none")
    samples = {}
    for room in ROOMS:
        names = list(mutants(room))
        if not names:
            raise SystemExit(f"mutmut made no changes of {room}; see what it says above.")
        samples[room] = sorted(random.Random(options.seed).sample(names, min(options.sample, len(names))))
    mutmut("--max-children", str(options.processes), *(name for names in samples.values() for name in names))
    rooms = {room: summary(room, names) for room, names in samples.items()}
    if any("not run" in counts for counts in rooms.values()):
        raise SystemExit("mutmut has not run all of the sample; see what it says above.")
    measured = {"sample": options.sample, "seed": options.seed, "rooms": rooms}
    MEASURED.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    for room, counts in rooms.items():
        print(f"{room}: {counts.get('killed', 0)} of {sum(map(counts.get, ('killed', 'survived'), (0, 0)))} noticed")
        for name, lines in counts["survivors"].items():
            print(f"    {name}", *lines, sep="\n        ")


if __name__ == "__main__":
    main()

"""Kill fits with SIGKILL at random moments, resume them, and compare with fits that were left alone.

    python tests/callbacks/kill_trials.py --trials 42 --seed 0

Every trial takes one of the estimators, kills its fit a few times, at moments drawn evenly over the time that it takes,
lets it end, and compares factors, labels and history bit for bit. Exits with 1 if any differs. `--record` writes the
counts to docs/measured/kills.json.
"""

import argparse
import json
import os
import signal
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from cases import CASES, assert_same, small
from cases import fit as fit_case

from partwise import load
from partwise.callbacks import Checkpoint

MOST_KILLS = 3
MEASURED = Path(__file__).parents[2] / "docs" / "measured" / "kills.json"


def fit(estimator, data, y, checkpoint=None):
    return fit_case(estimator, data, *([] if checkpoint is None else [checkpoint]), y=y).set_params(callbacks=None)


def in_child(action):
    """Start a process for an action; its id."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            action()
            code = 0
        finally:
            os._exit(code)
    return child


def trial(estimator, data, y, rng, folder):
    """How often it was killed, and how many of the kills found a fit under way; an AssertionError if it differs."""
    path, out = folder / "fit.npz", folder / "model.npz"
    every = int(rng.randint(1, 4))
    whole = fit(estimator, data, y)
    clock = time.perf_counter()
    fit(estimator, data, y, Checkpoint(folder / "other.npz", every))
    duration = time.perf_counter() - clock
    kills = under_way = 0
    while True:
        child = in_child(lambda: fit(estimator, data, y, Checkpoint(path, every)).save(out))
        if kills < MOST_KILLS:
            time.sleep(rng.uniform(0, duration))
            os.kill(child, signal.SIGKILL)
            kills += 1
            under_way += path.exists()
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            assert os.waitstatus_to_exitcode(status) == 0, "the resumed fit failed"
            break
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_same(load(out), whole)
    return kills, under_way


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--sweeps", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    rng = np.random.RandomState(options.seed)
    names = list(CASES)
    differing = kills = under_way = 0
    for number in range(options.trials):
        name = names[number % len(names)] if options.trials >= len(names) else names[rng.randint(len(names))]
        estimator, data = CASES[name]
        y = np.where(np.arange(data.shape[0]) % 5 == 0, np.arange(data.shape[0]) % 3, -1)
        estimator = small(estimator, tol=0, max_iter=options.sweeps)
        with tempfile.TemporaryDirectory() as folder:
            try:
                more, found = trial(estimator, data, y, rng, Path(folder))
                kills, under_way, outcome = kills + more, under_way + found, "equal"
            except AssertionError as error:
                differing, outcome = differing + 1, f"DIFFERENT: {error}"
        print(f"{number + 1:3d}  {name:36s} {outcome}", flush=True)
    print(f"{options.trials} trials, {kills} kills, {under_way} of them with a checkpoint written; {differing} differ")
    if options.record:
        counts = {"trials": options.trials, "kills": kills, "under_way": under_way, "differ": differing}
        MEASURED.write_text(json.dumps(counts, indent=1) + "\n", encoding="utf-8")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())

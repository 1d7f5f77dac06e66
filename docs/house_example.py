"""Whether an example of the ruler works with a source tree.

    PYTHONPATH=SOURCE python docs/house_example.py docs/house_examples/NAME/FILE.py

The file defines `model`, an estimator. A clone of it is fitted to some digits, of either sign for semi-NMF, with labels
for a sixth of them. It must give what it is an example of, and no sweep may raise the objective.
"""

from __future__ import annotations

import runpy
import sys

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits


def check(path: str) -> None:
    """Raise an error if the example is none."""
    X, y = (part[:300] for part in load_digits(return_X_y=True))
    semi, labels = "semi" in path, np.where(np.arange(300) < 50, y, -1)
    model = clone(runpy.run_path(path)["model"]).set_params(random_state=0)
    model.fit(X - X.mean() if semi else X, labels)
    objective = np.array(model.history_["objective"])
    assert np.diff(objective).max() <= 1e-10 * objective[0], "the objective rises"
    assert model.history_["graph"][-1] > 0
    assert (model.embedding_ >= 0).all()
    assert (model.components_ < 0).any() if semi else list(model.classes_) == list(range(10))


if __name__ == "__main__":
    check(sys.argv[1])

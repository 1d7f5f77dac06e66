"""One set of defaults does well on all data sets. Needs the data (PARTWISE_DATA, or ../shared/data)."""

import sys
from pathlib import Path

import numpy as np
import pytest

from partwise import GraphNMF
from partwise.metrics import clustering_accuracy, normalized_mutual_information

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from real_data import FOLDER, repeats

pytestmark = [
    pytest.mark.skipif(not FOLDER.is_dir(), reason="the papers' data sets are not here; set PARTWISE_DATA"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:The graph of the samples"),
]


@pytest.mark.parametrize(
    ("name", "accuracy", "nmi"),
    [("coil20", 0.76, 0.85), ("tdt2", 0.90, 0), ("semeion", 0.60, 0), ("orl32", 0.54, 0), ("mnist10k", 0.58, 0)],
)
def test_defaults(name, accuracy, nmi):
    scores = []
    for X, y, seed in repeats(name, range(5)):
        labels = GraphNMF(int(y.max()) + 1, random_state=seed).fit(X).labels_
        scores.append((clustering_accuracy(y, labels), normalized_mutual_information(y, labels)))
    found = np.mean(scores, axis=0)
    assert found[0] >= accuracy, found
    assert found[1] >= nmi, found

"""One set of defaults does well on all data sets. Needs the data (PARTWISE_DATA, or ../shared/data)."""

import numpy as np
import pytest

from partwise import GraphNMF
from partwise.metrics import clustering_accuracy, normalized_mutual_information
from studies.real_data import FOLDER, repeats

pytestmark = [
    pytest.mark.skipif(not FOLDER.is_dir(), reason="the papers' data sets are not here; set PARTWISE_DATA"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:The graph of the samples"),
    pytest.mark.filterwarnings("ignore::partwise.exceptions.DuplicateComponentsWarning"),
]


@pytest.mark.parametrize(
    ("name", "n_repeats", "accuracy", "nmi"),
    [
        ("coil20", 2, 0.76, 0.85),
        ("tdt2", 5, 0.90, 0),
        ("semeion", 2, 0.60, 0),
        ("orl32", 2, 0.52, 0),
        ("mnist10k", 2, 0.58, 0),
    ],
)
def test_a_fixed_strength(name, n_repeats, accuracy, nmi):
    scores = []
    for X, y, seed in repeats(name, range(n_repeats)):
        labels = GraphNMF(int(y.max()) + 1, graph_strength=10.0, random_state=seed).fit(X).labels_
        scores.append((clustering_accuracy(y, labels), normalized_mutual_information(y, labels)))
    found = np.mean(scores, axis=0)
    assert found[0] >= accuracy, found
    assert found[1] >= nmi, found


@pytest.mark.parametrize(("name", "accuracy"), [("semeion", 0.60), ("orl32", 0.56)])
def test_the_default(name, accuracy):
    """A strength that is chosen for the data."""
    [(X, y, seed)] = repeats(name, [0])
    assert clustering_accuracy(y, GraphNMF(int(y.max()) + 1, random_state=seed).fit(X).labels_) >= accuracy

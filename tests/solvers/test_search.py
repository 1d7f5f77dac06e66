"""Several starts: tried side by side or one after another, they give the same to the bit."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from partwise import NMF, GraphNMF
from partwise.core.held import HeldOperand
from partwise.core.operand import PARTS_BYTES

# Nothing here needs to converge, and some components of random data are alike.
pytestmark = [
    pytest.mark.filterwarnings("ignore::partwise.exceptions.DuplicateComponentsWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

RNG = np.random.RandomState(0)
# More than a block of rows, so that sums have several parts.
DENSE = RNG.gamma(0.6, size=(900, 6)) @ RNG.gamma(0.6, size=(6, 300)) + RNG.uniform(0, 0.1, size=(900, 300))
SPARSE = sp.csr_array(np.where(RNG.uniform(size=(3000, 200)) < 0.2, RNG.gamma(1.0, size=(3000, 200)), 0))
WEIGHT = RNG.uniform(size=3000)
SETTINGS = {"init": "random", "n_init": 4, "max_iter": 30, "tol": 1e-3, "random_state": 0}
CASES = {
    "dense": (NMF(), DENSE, None),
    "dense, single precision": (NMF(), DENSE.astype(np.float32), None),
    "dense, weighted, penalised": (NMF(l1_codes=0.1), DENSE, WEIGHT[:900]),
    "sparse, weighted": (NMF(), SPARSE, WEIGHT),
    "sparse, single precision": (NMF(), SPARSE.astype(np.float32), None),
    "counts": (NMF(loss="kullback-leibler"), SPARSE[:300], None),
    "missing": (NMF(missing="nan"), np.where(RNG.uniform(size=(300, 300)) < 0.1, np.nan, DENSE[:300]), None),
    "graph": (GraphNMF(graph_strength=1.0), SPARSE[:600], None),
}


def watch(progress):
    """A callback, which is told of one start after the other."""


@pytest.mark.parametrize("k", [3, 11])
@pytest.mark.parametrize("case", CASES)
def test_side_by_side_is_one_after_another_to_the_bit(case, k):
    model, X, weight = CASES[case]
    together, alone = (
        clone(model).set_params(n_components=k, callbacks=callbacks, **SETTINGS).fit(X, sample_weight=weight)
        for callbacks in (None, watch)
    )
    np.testing.assert_array_equal(together.components_, alone.components_)
    np.testing.assert_array_equal(together.embedding_, alone.embedding_)
    assert together.history_["objective"] == alone.history_["objective"]


@pytest.mark.parametrize("room", [PARTS_BYTES, 1])
def test_starts_share_the_passes_over_the_rows(monkeypatch, room):
    """The first is two sweeps ahead; partial sums of few fits at a time change nothing."""
    monkeypatch.setattr("partwise.core.held.PARTS_BYTES", room)
    passes, code = [], HeldOperand.code_alike

    def counted(self, asked):
        passes.append(len(asked))
        return code(self, asked)

    monkeypatch.setattr(HeldOperand, "code_alike", counted)
    model = NMF(3, **SETTINGS | {"tol": 0}).fit(DENSE)
    assert passes == [1, 1, 4, 3, 3, *[1] * 27]
    monkeypatch.undo()
    np.testing.assert_array_equal(model.components_, NMF(3, **SETTINGS | {"tol": 0}).fit(DENSE).components_)

"""Evidence for a number of components: hidden entries and agreement of runs."""

import numpy as np
import pytest
import scipy.sparse as sp

from partwise import NMF, Factorization, GraphNMF, LocalLearningNMF
from partwise.core.storage import as_operand
from partwise.selection import cross_validate_entries, rank_evidence
from partwise.selection.entries import hidden_loss, hide

RNG = np.random.RandomState(0)
PARTS = RNG.gamma(0.5, size=(60, 3)) @ RNG.gamma(0.5, size=(3, 40))
X = PARTS + RNG.uniform(0, 0.3, size=PARTS.shape)
SPARSE = sp.csr_array(np.where(RNG.uniform(size=X.shape) < 0.7, 0, X))


def test_hidden_entries_are_unseen_and_weighed_by_what_they_stand_for():
    weights, known = hide(as_operand(X), 0.2, np.random.RandomState(0))
    hidden = weights.toarray() > 0
    assert np.array_equal(np.isnan(known.array), hidden)
    assert np.array_equal(known.array[~hidden], X[~hidden])
    assert hidden.mean() == pytest.approx(0.2, abs=0.03)
    weights, known = hide(as_operand(SPARSE), 0.2, np.random.RandomState(0))
    hidden = weights.toarray() > 0
    dense = known.array.toarray()
    assert np.array_equal(np.isnan(dense), hidden)
    assert np.array_equal(dense[~hidden], SPARSE.toarray()[~hidden])
    empty = SPARSE.toarray() == 0
    assert weights.toarray()[empty].sum() == pytest.approx(0.2 * empty.sum())
    assert set(weights.toarray()[hidden & ~empty]) == {1.0}


@pytest.mark.parametrize(("loss", "divergence"), [
    ("frobenius", lambda x, y: (x - y) ** 2),
    ("kullback-leibler", lambda x, y: np.where(x > 0, x * np.log(np.where(x > 0, x, 1) / y), 0) - x + y),
])  # fmt: skip
def test_loss_of_hidden_entries_is_their_weighted_mean(loss, divergence):
    weights, known = hide(as_operand(SPARSE), 0.2, np.random.RandomState(0))
    model = NMF(2, loss=loss, missing="nan", max_iter=20, tol=0, random_state=0).fit(known.array)
    # Where a fit predicts zero, the divergence from a hidden entry is infinite.
    W, H = model.embedding_ + 0.1, model.components_ + 0.1
    v, y = weights.toarray(), W @ H
    expected = (v * divergence(SPARSE.toarray(), y)).sum() / v.sum()
    found = hidden_loss(model.problem(known.array).fits, as_operand(SPARSE), weights, W, H.T.copy())
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_right_number_predicts_best():
    # Noise that is zero on average: an offset would be a component of its own.
    noisy = PARTS * np.random.RandomState(1).uniform(0.8, 1.2, size=PARTS.shape)
    model = Factorization(max_iter=200, tol=1e-4)
    found = cross_validate_entries(model, noisy, [1, 2, 3, 5, 8], n_splits=3, random_state=0)
    assert found.smallest_good == 3
    assert found.losses.shape == (5, 3)
    assert (found.error > 0).all()


def test_evidence_has_error_bars():
    evidence = rank_evidence(
        NMF(max_iter=15, tol=0), SPARSE, range(2, 4), n_splits=2, n_runs=3, max_samples=30, random_state=0
    )
    assert evidence.n_components.tolist() == [2, 3]
    for values in (evidence.cophenetic, evidence.cophenetic_error, evidence.stability, evidence.stability_error):
        assert values.shape == (2,)
        assert np.isfinite(values).all()
    assert evidence.hidden.mean.shape == (2,)
    assert (evidence.dispersion <= 1).all()


def test_what_has_no_evidence():
    with pytest.raises(ValueError, match="takes no missing entries"):
        rank_evidence(LocalLearningNMF(local_strength=10.0), X, [2, 3])
    with pytest.raises(ValueError, match="is empty"):
        cross_validate_entries(NMF(), X, [])
    with pytest.raises(ValueError, match="holds 0"):
        cross_validate_entries(NMF(), X, [0, 1])
    with pytest.raises(ValueError, match="between 0 and 1"):
        cross_validate_entries(NMF(), X, [2], share=1.0)
    with pytest.raises(ValueError, match="at least 2"):
        cross_validate_entries(NMF(), X, [2], n_splits=1)
    alone = rank_evidence(
        GraphNMF(graph_strength=10.0, max_iter=5, tol=0), X, [2], n_splits=0, n_runs=2, random_state=0
    )
    assert alone.hidden is None

"""Numbers of components for data of which a part is unknown: known entries decide, and nothing else."""

import re

import numpy as np
import pytest
import scipy.sparse as sp

import partwise
from partwise import NMF, Factorization, WeightedNMF
from partwise.callbacks import TimeBudget
from partwise.core.storage import as_operand
from partwise.selection import consensus, cross_validate_entries, get_scorer, rank_evidence
from partwise.selection.entries import hide, smallest_good

K = 4


def made_up(unknown, seed=0, shape=(120, 30)):
    """Four parts with noise, and which entries are unknown."""
    rng = np.random.RandomState(seed)
    W, H = (rng.exponential(size=size) * (rng.uniform(size=size) < 0.6) for size in ((shape[0], K), (K, shape[1])))
    X = W @ H
    return np.maximum(X + 0.1 * X.std() * rng.normal(size=shape), 0), rng.uniform(size=shape) < unknown


def with_nan(X, unknown):
    return np.where(unknown, np.nan, X)


def sparse_with_nan(X, unknown):
    """Zeros are not stored, and known; unknown entries are stored as NaN."""
    return sp.csr_array(with_nan(X, unknown))


def stored_if_known(X, unknown):
    rows, columns = np.nonzero(~unknown)
    return sp.csr_matrix((X[rows, columns], (rows, columns)), shape=X.shape)


CONTAINERS = {"dense": ("nan", with_nan), "sparse": ("nan", sparse_with_nan), "unstored": ("unstored", stored_if_known)}
SHORT = {"max_iter": 60, "tol": 0, "random_state": 0}


@pytest.mark.parametrize(("container", "share"), [("dense", 0.3), ("dense", 0.6), ("sparse", 0.3), ("unstored", 0.5)])
def test_auto_finds_the_number_of_parts(container, share):
    missing, make = CONTAINERS[container]
    model = NMF([2, 3, 4, 6], missing=missing, **SHORT).fit(make(*made_up(share)))
    assert model.selection_.choice == {"n_components": K}
    assert model.components_.shape[0] == model.n_components_ == K
    (path,) = model.selection_.paths
    assert path.decided_by == ("prediction",)
    assert path.criteria["prediction"].shape == (4, 3)
    assert (path.criteria["prediction"] <= 1).all()
    assert "by prediction" in str(model.selection_)


def test_auto_looks_between_its_numbers_and_the_model_is_like_any_other(tmp_path):
    X, unknown = made_up(0.4, shape=(80, 30))
    model = NMF("auto", missing="nan", **SHORT).fit(with_nan(X, unknown))
    (path,) = model.selection_.paths
    assert set(path.values) > {2, 3, 4}
    assert abs(model.n_components_ - K) <= 1
    assert (np.diff(path.values) > 0).all()
    model.save(tmp_path / "model.npz")
    assert str(partwise.load(tmp_path / "model.npz").selection_) == str(model.selection_)
    pytest.importorskip("matplotlib")
    assert len(model.selection_.plot().axes) == 1


def test_what_is_unknown_does_not_matter():
    """An entry of weight zero may hold anything: the path is the same, bit for bit."""
    X, unknown = made_up(0.5, shape=(50, 20))
    scrambled = np.where(unknown, np.random.RandomState(5).uniform(0, 100, size=X.shape), X)
    weights = np.where(unknown, 0, np.random.RandomState(6).uniform(0.5, 2, size=X.shape))
    for kind in (np.asarray, sp.csr_array):
        paths = [
            WeightedNMF([2, 4], weights=kind(weights), **SHORT).fit(data).selection_.paths[0] for data in (X, scrambled)
        ]
        np.testing.assert_array_equal(paths[0].criteria["prediction"], paths[1].criteria["prediction"])
        losses = [
            cross_validate_entries(
                WeightedNMF(weights=kind(weights), **SHORT), data, [2, 4], n_splits=2, random_state=0
            )
            for data in (X, scrambled)
        ]
        np.testing.assert_array_equal(losses[0].losses, losses[1].losses)


def test_weights_can_be_a_function_and_need_hide_nothing():
    X, _ = made_up(0, shape=(50, 20))
    given = WeightedNMF([2, 4], weights=1 / (1 + X), **SHORT).fit(X)
    function = WeightedNMF([2, 4], weights=lambda X: 1 / (1 + X), **SHORT).fit(X)
    np.testing.assert_array_equal(given.embedding_, function.embedding_)
    assert given.selection_.paths[0].decided_by == ("prediction",)
    assert WeightedNMF([2, 4], **SHORT).fit(X).selection_.paths[0].decided_by != ("prediction",)


@pytest.mark.parametrize("container", CONTAINERS)
def test_only_known_entries_are_hidden(container):
    missing, make = CONTAINERS[container]
    X, unknown = made_up(0.5)
    data = make(X, unknown)
    operand = as_operand(sp.csr_array(data) if sp.issparse(data) else data, missing)
    hidden, known = hide(operand, 0.2, np.random.RandomState(0))
    places = hidden.toarray() > 0
    assert places.any()
    assert not (places & unknown).any()
    assert known.missing == missing
    left = known.array.toarray() if sp.issparse(known.array) else known.array
    shown = ~(places | unknown)
    np.testing.assert_array_equal(left[shown], X[shown])
    assert (np.isnan(left[~shown]) | (missing == "unstored")).all()
    if missing == "unstored":
        assert known.array.nnz == shown.sum()


@pytest.mark.parametrize("container", CONTAINERS)
def test_cross_validation_scores_known_entries_alone(container):
    """The loss of hidden entries of incomplete data is that of the same entries of complete data."""
    missing, make = CONTAINERS[container]
    model = NMF(missing=missing, l2_codes=0.1, l2_components=0.1, n_init=5, **SHORT)
    found = cross_validate_entries(model, make(*made_up(0.4)), [2, 4, 8], n_splits=3, random_state=0)
    assert np.isfinite(found.losses).all()
    assert np.median(found.losses, axis=1).argmin() == 1
    with_zeros = cross_validate_entries(NMF(**SHORT), np.nan_to_num(with_nan(*made_up(0.4))), [K], n_splits=3)
    assert np.median(found.losses[1]) < 0.5 * np.median(with_zeros.losses)


def test_cross_validation_of_terms_with_weights():
    X, unknown = made_up(0.5, shape=(50, 20))
    seen = (~unknown).astype(float)
    mild = [partwise.terms.L2(0.1, factor) for factor in ("codes", "components")]
    by_term = Factorization(terms=[partwise.terms.Frobenius(weights=seen), *mild], init="random", **SHORT)
    losses = [
        cross_validate_entries(by_term, data, [3], n_splits=2, random_state=0).losses
        for data in (X, np.where(unknown, X + 1.0, X))
    ]
    np.testing.assert_allclose(*losses, rtol=0.3)


def test_consensus_evidence_and_scorers_take_missing_entries():
    X, unknown = made_up(0.4, shape=(50, 20))
    for missing, make in CONTAINERS.values():
        data = make(X, unknown)
        model = NMF(K, missing=missing, **SHORT).fit(data)
        assert consensus(model, data, n_runs=2, random_state=0).matrix.shape == (50, 50)
        mild = NMF(missing=missing, l2_codes=0.1, l2_components=0.1, **SHORT)
        evidence = rank_evidence(mild, data, [2, 4], n_splits=2, n_runs=2, random_state=0)
        assert evidence.hidden.best == K
        assert get_scorer("reconstruction")(model, data) < 0
        assert -1 <= get_scorer("prediction strength")(model, data) <= 1
        for name in ("connectedness", "modularity", "information", "silhouette"):
            with pytest.raises(ValueError, match=r"data with missing entries have none.*'reconstruction'"):
                get_scorer(name)(model, data)


def test_what_cannot_be_chosen_says_what_can():
    X, unknown = made_up(0.4, shape=(50, 20))
    with pytest.raises(ValueError, match="missing='nan'"):
        cross_validate_entries(NMF(), with_nan(X, unknown), [2, 3])
    with pytest.raises(ValueError, match="needs a sparse X"):
        cross_validate_entries(NMF(missing="unstored"), X, [2, 3])
    with pytest.raises(ValueError, match="Only 2 entries of X are known, too few"):
        NMF("auto", missing="nan").fit([[1.0, np.nan], [np.nan, 2.0]])


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("seed", range(20))
def test_some_entry_is_hidden_whatever_the_random_numbers_are(container, seed):
    missing, make = CONTAINERS[container]
    hidden, _ = hide(as_operand(make(*made_up(0.4, shape=(6, 4))), missing), 0.1, np.random.RandomState(seed))
    assert hidden.nnz > 0


def test_the_smallest_number_that_is_as_good_up_to_chance():
    assert smallest_good(np.array([[0.1, 0.1], [0.7, 0.9], [0.8, 0.82]])) == 1
    assert smallest_good(np.array([[0.1, 0.1], [0.7, 0.71], [0.8, 0.82]])) == 2
    assert smallest_good(np.full((3, 2), -1e6)) == 0


def test_a_spent_budget_keeps_the_default(capsys):
    X, unknown = made_up(0.4, shape=(50, 20))
    model = NMF("auto", missing="nan", callbacks=TimeBudget(1e-9), verbose=1, random_state=0)
    model.fit(with_nan(X, unknown))
    assert model.selection_.choice == {"n_components": 8}
    assert "budget" in model.selection_.not_chosen["n_components"]
    assert model.stop_reason_ == "callback"
    out = capsys.readouterr().out
    assert re.search(r"^n_components 2 +prediction -?\d", out, re.MULTILINE)
    assert "chosen: n_components=8" in out


@pytest.mark.parametrize("make", [np.array, sp.csr_array])
def test_entries_are_hidden_where_the_same_random_numbers_made_others_unknown(make):
    complete = np.random.RandomState(1).uniform(0.5, 1.0, size=(30, 20))
    data = np.where(np.random.RandomState(0).uniform(size=complete.shape) < 0.1, np.nan, complete)
    hidden, _ = hide(as_operand(make(data), "nan"), 0.1, np.random.RandomState(0))
    assert hidden.nnz > 20

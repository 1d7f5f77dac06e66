"""Terms by which new samples are coded, against their definitions."""

import numpy as np
import pytest
import scipy.sparse as sp

from partwise import Factorization
from partwise.core.dual import DualState, FeatureKernel
from partwise.core.state import State
from partwise.core.storage import as_operand
from partwise.graphs import local_predictors, nearest_neighbors, new_sample_links
from partwise.solvers.codes import code_samples, coding_terms
from partwise.terms import (
    L1,
    L2,
    Frobenius,
    LocalLearning,
    LocalSimilarity,
    NeighborGraph,
    Smoothness,
    Uncodable,
)
from partwise.terms.gauge import Gauged

RNG = np.random.RandomState(5)
TRAIN, NEW = RNG.uniform(0.1, 1.0, size=(15, 6)), RNG.uniform(0.1, 1.0, size=(4, 6))
END = State(as_operand(TRAIN), RNG.uniform(size=(15, 3)), RNG.uniform(size=(6, 3)))
STATE = State(as_operand(NEW), RNG.uniform(size=(4, 3)), END.Ht)


def value(term, end=END, state=STATE):
    """Of the codes of new samples, for a term of the fit."""
    return term.bind(end.X).for_new(end).bind(state.X).value(state)


@pytest.mark.parametrize("edge_weights", ["binary", "cosine"])
def test_new_samples_are_linked_to_training_samples(edge_weights):
    links = new_sample_links(NEW, TRAIN, 4, edge_weights=edge_weights).toarray()
    apart = ((STATE.W[:, None] - END.W[None]) ** 2).sum(axis=2)
    assert value(NeighborGraph(2.5, 4, edge_weights=edge_weights)) == pytest.approx(2.5 * (links * apart).sum())


def test_codes_of_new_samples_are_predicted():
    G = local_predictors(nearest_neighbors(NEW, 4, X_train=TRAIN), NEW, TRAIN)
    expected = 2.5 * ((STATE.W - G @ END.W) ** 2).sum()
    assert value(LocalLearning(2.5, 4)) == pytest.approx(expected)


def test_new_samples_are_far_from_what_components_are_made_of():
    P = RNG.uniform(size=(15, 3))
    end = DualState(FeatureKernel(as_operand(TRAIN)), END.W, P)
    state = State(STATE.X, STATE.W, TRAIN.T @ P)
    apart = ((NEW[:, None] - TRAIN[None]) ** 2).sum(axis=2)
    assert value(LocalSimilarity(0.7), end, state) == pytest.approx(0.7 * np.sum(STATE.W * (apart @ P)))


def test_penalties_of_codes_alone_are_those_of_new_codes():
    assert value(L2(0.5)) == pytest.approx(0.5 * (STATE.W**2).sum())
    terms = [L1(0.5), L1(0.5, "components"), L2(0.5), L2(0.5, "components")]
    assert coding_terms([term.bind(END.X) for term in terms], END) == [L1(0.5), L2(0.5)]
    assert coding_terms([Gauged(term.bind(END.X)) for term in terms], END) == [L1(0.5), L2(0.5)]


@pytest.mark.parametrize("term", [NeighborGraph(2.5, 4), LocalLearning(2.5, 4)], ids=["graph", "local learning"])
def test_new_samples_may_be_of_another_precision(term):
    kept, half = term.bind(END.X).for_new(END), as_operand(NEW.astype(np.float32))
    form = kept.bind(half).quadratic(State(half, STATE.W.astype(np.float32), END.Ht.astype(np.float32)), "codes")
    assert form.attract.dtype == form.couplings[0].gram.dtype == np.float32


def test_a_sample_is_coded_by_itself():
    terms = coding_terms(
        [term.bind(END.X) for term in (Frobenius(), NeighborGraph(2.5, 4), LocalLearning(2.5, 4))], END
    )
    together = code_samples(terms, as_operand(NEW), END.Ht)
    for i in range(4):
        alone = code_samples(terms, as_operand(NEW[i : i + 1]), END.Ht)
        np.testing.assert_allclose(alone, together[i : i + 1], rtol=1e-9, atol=1e-12)


def test_a_reason_comes_when_samples_are_coded_and_not_before():
    S = sp.eye_array(15, format="csr")
    assert isinstance(Smoothness(S).bind(END.X).for_new(END), Uncodable)
    with pytest.raises(ValueError, match=r"^not today$"):
        Uncodable("not today").bind(END.X)
    model = Factorization(2, terms=[Frobenius(), Smoothness(S)], max_iter=3, tol=0, random_state=0).fit(TRAIN)
    with pytest.raises(ValueError, match="S of the smoothness term covers the training samples only"):
        model.transform(NEW)


def test_samples_with_missing_entries_are_linked_by_what_is_shared():
    """Training samples, new samples or both may have holes."""
    holes = np.where(RNG.uniform(size=TRAIN.shape) < 0.2, np.nan, TRAIN)
    chain = sp.diags_array([np.ones(14)] * 2, offsets=[-1, 1], shape=(15, 15))
    new = as_operand(np.where(NEW > 0.9, np.nan, NEW), "nan")
    for bound in (
        NeighborGraph(1.0, 4, graph=sp.csr_array(chain)).bind(as_operand(holes, "nan")),
        NeighborGraph(1.0, 4).bind(END.X),
    ):
        linked = bound.for_new(END)
        assert (linked._links(new).sum(axis=1) == 4).all()
    with pytest.raises(ValueError, match="edge_weights='cosine' was given with missing entries"):
        NeighborGraph(1.0, 4, edge_weights="cosine").bind(END.X).for_new(END).bind(new)

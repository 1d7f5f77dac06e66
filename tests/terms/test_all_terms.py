"""Every term against finite differences, by the helper that users get."""

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp

from partwise.core.forms import Quadratic, Split
from partwise.core.term import BoundTerm, Term
from partwise.terms import L1, L2, BetaDivergence, Frobenius, NegativeBinomial, NeighborGraph, Smoothness
from partwise.terms.constant import Constant
from partwise.testing import check_term

RNG = np.random.RandomState(3)
X = RNG.uniform(0.1, 1.0, size=(12, 7))
HOLES = np.where(RNG.uniform(size=X.shape) < 0.3, np.nan, X)
COUNTS = sp.csr_array(np.where(RNG.uniform(size=X.shape) < 0.5, 0, X))
WEIGHTS = RNG.uniform(size=X.shape) * (RNG.uniform(size=X.shape) < 0.7)
SAMPLE_WEIGHT = np.arange(12) % 4
LABELS = np.array([0, 0, 0, 1, 1, -1, -1, -1, -1, -1, -1, 2])


def signed_matrix():
    B = sp.random_array((12, 12), density=0.3, random_state=0, data_sampler=RNG.standard_normal)
    return sp.csr_array(B.T @ B)


PENALTIES = [
    L1(0.3),
    L1(0.3, "components"),
    L2(0.7),
    L2(0.7, "components"),
    Smoothness(signed_matrix(), 1.5),
    NeighborGraph(2.0, 3),
    NeighborGraph(2.0, 3, edge_weights="heat"),
    NeighborGraph(2.0, 3, metric="euclidean", edge_weights="cosine"),
    Constant(3.0),
]
OVERDISPERSED = [NegativeBinomial(0.0), NegativeBinomial(2.0), NegativeBinomial(np.linspace(0.1, 5, 7))]
FITS = [
    *OVERDISPERSED,
    Frobenius(),
    *(BetaDivergence(beta) for beta in ("kullback-leibler", "itakura-saito", 0.5, 1.5, 2, 3, -1)),
]


def in_one_line(term):
    return " ".join(repr(term).split())


@pytest.mark.parametrize("term", [*PENALTIES, *FITS], ids=in_one_line)
@pytest.mark.parametrize("sample_weight", [None, SAMPLE_WEIGHT], ids=["plain", "weighted"])
def test_term_on_dense_data(term, sample_weight):
    check_term(term, X, sample_weight=sample_weight)


@pytest.mark.parametrize(
    "term", [*OVERDISPERSED, Frobenius(), *(BetaDivergence(beta) for beta in (1, 0.5, 1.5, 3))], ids=in_one_line
)
@pytest.mark.parametrize("sample_weight", [None, SAMPLE_WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_matrix])
def test_fit_on_sparse_data(term, sample_weight, make):
    check_term(term, make(COUNTS), sample_weight=sample_weight)


def fit(beta, weights):
    if beta == "overdispersed":
        return NegativeBinomial(1.5, weights)
    return Frobenius(weights) if beta == 2 else BetaDivergence(beta, weights)


@pytest.mark.parametrize("beta", [2, 1, 0, 1.5, "overdispersed"])
@pytest.mark.parametrize("weights", [None, WEIGHTS, sp.csr_array(WEIGHTS)], ids=["all", "dense", "sparse"])
@pytest.mark.parametrize("missing", [None, "nan"])
def test_fit_with_weights_and_holes(beta, weights, missing):
    term = fit(beta, weights)
    check_term(term, HOLES if missing else X, missing=missing, sample_weight=SAMPLE_WEIGHT)


@pytest.mark.parametrize("beta", [2, 1, 0, 1.5, "overdispersed"])
@pytest.mark.parametrize("weights", [None, WEIGHTS, sp.csr_array(WEIGHTS)], ids=["all", "dense", "sparse"])
def test_fit_to_stored_entries_only(beta, weights):
    check_term(fit(beta, weights), COUNTS, missing="unstored")


@pytest.mark.parametrize("beta", [2, 1, 1.5, "overdispersed"])
def test_sparse_data_with_dense_weights(beta):
    check_term(fit(beta, WEIGHTS), COUNTS)


def test_graph_edited_by_labels():
    check_term(NeighborGraph(2.0, 3, use_labels=True), X, LABELS)


@dataclass(frozen=True)
class Broken(Term):
    """Σ w² with one mistake of choice: the helper must find each."""

    mistake: str

    def bind(self, X, y=None, rng=None, sample_weight=None):
        return BoundBroken(self.mistake)


class BoundBroken(BoundTerm):
    name = "broken"
    offers_quadratic = False

    def __init__(self, mistake):
        self.mistake = mistake
        self.couples_samples = mistake == "couples"

    def value(self, state):
        return float("nan") if self.mistake == "value" else float((state.W**2).sum())

    def quadratic(self, state, factor):
        return Quadratic()

    def split(self, state, factor):
        if factor == "components" or self.mistake == "silent":
            return None
        W = state.W
        parts = {
            "gradient": Split(up={1: 3 * W}),
            "sign": Split(up={1: 3 * W}, down={0: 1 * W, -1: -0.0001 * W}),
            "power": Split(up={1: 2 * W + 9}, down={-3: np.full_like(W, 9.0)}, quadratic=True),
        }
        return parts.get(self.mistake, Split(up={1: 2 * W}))

    def for_new(self, state):
        return {"new": "no term", "wrong new": Broken("gradient"), "coupled": Broken("couples")}.get(self.mistake)


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        ("value", "the value is nan"),
        ("silent", "split\\(\\) is None"),
        ("gradient", "finite differences"),
        ("sign", "negative entries"),
        ("new", "for_new must return a Term or None, not str"),
        ("wrong new", "finite differences"),
        ("coupled", "codes samples one by one; BoundBroken couples them"),
    ],
)
def test_helper_finds_mistakes(mistake, message):
    with pytest.raises(AssertionError, match=message):
        check_term(Broken(mistake))


def test_helper_accepts_a_right_term():
    check_term(Broken("none"))

"""Quadratics, logarithms and halves of gradients, against dense arithmetic and finite differences."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import rel_entr

from partwise.core.counts import SparseCounts
from partwise.core.forms import Coupling, Logarithmic, Quadratic, Split, merge
from partwise.core.rows import Cliques, Diagonal, Links, Square

RNG = np.random.RandomState(0)
N, K = 6, 3
F = RNG.uniform(0.2, 1, size=(N, K))
A = RNG.standard_normal((K + 2, K))
SIGNED = A.T @ A
POSITIVE = np.abs(A).T @ np.abs(A)
ROOT = RNG.standard_normal((4, N))
S = ROOT.T @ ROOT

# B as it is handed over, and S with the object that stands for it.
GRAMS = {"diagonal": np.arange(K) + 1.0, "positive": POSITIVE, "signed": SIGNED}
ROWS = {
    "identity": (None, np.eye(N)),
    "weights": (Diagonal(np.arange(N) + 0.5), np.diag(np.arange(N) + 0.5)),
    "links of either sign": (Square(ROOT, 1.0, np.dtype(float)), S),
}

# No dispersion.
POISSON = np.empty((0, 0))


def full(gram):
    return np.diag(gram) if gram.ndim == 1 else gram


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("gram", GRAMS)
def test_halves_of_a_coupling(gram, rows):
    """S F B in two parts, both non-negative, whatever the signs of S and B."""
    up, down = Coupling(GRAMS[gram], ROWS[rows][0]).halves(F)
    assert up.min() >= 0
    assert down is None or down.min() >= 0
    found = up if down is None else up - down
    np.testing.assert_allclose(found, ROWS[rows][1] @ F @ full(GRAMS[gram]), atol=1e-12)


def value(quadratic, at, product):
    """q(F) = Σ tr(Fᵀ S F B) − 2 tr(Fᵀ (A⁺ − A⁻)), written out."""
    attract = np.zeros((N, K)) if quadratic.attract is None else quadratic.attract
    if quadratic.data is not None:
        attract = attract + np.reshape(quadratic.data, (-1, 1)) * product
    repel = np.zeros((N, K)) if quadratic.repel is None else np.broadcast_to(quadratic.repel, (N, K))
    total = -2 * (at * (attract - repel)).sum()
    for coupling in quadratic.couplings:
        S = np.eye(N) if coupling.rows is None else next(S for rows, S in ROWS.values() if rows is coupling.rows)
        total += np.trace(at.T @ S @ at @ full(coupling.gram))
    return total


PRODUCT = RNG.uniform(size=(N, K))
QUADRATICS = {
    "nothing": Quadratic(),
    "data": Quadratic(data=1.5),
    "data of weighted rows": Quadratic(data=np.arange(N) / 2.0, couplings=(Coupling(SIGNED, ROWS["weights"][0]),)),
    "a push": Quadratic(repel=np.full((1, K), 0.7)),
    "all parts": Quadratic(
        data=2.0,
        attract=RNG.uniform(size=(N, K)),
        repel=RNG.uniform(size=(N, K)),
        couplings=tuple(Coupling(gram, rows) for gram in GRAMS.values() for rows, _ in ROWS.values()),
    ),
}


@pytest.mark.parametrize("product", [PRODUCT, PRODUCT - 0.5], ids=["positive data", "signed data"])
@pytest.mark.parametrize("name", QUADRATICS)
def test_split_is_the_gradient_in_halves(name, product):
    quadratic = QUADRATICS[name]
    split = quadratic.split(F, lambda: product)
    down, up = split.halves()
    assert np.min(up) >= 0
    assert np.min(down) >= 0
    assert split.quadratic
    gradient = np.broadcast_to(np.asarray(up) - np.asarray(down), F.shape)
    # A quadratic has no third derivative: central differences are exact up to rounding.
    slopes = [
        (value(quadratic, F + 0.1 * e, product) - value(quadratic, F - 0.1 * e, product)) / 0.2
        for e in np.eye(N * K).reshape(-1, N, K)
    ]
    np.testing.assert_allclose(gradient.ravel(), slopes, atol=1e-9)


def test_the_data_are_asked_for_only_if_they_enter():
    def never():
        raise AssertionError("asked for")

    attract, repel = Quadratic(attract=F, repel=2 * F).linear(never)
    np.testing.assert_array_equal(attract, F)
    np.testing.assert_array_equal(repel, 2 * F)
    assert Quadratic().linear(never) == (None, None)


def test_gradients_of_a_sum_are_added_power_by_power():
    one, other = Split({0: F, 1: 2 * F}, {-1: F}, quadratic=True), Split({1: F}, {0: 3 * F}, quadratic=True)
    total = merge([one, other])
    np.testing.assert_allclose(total.up[0], F)
    np.testing.assert_allclose(total.up[1], 3 * F)
    down, up = total.halves()
    np.testing.assert_allclose(up, 4 * F)
    np.testing.assert_allclose(down, 4 * F)
    assert total.quadratic
    assert not merge([one, Split({1: F})]).quadratic
    # The summands stay as they were.
    assert one.up.keys() == {0, 1}
    np.testing.assert_allclose(one.up[1], 2 * F)


@pytest.mark.parametrize("shape", [(1, K), (N, K)], ids=["one for all rows", "one for every row"])
def test_a_sum_of_logarithms_is_the_divergence(shape):
    """Where `linear` is the sum of the other factor's rows, the value is the Kullback-Leibler divergence."""
    rng = np.random.RandomState(1)
    G = rng.uniform(0.2, 1, size=(5, K))
    X = rng.poisson(2.0, size=(N, 5)).astype(float)
    Y = F @ G.T
    logs = np.where(X > 0, X * np.log(Y / np.where(X > 0, X, 1)), 0).sum(axis=1)
    counts = SparseCounts(sp.csr_array(X))
    form = Logarithmic(counts, np.broadcast_to(G.sum(axis=0), shape).copy(), counts.total(), 1e-300, "fit", POISSON)
    np.testing.assert_allclose(form.value(F, logs), (rel_entr(X, Y) - X + Y).sum())


def test_rounding_makes_no_negative_divergence():
    counts = SparseCounts(sp.csr_array(np.ones((1, 1))))
    form = Logarithmic(counts, np.ones((1, 1)), 1.0 + 1e-12, 1e-300, "fit", POISSON)
    assert form.value(np.ones((1, 1)), np.zeros(1)) == 0


@pytest.mark.parametrize("kind", ["laplacian", "square", "cliques"])
def test_links_are_bounded_row_by_row(kind):
    rng = np.random.default_rng(0)
    edges = sp.random_array((12, 12), density=0.3, random_state=rng)
    rows = {
        "laplacian": Links.laplacian(edges + edges.T, 2.0, np.dtype(float)),
        "square": Square(
            sp.random_array((9, 12), density=0.3, random_state=rng, data_sampler=rng.standard_normal),
            1.5,
            np.dtype(float),
        ),
        "cliques": Cliques(rng.integers(-1, 3, size=12), 0.7, np.dtype(float)),
    }[kind]
    F, gram = rng.random((12, 3)), rng.random(3)
    form = Quadratic(couplings=(Coupling(gram, rows), Coupling(np.eye(3))))
    bound = form.uncoupled(F)
    assert form.couples_rows
    assert not bound.couples_rows

    def value(of, G):
        return of.value(G, lambda: 0.0)

    for size in (1e-4, 1e-2, 1.0):
        G = np.abs(F + size * rng.standard_normal(F.shape))
        rise, true_rise = value(bound, G) - value(bound, F), value(form, G) - value(form, F)
        assert rise >= true_rise - 1e-10
        assert rise - true_rise <= 1000 * size**2
    # A row alone sees what it would see if the others stayed, and a bound on how far it goes.
    one = bound.of_rows(slice(3, 4))
    np.testing.assert_allclose(one.attract[0], bound.attract[3])

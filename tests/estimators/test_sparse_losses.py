"""Sparse data stay sparse under every loss: memory grows with what is stored and with the factors, not with n × m."""

import tracemalloc

import pytest
import scipy.sparse as sp

from partwise import NMF, Factorization
from partwise.terms import BetaDivergence, Huber, TruncatedCauchy

N, M, K = 4000, 3000, 4
DENSE = 8 * N * M
X = sp.random_array((N, M), density=0.002, format="csr", random_state=0)
X.data += 0.1
# Only stored entries matter to the first two kinds; where all entries do, blocks of rows are dense, one at a time.
LISTS, BLOCKS = DENSE / 6, DENSE / 2
CASES = {
    "squared error": (NMF(K), LISTS),
    "Kullback-Leibler": (NMF(K, loss="kullback-leibler"), LISTS),
    "squared error, unstored": (NMF(K, missing="unstored"), LISTS),
    "Kullback-Leibler, unstored": (NMF(K, loss="kullback-leibler", missing="unstored"), LISTS),
    "Itakura-Saito, unstored": (NMF(K, loss="itakura-saito", missing="unstored"), LISTS),
    "β = 1.5, unstored": (NMF(K, loss=1.5, missing="unstored"), LISTS),
    "negative binomial, unstored": (NMF(K, loss="negative-binomial", dispersion=0.1, missing="unstored"), LISTS),
    "Huber, unstored": (Factorization(K, terms=[Huber(0.5)], missing="unstored"), LISTS),
    "Cauchy, unstored": (Factorization(K, terms=[TruncatedCauchy(0.5)], missing="unstored"), LISTS),
    "β = 1.5": (NMF(K, loss=1.5), BLOCKS),
    "β = 3": (NMF(K, loss=3), BLOCKS),
    "negative binomial": (NMF(K, loss="negative-binomial", dispersion=0.1), BLOCKS),
    "Huber": (Factorization(K, terms=[Huber(0.5)]), BLOCKS),
    "Cauchy": (Factorization(K, terms=[TruncatedCauchy(0.5)]), BLOCKS),
    "β = 0.5, weights": (Factorization(K, terms=[BetaDivergence(0.5, weights=X)]), LISTS),
}


@pytest.mark.filterwarnings("ignore:The fit has not converged", "ignore:.*components are not used:UserWarning")
@pytest.mark.filterwarnings("ignore:Nothing is observed", "ignore:Nothing is known")
@pytest.mark.parametrize("case", CASES)
def test_memory_of_a_fit_and_of_codes(case, monkeypatch):
    monkeypatch.setattr("partwise.solvers.newton.GENTLE_SWEEPS", 1)
    model, most = CASES[case]
    # Everything is compiled before it is measured.
    warm = X if "weights" in case else X[:300]
    model.set_params(init="random", random_state=0, max_iter=2, tol=0).fit(warm).transform(warm[:20])
    tracemalloc.start()
    try:
        model.fit(X).transform(X[: N // 10])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < most, f"{peak / 2**20:.0f} MB"

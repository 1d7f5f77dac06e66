"""Counts with a graph and local coordinates: the "divergence" case that the NLCF paper leaves as future work.

    KL(X | W H) + μ Σ_ij w_ij ‖x_i − h_j‖² + λ tr(Wᵀ (D − E) W)

The Kullback–Leibler divergence suits counts; the penalty keeps components close to samples and codes sparse; the graph
makes neighbours' codes alike. No term knows of the others: each hands its parts to the multiplicative solver, which
takes the positive root of a quadratic per entry and so never rises. μ has the unit of 1 / X here.
"""

from sklearn.datasets import load_digits

from partwise import Factorization
from partwise.metrics import sparseness
from partwise.terms import BetaDivergence, LocalCoordinates, NeighborGraph


def fit(strength=0.02):
    """Digits as counts of ink, 0 to 16 per pixel."""
    X = load_digits().data[:400]
    terms = [BetaDivergence("kullback-leibler"), LocalCoordinates(strength), NeighborGraph(5.0)]
    return Factorization(20, terms=terms, init="kmeans", max_iter=100, tol=0, random_state=0).fit(X)


if __name__ == "__main__":
    for strength in (0.0, 0.02):
        print(f"μ = {strength}: sparseness of the codes {sparseness(fit(strength).embedding_).mean():.2f}")

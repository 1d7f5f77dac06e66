"""
How do I add what I know?
=========================

Samples come in an order, say minutes of a recording, and activities change slowly. No estimator knows that. A penalty
of your own takes twenty lines: its value, and its part of a quadratic form. Solvers, scaling, sparse data and
checkpoints then work with it.
"""

# %%
# The penalty
# -----------
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

from partwise import NMF, Factorization
from partwise.core.rows import Links
from partwise.terms import BoundPenalty, Coupling, Frobenius, Quadratic, Term, Uncodable
from partwise.testing import check_term


@dataclass(frozen=True)
class Sequence(Term):
    """strength · Σ_i ‖w_i − w_{i+1}‖²"""

    strength: float

    def bind(self, X, y=None, rng=None, sample_weight=None):
        """Link every sample with the next one."""
        n = X.shape[0]
        edges = sp.diags_array([np.ones(n - 1)] * 2, offsets=[-1, 1], shape=(n, n))
        return BoundSequence(Links.laplacian(edges, self.strength, X.dtype))


class BoundSequence(BoundPenalty):
    """tr(Wᵀ S W)"""

    name, factor, degree = "sequence", "codes", 2

    def __init__(self, links):
        self.links = links

    def column_values(self, F):
        """w_jᵀ S w_j for every column."""
        return self.links.energy(F)

    def form(self, F):
        """S couples the rows of the codes."""
        return Quadratic(couplings=(Coupling(np.ones(F.shape[1], F.dtype), self.links),))

    def for_new(self, state):
        """New samples have no place in the order."""
        return Uncodable("New samples cannot be coded: they have no place in the sequence.")


check_term(Sequence(0.5))  # derivatives against finite differences, signs, steps

# %%
# Three slow activities in noise, made up
# ---------------------------------------
rng = np.random.RandomState(0)
time = np.linspace(0, 12, 300)
truth = np.maximum(0, np.stack([np.sin(time), np.sin(time + 2.1), np.sin(time + 4.2)], axis=1))
parts = rng.gamma(0.5, size=(3, 25))
X = np.maximum(truth @ parts + rng.normal(scale=1.0, size=(300, 25)), 0)

models = {
    "NMF": NMF(3, random_state=0).fit(X),
    "with Sequence(20)": Factorization(3, terms=[Frobenius(), Sequence(20.0)], random_state=0).fit(X),
}
figure, panels = plt.subplots(3, 1, figsize=(9, 6), sharex=True, layout="constrained")
panels[0].plot(time, truth)
panels[0].set_title("activities")
for panel, (name, model) in zip(panels[1:], models.items(), strict=True):
    codes = model.embedding_ / model.embedding_.max(axis=0)
    match = np.corrcoef(codes.T, truth.T)[:3, 3:]
    panel.plot(time, codes[:, match.argmax(axis=0)])
    panel.set_title(f"{name}: correlations {', '.join(f'{c:.2f}' for c in match.max(axis=0))}")
panels[-1].set_xlabel("time")
plt.show()

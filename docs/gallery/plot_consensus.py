"""
What do many fits agree on?
===========================

A single fit ends in one of many minima. Here six programs of unequal strength, made up, are hidden in counts, and 30
fits start from random factors. Some of them miss a program; what they agree on is closer to the truth than most of
them, and the agreement says how far each component can be trusted.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

rng = np.random.RandomState(3)
programs = rng.gamma(0.3, size=(6, 60))
programs /= programs.sum(axis=1, keepdims=True)
usage = rng.gamma(0.5, size=(200, 6)) * 0.7 ** np.arange(6)
mean = usage @ programs
X = rng.poisson(mean / mean.mean()).astype(float)  # one count per entry

# %%
# 30 fits, one model
# ------------------
# Fits of bootstrap samples would tell how certain components are; here only the starts differ.
from partwise import NMF
from partwise.selection import ConsensusNMF

model = ConsensusNMF(NMF(6, loss="kullback-leibler", tol=1e-4), n_replicates=30, random_state=0).fit(X)

# %%
# How close to the truth?
# -----------------------
# Each true program is matched with the component that resembles it most, for the consensus and for 30 single fits.
from scipy.optimize import linear_sum_assignment

from partwise.solvers import Options, solve_many


def cosines(found):
    """Of the true programs with those found, each with another one."""
    truth, found = (F / np.linalg.norm(F, axis=1, keepdims=True) for F in (programs, found))
    likeness = truth @ found.T
    return likeness[linear_sum_assignment(-likeness)]


problem = NMF(6, loss="kullback-leibler").problem(X)
single = [
    cosines(minimum.state.components)
    for _, minimum in solve_many(map(problem.replicate, range(30)), Options(200, 1e-4, inner=True))
]

figure, panel = plt.subplots(figsize=(7, 3.4), layout="constrained")
panel.boxplot(np.array(single), positions=range(6), widths=0.5, whis=(0, 100), medianprops={"color": "#8a93a6"})
panel.plot(range(6), cosines(model.components_), "D", color="#c4553b", label="consensus of 30 fits", zorder=3)
panel.set(xlabel="program, from the strongest to the weakest", ylabel="cosine with the truth", xticks=range(6))
panel.set_xticklabels(range(1, 7))
panel.plot([], [], "s", color="#c9cdd6", label="single fits: quartiles and extremes")
panel.legend(frameon=False, loc="lower left")
print("mean cosine of the consensus:", cosines(model.components_).mean().round(3))
print("mean cosine of a single fit, on average:", np.mean(single).round(3))

# %%
# Which components are reliable?
# ------------------------------
# No truth is needed for this: the silhouette of a component is 1 if all fits find it, and low if they do not.
figure, panel = plt.subplots(figsize=(7, 2.8), layout="constrained")
panel.bar(range(6), model.stability_, yerr=model.stability_error_, color="#3b68c4", capsize=3, width=0.6)
panel.set(xlabel="component", ylabel="stability", ylim=(0, 1.05))
plt.show()
# sphinx_gallery_thumbnail_number = 1

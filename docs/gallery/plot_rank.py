"""
How many components?
====================

Three kinds of evidence for a number of components: how well hidden entries are predicted, whether fits from different
starts put the same samples together (the consensus), and whether the consensus matrix is that of a clustering.
Here the truth is known: four groups, made up, with a lot of noise.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

rng = np.random.RandomState(1)
parts = rng.gamma(0.3, size=(4, 30))
codes = np.repeat(np.eye(4), 30, axis=0) + rng.gamma(0.5, 0.8, size=(120, 4))
X = rng.poisson(2 * codes @ parts) / 2

# %%
# Evidence for 2 to 7 components
# ------------------------------
from partwise import NMF
from partwise.plots import ConsensusDisplay
from partwise.selection import consensus, rank_evidence

evidence = rank_evidence(NMF(max_iter=60, tol=1e-4), X, range(2, 8), n_splits=3, n_runs=6, random_state=0)
figure, panels = plt.subplots(1, 3, figsize=(10, 2.8), layout="constrained")
for panel, name, values, error in (
    (panels[0], "loss on hidden entries", evidence.hidden.mean, evidence.hidden.error),
    (panels[1], "cophenetic correlation", evidence.cophenetic, evidence.cophenetic_error),
    (panels[2], "stability of clusters", evidence.stability, evidence.stability_error),
):
    panel.errorbar(evidence.n_components, values, error, marker="o", color="#3b68c4", capsize=3)
    panel.set_yscale("log" if panel is panels[0] else "linear")
    panel.axvline(4, color="#c9cdd6", linestyle="--", zorder=0)
    panel.set(title=name, xlabel="number of components")
print("best prediction:", evidence.hidden.best, "smallest that is about as good:", evidence.hidden.smallest_good)

# %%
# Consensus of 12 runs
# --------------------
# With the right number almost every pair of samples is always or never together. With others the runs disagree: three
# components can merge any two of the four groups, and six can split any two of them. Few components are stable whatever
# the data, so that stability is worth little without the loss.
figure, panels = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
for panel, k in zip(panels, (3, 4, 6), strict=True):
    runs = consensus(NMF(k, max_iter=60, tol=1e-4), X, n_runs=12, random_state=0)
    ConsensusDisplay.from_consensus(runs, ax=panel)
    panel.set_title(f"{k} components: cophenetic correlation {runs.cophenetic_correlation:.2f}", size=9)
plt.show()
# sphinx_gallery_thumbnail_number = 2

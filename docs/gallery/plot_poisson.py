"""
When are squared errors wrong?
==============================

Counts with a mean of 1,000 scatter by 30, counts with a mean of 1 by 1. The squared error takes a deviation of 30 for
900 times a deviation of 1, and spends all components on what is bright. The Kullback–Leibler divergence is the
likelihood of Poisson counts: every count is trusted as far as it deserves.
"""

# %%
# Spectra of mixtures: a bright substance and two faint ones, made up
# -------------------------------------------------------------------
import matplotlib.pyplot as plt
import numpy as np

rng = np.random.RandomState(0)
energy = np.linspace(0, 10, 120)


def peaks(*places):
    """A spectrum with a peak at each place."""
    return sum(np.exp(-((energy - place) ** 2) / 0.08) for place in places) + 0.001


truth = np.stack([200 * peaks(2, 3.1, 4), 4 * peaks(6, 7.5), 4 * peaks(6.5, 8.8)])
amounts = rng.gamma(1.0, size=(200, 3))
X = rng.poisson(amounts @ truth).astype(float)

# %%
# Fit with both losses
# --------------------
from partwise import NMF

figure, panels = plt.subplots(3, 1, figsize=(8, 6.4), sharex=True, layout="constrained")
panels[0].semilogy(energy, truth.T)
panels[0].set_title("the three spectra")
for panel, loss in zip(panels[1:], ("frobenius", "kullback-leibler"), strict=True):
    model = NMF(3, loss=loss, n_init=2, random_state=0).fit(X)
    # The order of components is arbitrary: each spectrum takes the one that resembles it most.
    unit = model.components_ / np.linalg.norm(model.components_, axis=1, keepdims=True)
    similarity = (truth / np.linalg.norm(truth, axis=1, keepdims=True)) @ unit.T
    found = unit[similarity.argmax(axis=1)] * np.linalg.norm(truth, axis=1, keepdims=True)
    panel.semilogy(energy, np.maximum(found.T, 1e-3))
    panel.set_title(f"{loss}: cosines {', '.join(f'{s:.2f}' for s in similarity.max(axis=1))}")
    panel.set_ylim(1e-2, 1e3)
panels[-1].set_xlabel("energy")
plt.show()

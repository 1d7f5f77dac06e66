"""
What changes for users of scikit-learn?
=======================================

The names, and little else: `fit`, `transform`, pipelines and grid searches work the same. The objective is the same,
too, apart from a factor ½, so both libraries can start from the same place and be compared. Times in the picture are
those of the machine that built this page, and of small data; the benchmarks have the rest.
"""

# %%
import time
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import NMF as SklearnNMF
from sklearn.exceptions import ConvergenceWarning

from partwise import NMF
from partwise.plots import ComponentsDisplay

X = np.tile(load_digits().data, (4, 1)) + np.random.RandomState(0).uniform(0, 2, size=(4 * 1797, 64))
K = 20
warnings.simplefilter("ignore", ConvergenceWarning)  # fits are stopped early on purpose
rng = np.random.RandomState(0)
W, H = rng.uniform(size=(len(X), K)), rng.uniform(size=(K, 64))
NMF(K, init=(W, H), max_iter=2, tol=0).fit(X)  # the first fit compiles

# %%
# Objective against time, from one start
# --------------------------------------
ours = NMF(K, init=(W, H), max_iter=100, tol=0).fit(X)
figure, panel = plt.subplots(figsize=(7, 4.6), layout="constrained")
panel.plot(ours.history_["time"], ours.history_["objective"], label="partwise", color="#3b68c4")
for solver, colour in (("mu", "#2f9e6e"), ("cd", "#d9772b")):
    seconds, objective = [], []
    for sweeps in (1, 2, 5, 10, 20, 50, 100):
        theirs = SklearnNMF(K, init="custom", solver=solver, max_iter=sweeps, tol=0)
        clock = time.perf_counter()
        theirs.fit_transform(X, W=W.copy(), H=H.copy())
        seconds.append(time.perf_counter() - clock)
        objective.append(theirs.reconstruction_err_**2)
    panel.plot(seconds, objective, marker="o", label=f"scikit-learn, {solver}", color=colour)
best = ours.history_["objective"][-1]
panel.set(xlabel="seconds", ylabel="‖X − W H‖²", ylim=(0.97 * best, 2.5 * best))
panel.legend(frameon=False)

# %%
# The same parts
# --------------
# Both end at nearly the same components.
figure, panels = plt.subplots(2, 1, figsize=(9, 2.6), layout="constrained")
for panel, name, components in (
    (panels[0], "partwise", ours.components_),
    (panels[1], "scikit-learn", theirs.components_),
):
    ComponentsDisplay(components, image_shape=(8, 8)).plot(panel, n_columns=20)
    panel.set_title(name)
plt.show()

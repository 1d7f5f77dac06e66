"""
How far do a few labels reach?
==============================

Twenty of 700 digits have a label: two per class. `GraphNMF` with ``use_labels=True`` links samples of a class and cuts
links between classes, and the graph carries the labels on to the neighbours. `ConstrainedNMF` gives all samples of a
class one common code.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.manifold import TSNE
from sklearn.preprocessing import normalize

X, y = load_digits(return_X_y=True)
X, y = normalize(X[:700]), y[:700]
known = np.full(len(y), -1)
for label in range(10):
    known[np.flatnonzero(y == label)[:2]] = label
print((known >= 0).sum(), "labels among", len(y), "samples")

# %%
# Before and after
# ----------------
# On the left are the labels that are given, on the right what the model says about all others (`transduction_`).
from partwise import ConstrainedNMF, GraphNMF
from partwise.plots import GraphDisplay

model = GraphNMF(10, graph_strength=10, use_labels=True, random_state=0).fit(X, known)
places = TSNE(random_state=0).fit_transform(X)
figure, panels = plt.subplots(1, 2, figsize=(8, 4.3), layout="constrained")
for panel, labels, title in (
    (panels[0], known, "twenty labels"),
    (panels[1], model.transduction_, "what they say about all samples"),
):
    GraphDisplay.from_estimator(model, X, known, points=places, labels=labels, ax=panel, legend=False)
    panel.set_title(title, size=16)
given = places[known >= 0]
panels[0].scatter(*given.T, s=90, linewidths=1.5, facecolors="none", edgecolors="#1d2b4f")

# %%
# What they are worth
# -------------------
# Without labels, accuracy is that of the clusters, matched to the classes afterwards. With labels it is that of the
# classes given to the 680 samples that had none.
from partwise.metrics import clustering_accuracy

hidden = known < 0
constrained = ConstrainedNMF(10, random_state=0).fit(X, known)
shares = {
    "GraphNMF, no labels": clustering_accuracy(y, GraphNMF(10, graph_strength=10, random_state=0).fit(X).labels_),
    "ConstrainedNMF, 20 labels": np.mean(constrained.transduction_[hidden] == y[hidden]),
    "GraphNMF, 20 labels": np.mean(model.transduction_[hidden] == y[hidden]),
}
figure, panel = plt.subplots(figsize=(8, 2.2), layout="constrained")
bars = panel.barh(list(shares), list(shares.values()), color=["#c9cdd6", "#d9772b", "#3b68c4"])
panel.bar_label(bars, fmt="{:.0%}", padding=4)
panel.set(xlim=(0, 1.1), xlabel="accuracy")
plt.show()

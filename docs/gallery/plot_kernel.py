"""
What if clusters are not round?
===============================

Two rings share their centre, so no straight line separates them, and neither do sums of parts. A kernel compares each
sample with those around it. `KernelGraphNMF` and `LocalSimilarityNMF` factor this similarity instead of the
coordinates, and a graph keeps neighbours together.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles

X, y = make_circles(400, factor=0.4, noise=0.06, random_state=0)
X = X - X.min(axis=0)

# %%
from partwise import NMF, KernelGraphNMF, LocalSimilarityNMF
from partwise.metrics import clustering_accuracy

models = {
    "NMF": NMF(2, random_state=0),
    "LocalSimilarityNMF": LocalSimilarityNMF(2, kernel="rbf", bandwidth=0.2, random_state=0),
    "KernelGraphNMF": KernelGraphNMF(
        2, kernel="rbf", bandwidth=0.1, metric="euclidean", n_neighbors=15, graph_strength=1000, random_state=0
    ),
}
figure, panels = plt.subplots(2, 2, figsize=(7.6, 7.2), layout="constrained")
panels[0, 0].scatter(*X.T, c="#a3a9b5", s=14)
panels[0, 0].set_title("400 samples")
for panel, (name, model) in zip(panels.flat[1:], models.items(), strict=True):
    labels = model.fit(X).labels_
    panel.scatter(*X.T, c=np.array(["#3b68c4", "#d9772b"])[labels], s=14)
    panel.set_title(f"{name}\n{clustering_accuracy(y, labels):.0%} right")
for panel in panels.flat:
    panel.set_aspect("equal")
    panel.set_axis_off()
plt.show()

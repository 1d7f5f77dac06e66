"""
What if samples lie on a map?
=============================

Each sample is a spot on a grid, as in spatial transcriptomics or remote sensing, with a few noisy counts. Neighbouring
spots usually belong to the same region. Give the grid as a graph, and the model may use that.
"""

# %%
# Three regions and 40 genes, made up
# -----------------------------------
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from sklearn.feature_extraction.image import grid_to_graph

SIDE = 40
rng = np.random.RandomState(0)
row, column = np.mgrid[:SIDE, :SIDE] / SIDE
disc = np.hypot(row - 0.4, column - 0.35) < 0.25
stripe = row + 0.25 * np.sin(6 * column) > 0.8
region = np.where(disc, 1, np.where(stripe, 2, 0)).ravel()
profiles = rng.gamma(1.0, size=(3, 40))
X = rng.poisson(0.25 * profiles[region]).astype(float)
print(f"{X.shape[0]} spots, {X.sum(axis=1).mean():.1f} counts per spot")

# %%
# Without and with the map
# ------------------------
from partwise import NMF, GraphNMF
from partwise.metrics import clustering_accuracy

grid = grid_to_graph(SIDE, SIDE).astype(float).tocsr()
grid.setdiag(0)
plain = NMF(3, loss="kullback-leibler", random_state=0).fit(X)
smooth = GraphNMF(3, loss="kullback-leibler", graph=grid, graph_strength=2.0, random_state=0).fit(X)

COLOURS = ListedColormap(["#20335c", "#3fa7a3", "#f2b544"])
figure, panels = plt.subplots(1, 3, figsize=(10, 3.7), layout="constrained", facecolor="none")
for panel, title, labels in (
    (panels[0], "truth", region),
    (panels[1], f"NMF: {clustering_accuracy(region, plain.labels_):.1%} right", plain.labels_),
    (panels[2], f"GraphNMF: {clustering_accuracy(region, smooth.labels_):.1%} right", smooth.labels_),
):
    # Clusters get the colour of the region with which they share most spots.
    matched = np.array([np.bincount(region[labels == cluster], minlength=3).argmax() for cluster in range(3)])[labels]
    panel.imshow(matched.reshape(SIDE, SIDE), cmap=COLOURS, vmin=0, vmax=2)
    panel.set_title(title, size=16, color="#808a99")
    panel.set_axis_off()

# %%
# The codes themselves are maps, too: how much of each profile there is at every spot.
figure, panels = plt.subplots(2, 3, figsize=(8, 5.6), layout="constrained", facecolor="none")
for line, (name, model) in zip(panels, (("NMF", plain), ("GraphNMF", smooth)), strict=True):
    for j, panel in enumerate(line):
        panel.imshow(model.embedding_[:, j].reshape(SIDE, SIDE), cmap="magma")
        panel.set_title(f"{name}, component {j}", size=11, color="#808a99")
        panel.set_axis_off()
plt.show()
# sphinx_gallery_thumbnail_number = 2

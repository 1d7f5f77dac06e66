"""
How does "auto" choose a strength?
==================================

How much should neighbours count? Papers try several strengths and keep the one that agrees best with the true classes,
which users do not have. ``graph_strength="auto"``, the default, follows a path of short fits through the strengths, and
four criteria judge how well the clusters fit the data. Labels are used here only to see whether the choice was right.
"""

# %%
from sklearn.datasets import load_digits
from sklearn.preprocessing import normalize

from partwise import GraphNMF

X, y = load_digits(n_class=8, return_X_y=True)
X, y = normalize(X[:700]), y[:700]
model = GraphNMF(8, random_state=0).fit(X)
print(model.selection_)

# %%
# The path
# --------
# Every panel is a criterion along the strengths, with a line for every start; the vertical line is the choice.
import matplotlib.pyplot as plt

from partwise.plots import CodesDisplay, SelectionDisplay

figure, axes = plt.subplots(2, 3, figsize=(9, 5), layout="constrained")
SelectionDisplay.from_estimator(model, ax=axes.flat[:5])
axes[1, 2].set_axis_off()

# %%
# Was it right?
# -------------
# The accuracy needs labels, so it could not have been used for the choice.
from partwise.metrics import clustering_accuracy

path = model.selection_.paths[0]
accuracies = [
    clustering_accuracy(y, GraphNMF(8, graph_strength=strength, random_state=0).fit(X).labels_)
    for strength in path.values
]
figure, panel = plt.subplots(figsize=(7, 4.6), layout="constrained")
panel.plot(range(len(accuracies)), accuracies, marker="o", color="#3b68c4", label="fixed strength")
chosen = clustering_accuracy(y, model.labels_)
panel.axhline(chosen, color="#d9772b", linestyle="--", label=f"auto: strength {path.chosen:g}")
panel.set_xticks(range(len(accuracies)), [f"{strength:g}" for strength in path.values])
panel.set(xlabel="graph_strength", ylabel="accuracy")
panel.legend(frameon=False)

# %%
# The codes of the chosen model, coloured by true class:
figure, panel = plt.subplots(figsize=(7, 4.6), layout="constrained")
CodesDisplay.from_estimator(model, y, max_samples=700, ax=panel)
plt.show()
# sphinx_gallery_thumbnail_number = 2

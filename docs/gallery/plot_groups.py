"""
What do samples from different sources have in common?
======================================================

Three scanners have read handwritten digits, and each leaves its own traces: a stripe, a smear, a dirty corner, more of
it on some pages than on others. NMF does not know who scanned what: if it has components to spare, some of them show
the dirt, and nothing says which ones. `GroupNMF` is told: strokes go to components that all scanners share, dirt to
those of one scanner. The same holds for batches of an experiment, for patients, or for the speakers of recordings.
"""

# %%
# The digits come from scikit-learn; the dirt is made here.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

digits = load_digits().data[:900] / 16
rng = np.random.RandomState(0)
rows, columns = np.mgrid[:8, :8] / 7
dirt = np.stack(
    [
        (np.abs(columns - 0.15) < 0.1) * 1.0,
        np.exp(-(((rows - columns) / 0.25) ** 2)),
        np.clip(1.2 * (rows + 1 - columns) - 1.2, 0, None),
    ]
).reshape(3, 64)
scanner = np.arange(len(digits)) % 3
X = digits + rng.gamma(1.5, 0.5, size=(len(digits), 1)) * dirt[scanner]

# %%
# Twelve shared components and one for each scanner, beside NMF with as many in all.
from partwise import NMF, GroupNMF

plain = NMF(15, loss="kullback-leibler", random_state=0).fit(X)
model = GroupNMF(12, n_group_components=1, loss="kullback-leibler", random_state=0).fit(X, groups=scanner)
shared, own = model.components_[:12], model.components_[12:]

# %%
# The dirt that was found is the dirt that was made, and the shared components are strokes.
unit = dirt / np.linalg.norm(dirt, axis=1, keepdims=True)
for number, (found, made) in enumerate(zip(own, unit, strict=True)):
    print(f"scanner {number}: cosine of its component with its dirt {found @ made / np.linalg.norm(found):.3f}")

figure = plt.figure(figsize=(11, 4.9), layout="constrained")
above, below = figure.subfigures(2, 1, height_ratios=(1, 2.4))
panels = above.subplots(1, 12)
for i, panel in enumerate(panels):
    pages = np.flatnonzero(scanner == i // 4)
    panel.imshow(X[pages[i % 4]].reshape(8, 8), cmap="gray_r", vmin=0, vmax=2)
for i in range(3):
    panels[4 * i].set_title(f"from scanner {i}", loc="left", size=10)
left, right = below.subfigures(1, 2, width_ratios=(1, 1.05))
left.suptitle("NMF: strokes and dirt, mixed", size=10)
right.suptitle("GroupNMF: shared strokes, and the dirt of each scanner (red)", size=10)
for part, components in ((left, plain.components_), (right, np.vstack([shared, own]))):
    for i, (panel, component) in enumerate(zip(part.subplots(3, 5).flat, components, strict=True)):
        panel.imshow(component.reshape(8, 8), cmap="gray_r" if part is left or i < 12 else "Reds")
for panel in figure.findobj(plt.Axes):
    panel.set(xticks=[], yticks=[])

# %%
# Codes of the shared components describe the digit, whoever scanned it; `inverse_transform` of these alone cleans it.
clean = model.embedding_ * (model.component_groups_ < 0)
cleaned = model.inverse_transform(clean)
figure, panels = plt.subplots(2, 9, figsize=(11, 2.6), layout="constrained")
for i, (upper, lower) in enumerate(panels.T):
    upper.imshow(X[i].reshape(8, 8), cmap="gray_r", vmin=0, vmax=2)
    lower.imshow(cleaned[i].reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
    for panel in (upper, lower):
        panel.set(xticks=[], yticks=[])
panels[0, 0].set_ylabel("scanned")
panels[1, 0].set_ylabel("shared part")
plt.show()

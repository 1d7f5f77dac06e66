"""
Can a photograph be completed from half of its pixels?
======================================================

Half of the pixels are unknown. Small patches of a photograph resemble each other, so a few components describe
them all; the known pixels of a patch determine its code, and the code says what the others are.

The photograph is scikit-learn's `china.jpg` by Daniel Büchele, under CC BY 2.0; the pictures below, made from it, are
under the same licence.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

photo = load_sample_image("china.jpg").mean(axis=2)[100:340:2, 120:460:2] / 255
rng = np.random.RandomState(0)
unknown = rng.uniform(size=photo.shape) < 0.5
holes = np.where(unknown, np.nan, photo)

# %%
# All overlapping patches of 8 × 8 pixels are the samples; NaN marks what is unknown.
from numpy.lib.stride_tricks import sliding_window_view

from partwise import NMF

SIDE = 8
patches = sliding_window_view(holes, (SIDE, SIDE))[::2, ::2]
X = patches.reshape(-1, SIDE * SIDE)
model = NMF(16, missing="nan", l2_codes=0.3, l2_components=0.3, tol=1e-3, random_state=0).fit(X)
filled = model.inverse_transform(model.embedding_).reshape(patches.shape)
print(f"{len(X)} patches, {np.isnan(X).mean():.0%} of their pixels unknown")

# %%
# A pixel lies in several patches; its value is the mean of what they say.
total, count = np.zeros(photo.shape), np.zeros(photo.shape)
for i, line in enumerate(filled):
    for j, patch in enumerate(line):
        total[2 * i : 2 * i + SIDE, 2 * j : 2 * j + SIDE] += patch
        count[2 * i : 2 * i + SIDE, 2 * j : 2 * j + SIDE] += 1
completed = np.where(unknown, total / np.maximum(count, 1), photo)

inside = unknown & (count > 0)
print(f"error of an unknown pixel: {np.sqrt(np.mean((completed - photo)[inside] ** 2)):.3f} (0 is black, 1 is white)")

# %%
# Before and after
# ----------------
figure, panels = plt.subplots(1, 2, figsize=(8, 3.3), layout="constrained", facecolor="none")
for panel, image, title in zip(panels, (holes, completed), ("half of the pixels", "completed"), strict=True):
    panel.imshow(image, cmap="gray", vmin=0, vmax=1)
    panel.set_title(title, size=16, color="#808a99")
    panel.set_axis_off()

# %%
# The photograph itself, for comparison:
figure, panel = plt.subplots(figsize=(4, 2.9), layout="constrained", facecolor="none")
panel.imshow(photo, cmap="gray", vmin=0, vmax=1)
panel.set_axis_off()

# %%
# The components
# --------------
# Edges and shades in all directions: sums of them make every patch.
from partwise.plots import ComponentsDisplay

ComponentsDisplay.from_estimator(model, image_shape=(SIDE, SIDE), n_columns=8)
plt.show()

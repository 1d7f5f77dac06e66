"""
What are the parts of a set of images?
======================================

A stick figure has four limbs, and each limb four positions: 256 images, all different, made of only 17 parts
(Donoho & Stodden, 2004). Nobody tells the model what a limb is. Non-negativity alone finds them: since nothing can be
subtracted, a component that mixed two limbs could not be used for a figure that moves only one of them.

The images are drawn by this script.
"""

# %%
# Draw the figures
# ----------------
from colorsys import hls_to_rgb
from itertools import product

import matplotlib.pyplot as plt
import numpy as np

SIDE = 32
LIMBS = {
    ("shoulder", (12, 13)): [(-9, -5), (-3, -9), (4, -9), (9, -4)],
    ("other shoulder", (12, 19)): [(-9, 5), (-3, 9), (4, 9), (9, 4)],
    ("hip", (20, 14)): [(-1, -10), (5, -8), (9, -4), (10, 0)],
    ("other hip", (20, 18)): [(-1, 10), (5, 8), (9, 4), (10, 0)],
}


def line(start, step):
    """An image of a straight line, two pixels wide."""
    image = np.zeros((SIDE, SIDE))
    for t in np.linspace(0.25, 1, 40):
        row, column = np.round(np.array(start) + t * np.array(step)).astype(int)
        image[row : row + 2, column : column + 2] = 1.0
    return image


body = line((9, 16), (14, 0))
positions = [[line(start, step) for step in steps] for (_, start), steps in LIMBS.items()]
X = np.array([(body + sum(limbs)).ravel() for limbs in product(*positions)])
print(X.shape)

# %%
# Some of the 256 figures
# -----------------------
from partwise.plots import ComponentsDisplay

ComponentsDisplay(X[np.random.RandomState(0).permutation(256)[:16]], image_shape=(SIDE, SIDE)).plot(n_columns=8)

# %%
# The parts
# ---------
# Sixteen positions of limbs and the body. The body is in every figure, so it can be shared among the limbs in many
# ways; a small ℓ1 penalty on the components prefers the way with the least ink.
from partwise import NMF

model = NMF(17, l1_components=0.5, n_init=3, random_state=0).fit(X)
ComponentsDisplay.from_estimator(model, image_shape=(SIDE, SIDE), n_columns=6)
plt.show()

# %%
# The codes
# ---------
# Every figure is a sum of five parts, and its code says which: that is why one can read a code. Here every part has a
# colour, and a pixel of a figure has the colour of the part that draws it.
colours = np.array([hls_to_rgb(j / 17, 0.48, 0.75) for j in range(17)])
shown = np.random.RandomState(0).permutation(256)[:18]
figure, axes = plt.subplots(3, 6, figsize=(9, 4.5), layout="constrained", facecolor="none")
for panel, i in zip(axes.flat, shown, strict=True):
    drawn = model.embedding_[i, :, None] * model.components_
    opaque = X[i, :, None] > 0.5
    picture = np.hstack([colours[drawn.argmax(axis=0)], opaque])
    panel.imshow(picture.reshape(SIDE, SIDE, 4), interpolation="nearest")
    panel.set_axis_off()
plt.show()
print("largest error of a pixel:", abs(X - model.inverse_transform(model.embedding_)).max().round(2))
# sphinx_gallery_thumbnail_number = 3

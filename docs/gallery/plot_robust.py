"""
What if some pixels are nonsense?
=================================

A tenth of all pixels is replaced by noise four times as bright as the images. The squared error tries to explain it.
The truncated Cauchy loss of `CauchyNMF` lets a residual count less the larger it is, and not at all beyond a limit;
`outliers_` says which entries those were.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

rng = np.random.RandomState(0)
clean = load_digits(n_class=5).data[:500] / 16
broken = rng.uniform(size=clean.shape) < 0.1
X = np.where(broken, rng.uniform(0, 4, size=clean.shape), clean)

# %%
from partwise import NMF, CauchyNMF
from partwise.plots import ComponentsDisplay

models = {"NMF": NMF(12, random_state=0), "CauchyNMF": CauchyNMF(12, random_state=0)}
figure, panels = plt.subplots(2, 1, figsize=(9, 2.8), layout="constrained")
for panel, (name, model) in zip(panels, models.items(), strict=True):
    ComponentsDisplay.from_estimator(model.fit(X), image_shape=(8, 8), n_columns=12, ax=panel)
    rebuilt = model.inverse_transform(model.embedding_)
    error = np.sqrt(np.mean((rebuilt - clean) ** 2))
    panel.set_title(f"{name}: error against the clean images {error:.2f}")

# %%
# Digits with noise, without it, and rebuilt
# ------------------------------------------
shown = slice(0, 12)
lines = {"given": X, "NMF": None, "CauchyNMF": None, "clean": clean}
figure, panels = plt.subplots(4, 1, figsize=(9, 4.8), layout="constrained")
for panel, (name, images) in zip(panels, lines.items(), strict=True):
    if images is None:
        images = models[name].inverse_transform(models[name].embedding_)
    ComponentsDisplay(np.clip(images[shown], 0, 1), image_shape=(8, 8)).plot(panel, n_columns=12)
    panel.set_title(name)
plt.show()
# sphinx_gallery_thumbnail_number = 2

"""
Why does scale matter?
======================

W/c and c H fit as well as W and H. If only W is penalised, a solver can shrink W and stretch H until the penalty is
gone, and with it whatever it was meant to do. The papers' rules do this, slowly: what they return depends on when they
stop. By default (``scale="auto"``) partwise measures a penalty on the codes where every component has unit norm, which
no rescaling can evade.
"""

# %%
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize

from partwise import GraphNMF

X = normalize(load_digits(n_class=6).data[:500])
warnings.simplefilter("ignore", ConvergenceWarning)  # fits are stopped early on purpose

# %%
# Follow both fits, sweep by sweep
# --------------------------------
# ``scale=None`` with ``solver="multiplicative"`` is the rule of the paper.
fits = {"paper's rule, free scale": {"solver": "multiplicative", "scale": None}, "scale='auto'": {}}
figure, panels = plt.subplots(2, 1, figsize=(7.4, 5.4), sharex=True, layout="constrained")
for (name, settings), colour in zip(fits.items(), ("#d9772b", "#3b68c4"), strict=True):
    model = GraphNMF(6, graph_strength=50, max_iter=1000, tol=0, random_state=0, **settings).fit(X)
    history = model.history_
    share = np.array(history["graph"]) / np.array(history["objective"])
    panels[0].loglog(np.arange(1, len(share)), share[1:], color=colour, label=name)
    sweeps = (1, 10, 100, 1000)
    stopped = [
        GraphNMF(6, graph_strength=50, max_iter=sweep, tol=0, random_state=0, **settings).fit(X)
        for sweep in sweeps[:-1]
    ]
    sizes = [np.linalg.norm(fit.embedding_) for fit in (*stopped, model)]
    panels[1].loglog(sweeps, sizes, color=colour, marker="o")
for panel, title in zip(panels, ("graph's share of the objective", "size of the codes"), strict=True):
    panel.set_title(title)
panels[1].set_xlabel("sweep")
panels[0].legend(frameon=False)
plt.show()

# %%
# With a free scale the codes shrink as long as the fit runs, and the graph's share with them.

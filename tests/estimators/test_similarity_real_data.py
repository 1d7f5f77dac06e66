"""RLS-NMF over the paper's grid on the papers' images (a part of each, few sweeps): no rise and not one NaN."""

import numpy as np
import pytest
from paper_images import images

from partwise import LocalSimilarityNMF

LAMBDAS = [0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]
GAMMAS = [0.001, 0.1, 1.0, 10.0, 1000.0]


@pytest.mark.parametrize("name", ["coil20", "orl32", "yale32", "pix", "semeion"])
@pytest.mark.parametrize("solver", ["projected", "multiplicative"])
@pytest.mark.filterwarnings("ignore:.*components are not used")
def test_grid(name, solver):
    X, _ = images(name, 90, every=20 if name == "pix" else 3)
    X = X / X.max()
    for lam in LAMBDAS:
        for gamma in GAMMAS:
            model = LocalSimilarityNMF(10, similarity_strength=lam, outlier_strength=gamma, solver=solver)
            model.set_params(max_iter=4, tol=0, random_state=0).fit(X)
            objective = np.array(model.history_["objective"])
            for found in (objective, model.embedding_, model.components_, model.dual_components_):
                assert np.isfinite(found).all()
            assert np.diff(objective).max() <= 1e-10 * max(float((X * X).sum()), objective[0])

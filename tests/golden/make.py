"""Makes golden files of the present format: ``python tests/golden/make.py``, once per format, when it is settled.

Together they hold every kind of term by which new samples are coded. Beside each stands what it answered.
"""

import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from partwise import (
    NMF,
    CauchyNMF,
    ConstrainedNMF,
    Factorization,
    GraphNMF,
    KernelGraphNMF,
    LatentSemanticKMeans,
    LocalSimilarityNMF,
    OrthogonalTriNMF,
    WeightedNMF,
    terms,
)
from partwise.persistence import FORMAT

X = np.random.RandomState(0).gamma(1.0, size=(16, 5))
HOLES = np.where(np.random.RandomState(1).uniform(size=X.shape) < 0.1, np.nan, X)
CHAIN = sp.csr_array(np.diag(np.ones(11), 1) + np.diag(np.ones(11), -1))
LABELS = np.array([0, 0, 0, 1, 1, 1, -1, -1, -1, -1, -1, -1])


def of(*summands, **parameters):
    return Factorization(terms=[terms.Frobenius(), *summands], **parameters)


# Models of the first twelve samples; the others are new.
MODELS = {
    "graph": (GraphNMF(graph_strength=3.5), X),
    "graph and labels": (GraphNMF(graph_strength=3.5, use_labels=True, edge_weights="heat"), X),
    "graph with holes": (of(terms.NeighborGraph(2.0, graph=CHAIN), missing="nan"), HOLES),
    "graph in another unit": (GraphNMF(graph_strength=3.5), X * 1e200),
    "graph beside a kernel": (KernelGraphNMF(graph_strength=3.5, kernel="rbf", n_landmarks=6), X),
    "local learning": (of(terms.LocalLearning(2.0, 4, kernel="rbf"), terms.LocalCoordinates(0.1)), X),
    "local similarity": (LocalSimilarityNMF(), X),
    "penalties": (of(terms.L1(0.1), terms.L2(0.1), terms.L2(0.1, "components")), X.astype(np.float32)),
    "smoothness": (of(terms.Smoothness(sp.eye_array(12) * 2 - CHAIN, 0.3)), X),
    "counts": (Factorization(terms=[terms.BetaDivergence(1.0), terms.Localness()]), sp.csr_array(np.round(X))),
    "beta divergence": (NMF(loss=1.5), X),
    "holes": (WeightedNMF(missing="nan"), HOLES),
    "outliers": (CauchyNMF(), X),
    "classes": (ConstrainedNMF(), X),
    "blocks": (OrthogonalTriNMF(n_column_clusters=2), X),
    "singular vectors": (LatentSemanticKMeans(), X),
}

if __name__ == "__main__":
    folder = Path(__file__).parent / f"format-{FORMAT.version}"
    (folder / "expected").mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    for name, (estimator, data) in MODELS.items():
        file = folder / f"{name.replace(' ', '-')}.npz"
        if file.exists():
            print(f"{file} exists; golden files are never rewritten.")
            continue
        few = {"n_components": 3, "max_iter": 8, "tol": 0, "random_state": 0}
        model = estimator.set_params(**{key: few[key] for key in few.keys() & estimator.get_params().keys()})
        model.fit(data[:12], LABELS)
        model.save(file)
        expected = {"X": data.toarray() if sp.issparse(data) else data}
        try:
            expected |= {"codes": model.transform(data), "labels": model.predict(data)}
        except ValueError as error:
            expected["refusal"] = np.array(str(error))
        np.savez_compressed(folder / "expected" / file.name, **expected)

"""Makes the golden file of the present format; run once per format, when it is new: ``python tests/golden/make.py``."""

from pathlib import Path

import numpy as np

from partwise import GraphNMF
from partwise.files.archive import write_arrays
from partwise.persistence import FORMAT_VERSION

if __name__ == "__main__":
    here = Path(__file__).parent / f"model-{FORMAT_VERSION}.npz"
    if here.exists():
        raise SystemExit(f"{here} exists; golden files are never made anew.")
    X = np.random.RandomState(0).gamma(1.0, size=(16, 5))
    model = GraphNMF(3, graph_strength=3.5, max_iter=20, tol=0, random_state=0).fit(X[:12])
    model.save(here)
    write_arrays(
        here.with_name(f"model-{FORMAT_VERSION}-expected.npz"),
        {"X": X, "codes": model.transform(X), "labels": model.predict(X)},
    )

"""Broken sparse matrices do not crash the process: each estimator is given all of them in its own process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from case import SUBJECTS

HERE = Path(__file__).parent
SCRIPT = """
import faulthandler, sys
faulthandler.enable()
from case import SUBJECTS
from sparse_cases import HOSTILE_DATA
from sklearn.base import clone

refused = 0
for name, make in HOSTILE_DATA.items():
    for subject in sys.argv[1:]:
        try:
            clone(SUBJECTS[subject]).fit(make())
        except (ValueError, IndexError):
            refused += 1
        else:
            raise SystemExit(f"{name} was accepted by {subject}")
print(refused)
"""


def test_process_survives():
    path = os.pathsep.join([str(HERE), *(entry for entry in sys.path if entry)])
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *SUBJECTS],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    from sparse_cases import HOSTILE_DATA

    assert int(done.stdout) == len(HOSTILE_DATA) * len(SUBJECTS)


@pytest.mark.parametrize("name", SUBJECTS)
def test_sparse_graphs_are_checked_too(name):
    model = SUBJECTS[name]
    if "graph" not in model.get_params() or getattr(model, "graph_strength", 1) == 0:
        pytest.skip("takes no graph")
    import numpy as np
    import scipy.sparse as sp
    from case import X
    from sklearn.base import clone

    graph = sp.csr_matrix(np.ones((len(X), len(X))))
    graph.indices[7] = 10**6
    with pytest.raises((ValueError, IndexError)):
        clone(model).set_params(graph=graph).fit(X)

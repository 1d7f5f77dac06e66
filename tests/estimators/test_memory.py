"""Sparse data stay sparse, and nothing of size n × n is ever dense: measured in a separate process."""

import subprocess
import sys

import pytest

SCRIPT = """
import resource, warnings
import scipy.sparse as sp
import numpy as np
warnings.simplefilter("ignore")
from partwise import {name}
rng = np.random.default_rng(0)
X = sp.random_array((20_000, 20_000), density=0.003, format="csr", random_state=rng)
y = np.where(np.arange(20_000) < 2_000, np.arange(20_000) % 10, -1)
{call}
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read the Linux way")
@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("NMF", "NMF(20, max_iter=5).fit(X)"),
        ("NMF", "NMF(20, max_iter=3, loss='kullback-leibler', init='kmeans').fit(X)"),
        ("NMF", "NMF(20, max_iter=3, missing='unstored').fit(X)"),
        ("GraphNMF", "GraphNMF(20, graph_strength=10, max_iter=5, use_labels=True).fit(X, y)"),
        ("ConstrainedNMF", "ConstrainedNMF(20, max_iter=5).fit(X, y)"),
        ("SemiNMF", "SemiNMF(20, max_iter=3, init='random').fit(-X)"),
        (
            "ConceptFactorization",
            "ConceptFactorization(20, max_iter=2, init='random', solver='multiplicative').fit(-X)",
        ),
        ("KernelGraphNMF", "KernelGraphNMF(20, max_iter=2, init='random', kernel='cosine').fit(X)"),
        ("OrthogonalTriNMF", "OrthogonalTriNMF(20, max_iter=3, init='random').fit(X)"),
    ],
)
def test_peak_memory_of_a_large_sparse_fit(name, call):
    script = SCRIPT.format(name=name, call=call)
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert float(run.stdout) < 1.5

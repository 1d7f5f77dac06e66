"""Sparse data stay sparse, and nothing of size n × n is ever dense: measured in a separate process."""

import subprocess
import sys

import pytest

CALLS = [
    "NMF(20, max_iter=5).fit(X)",
    "NMF(20, max_iter=3, loss='kullback-leibler', init='kmeans').fit(X)",
    "NMF(20, max_iter=3, missing='unstored').fit(X)",
    "GraphNMF(20, graph_strength=10, max_iter=5, use_labels=True).fit(X, y)",
    "ConstrainedNMF(20, max_iter=5).fit(X, y)",
    "SemiNMF(20, max_iter=3, init='random').fit(-X)",
    "ConceptFactorization(20, max_iter=2, init='random', solver='multiplicative').fit(-X)",
    "KernelGraphNMF(20, max_iter=2, init='random', kernel='cosine').fit(X)",
    "OrthogonalTriNMF(20, max_iter=3, init='random').fit(X)",
]
# The peak only grows: the first call that needs too much memory ends the script with its name.
SCRIPT = """
import resource, sys, warnings
import scipy.sparse as sp
import numpy as np
warnings.simplefilter("ignore")
from partwise import *
rng = np.random.default_rng(0)
X = sp.random_array((20_000, 20_000), density=0.003, format="csr", random_state=rng)
y = np.where(np.arange(20_000) < 2_000, np.arange(20_000) % 10, -1)
for call in sys.argv[1:]:
    eval(call)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    if peak > 1.5:
        sys.exit(f"{call} took {peak} GB")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read the Linux way")
def test_peak_memory_of_large_sparse_fits():
    run = subprocess.run([sys.executable, "-c", SCRIPT, *CALLS], stderr=subprocess.PIPE, text=True, check=False)
    assert run.returncode == 0, run.stderr

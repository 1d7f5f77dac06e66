"""cNMF, the package for gene programs: its step `factorize` in a Python of its own, which times itself."""

from __future__ import annotations

import os
import subprocess
import tempfile
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

# Where the package is: it wants its own versions of numpy and scikit-learn.
PYTHON = "CNMF_PYTHON"
# cNMF writes components only; the codes are needed to compare objectives.
SCRIPT = """
import sys, time, warnings
import anndata, numpy as np, scipy.sparse as sp
from cnmf import cNMF
warnings.simplefilter("ignore")
k, n_iter, loss = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
X = sp.csr_matrix(sp.load_npz("counts.npz"))
anndata.AnnData(X).write("counts.h5ad")
found = []
class Kept(cNMF):
    def _nmf(self, X, nmf_kwargs):
        spectra, usages = super()._nmf(X, nmf_kwargs)
        found.append((usages, spectra, nmf_kwargs["random_state"]))
        return spectra, usages
model = Kept(output_dir=".", name="run")
model.prepare("counts.h5ad", components=[k], n_iter=n_iter, seed=0, beta_loss=loss, num_highvar_genes=X.shape[1])
begin = time.process_time()
model.factorize()
seconds = time.process_time() - begin
W, H, seeds = (np.array(each) for each in zip(*found))
np.savez("found.npz", W=W, H=H, seeds=seeds, seconds=seconds)
norm = anndata.read_h5ad(model.paths["normalized_counts"]).X
sp.save_npz("normalised.npz", sp.csr_array(norm))
"""


class Factorised(NamedTuple):
    """What cNMF factorises, and what comes out: CPU seconds per replicate, factors and seeds of every one."""

    X: sp.csr_array
    seconds: float
    W: np.ndarray
    H: np.ndarray
    seeds: np.ndarray


class Cnmf:
    """The package, in the Python that the environment variable names."""

    @cached_property
    def missing(self):
        """Why it cannot be measured, or nothing."""
        if not os.environ.get(PYTHON):
            return f"cnmf is not here: `pip install cnmf` into a Python of its own, and name that in {PYTHON}"
        command = [os.environ[PYTHON], "-c", "import cnmf"]
        return "" if subprocess.run(command, capture_output=True, check=False).returncode == 0 else "cnmf is not there"

    def factorize(self, counts, k, n_replicates, loss):
        """Counts of all genes, normalised and factorised as cNMF does it, on one thread."""
        one_thread = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        one_thread.pop("PYTHONPATH", None)
        with tempfile.TemporaryDirectory() as folder:
            here = Path(folder)
            # cNMF refuses cells and genes without counts.
            cells, genes = (np.flatnonzero(counts.sum(axis=axis) > 0) for axis in (1, 0))
            sp.save_npz(here / "counts.npz", sp.csr_matrix(counts[cells][:, genes]))
            command = [os.environ[PYTHON], "-c", SCRIPT, str(k), str(n_replicates), loss]
            subprocess.run(command, cwd=here, env=one_thread, check=True, capture_output=True, text=True)
            found = np.load(here / "found.npz")
            X = sp.csr_array(sp.load_npz(here / "normalised.npz"))
            seconds = float(found["seconds"]) / n_replicates
            return Factorised(X, seconds, found["W"], found["H"], found["seeds"])


CNMF = Cnmf()

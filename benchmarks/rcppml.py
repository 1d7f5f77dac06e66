"""RcppML, an R package: its `nmf` in an R of its own, which times itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from functools import cached_property
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from .measure import Run, squared_error

# R keeps columns together, as we keep rows, and RcppML has samples in columns: the arrays of X are those of its A.
SCRIPT = """
suppressMessages({library(methods); library(Matrix); library(RcppML)})
numbers <- function(name, kind) readBin(name, kind, file.size(name) / c(integer = 4, double = 8)[[kind]])
size <- numbers("size", "integer")  # features, samples, components, sweeps, seed, sparse
A <- if (size[6]) {
  parts <- list(i = numbers("i", "integer"), p = numbers("p", "integer"), x = numbers("x", "double"))
  do.call(new, c("dgCMatrix", parts, list(Dim = size[1:2])))
} else {
  matrix(numbers("x", "double"), size[1], size[2])
}
setRcppMLthreads(1)
begin <- proc.time()
fit <- nmf(A, size[3], tol = 0, maxit = size[4], seed = size[5], verbose = FALSE)
taken <- proc.time() - begin
writeBin(as.double(fit$w), "w")
writeBin(as.double(fit$d * fit$h), "h")
writeBin(c(taken[["user.self"]] + taken[["sys.self"]], fit$iter), "taken")
"""


class RcppML:
    """A peer (see `peers.Peer`) that begins from its own random start: it accepts no other."""

    name = package = "RcppML"
    note = "R; its own start; Debian's build, for any x86-64"

    @cached_property
    def missing(self):
        """Why it cannot be measured, or nothing."""
        absent = "RcppML is not installed: apt install r-cran-rcppml, or install.packages('RcppML') in R"
        if shutil.which("Rscript") is None:
            return absent
        found = subprocess.run(["Rscript", "-e", "library(RcppML)"], capture_output=True, check=False)
        return absent if found.returncode else ""

    def run(self, X, W, H, sweeps, chunk=None):
        """Make `sweeps` from a start that the first code determines, as it differs from seed to seed."""
        k, m = H.shape
        seed = int(W.flat[0] * 1e6) % 2**31
        size = [m, len(W), k, sweeps, seed, sp.issparse(X)]
        with tempfile.TemporaryDirectory() as folder:
            here = Path(folder)
            np.array(size, np.int32).tofile(here / "size")
            (X.data if sp.issparse(X) else X).astype(np.float64, copy=False).tofile(here / "x")
            if sp.issparse(X):
                X.indices.astype(np.int32).tofile(here / "i")
                X.indptr.astype(np.int32).tofile(here / "p")
            one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}
            subprocess.run(
                ["Rscript", "-e", SCRIPT], cwd=here, env=one_thread, check=True, capture_output=True, text=True
            )
            w, h = np.fromfile(here / "w").reshape(k, m), np.fromfile(here / "h").reshape(len(W), k)
            seconds, made = np.fromfile(here / "taken")
        objective = squared_error(X, h, w)
        return Run(float(seconds), objective, [(float(seconds), objective)], int(made))


RCPPML = RcppML()

"""The kernels that tests run with, and which of them this computer has."""

import os
import subprocess
import sys
from dataclasses import dataclass, field

# What OpenBLAS calls the kernels that it is asked for by these names. Those of Prescott are the oldest that builds
# have, and some report them under the name of an older processor that shares them.
BLAS = {
    "Prescott": ("Prescott", "Katmai"),
    "Haswell": ("Haswell",),
    "Zen": ("Zen",),
    "SkylakeX": ("SkylakeX",),
}
# Loads what the package computes with, uses it, and prints the kernels that each OpenBLAS has chosen.
PROBE = """
import numpy as np, scipy.linalg
from threadpoolctl import threadpool_info
for dtype in (np.float32, np.float64):
    A = np.random.RandomState(0).standard_normal((70, 70)).astype(dtype)
    np.linalg.svd(A @ A.T), scipy.linalg.eigh(A @ A.T), scipy.linalg.qr(A)
print(*{pool["architecture"] for pool in threadpool_info() if pool["internal_api"] == "openblas"})
"""


@dataclass(frozen=True)
class Kernel:
    """One way to run the tests: environment variables, or the reason why this computer cannot."""

    name: str
    variables: dict[str, str] = field(default_factory=dict)
    reason: str = ""


def probe(name):
    """What OpenBLAS uses if it is asked for these kernels; None if the processor cannot run them."""
    variables = {**os.environ, "OPENBLAS_CORETYPE": name}
    done = subprocess.run([sys.executable, "-c", PROBE], env=variables, capture_output=True, text=True, check=False)
    return None if done.returncode else done.stdout.split()


def blas_kernels(probe=probe):
    """Every kernel of BLAS by its name; one that was asked for and not found has a reason."""
    used = {}
    for name, reported in BLAS.items():
        found = probe(name)
        if found is None:
            yield Kernel(name, reason="this processor cannot run them")
        elif not found:
            yield Kernel(name, reason="numpy and scipy have another BLAS than OpenBLAS here")
        elif len(found) > 1:
            yield Kernel(name, reason=f"numpy and scipy disagree: {' and '.join(sorted(found))}")
        elif found[0] in used:
            yield Kernel(name, reason=f"this OpenBLAS has those of {used[found[0]]} for it")
        elif found[0] not in reported:
            yield Kernel(name, reason=f"this OpenBLAS has none and takes those of {found[0]}")
        else:
            used[found[0]] = name
            yield Kernel(name, {"OPENBLAS_CORETYPE": name})


def compiled_kernels(folder):
    """The package's own kernels, compiled for any processor of its kind; what was compiled before is out of reach."""
    return Kernel("numba, generic", {"NUMBA_CPU_NAME": "generic", "NUMBA_CACHE_DIR": str(folder)})

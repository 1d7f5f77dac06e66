"""Compiled code is kept where it can be; where it cannot, everything works all the same."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import partwise

OWN = """
from partwise.kernels.options import compiled

@compiled()
def double(x):
    return 2 * x
"""
CALL = """
import own
assert own.double(1.5) == 3
print(sum(own.double._cache_hits.values()))
"""
FIT = """
import warnings
import numpy as np, scipy.sparse as sp
warnings.simplefilter("error")
import partwise
X = sp.csr_array(np.random.RandomState(0).uniform(size=(6, 5)))
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    model = partwise.NMF(2, max_iter=3, random_state=0).fit(X)
assert model.transform(X).shape == (6, 2)
print(partwise.__file__)
from partwise.kernels import descent, sparse
assert descent.descend_rows.signatures and sparse.dot_rows.signatures
"""
# From here on, files that this process writes may have at most this many bytes: a full disk.
FULL = """
import resource
import partwise.kernels.options
resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
"""


def run(code, folder, **environment):
    """Run a program in a new process; `folder` is where its modules are looked for first."""
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    settings = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **environment}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=settings, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.strip()


def test_nothing_can_be_written(tmp_path):
    """No folder can be made below a file, not even by root, who may write to folders that others may not."""
    copy, file = tmp_path / "site" / "partwise", tmp_path / "file"
    shutil.copytree(Path(partwise.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    file.touch()
    for folder in [copy, *(path for path in copy.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").touch()
    nowhere = {name: str(file / "below") for name in ("NUMBA_CACHE_DIR", "HOME", "XDG_CACHE_HOME", "USERPROFILE")}
    before = sorted(copy.rglob("*"))
    assert Path(run(FIT, copy.parent, **nowhere)).parent == copy
    assert sorted(copy.rglob("*")) == before


def test_code_is_kept_and_a_bad_disk_does_no_harm(tmp_path):
    pytest.importorskip("resource")
    (tmp_path / "own.py").write_text(OWN)
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert run(FULL + CALL, tmp_path, **cache) == "0"
    assert run(CALL, tmp_path, **cache) == "0"
    assert run(CALL, tmp_path, **cache) == "1"
    for kept in (tmp_path / "cache").rglob("*.nb?"):
        kept.write_bytes(kept.read_bytes()[:20])
    assert run(CALL, tmp_path, **cache) == "0"

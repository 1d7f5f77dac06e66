"""A model that one process has saved is the same in another, which has imported nothing but partwise."""

import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import skops.io
from cases import CASES, X, fit, small

from partwise import NMF, LatentSemanticKMeans, LocalLearningClustering, NormalizedCut
from partwise.selection import ConsensusNMF
from partwise.testing import all_estimators

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that begin where another one is")

PROGRAM, GOLDEN = Path(__file__).with_name("loading_anew.py"), Path(__file__).with_name("golden")
CLUSTERINGS = {kind.__name__: (kind(3), X) for kind in (LatentSemanticKMeans, LocalLearningClustering, NormalizedCut)}

CONSENSUS = {"ConsensusNMF": (ConsensusNMF(NMF(tol=1e-2), [2, 3], n_replicates=3, n_splits=2, random_state=0), X)}


def load_anew(folder, new):
    """What the program finds for every model in the folder."""
    np.savez(folder / "new.npz", **new)
    files = sorted(path for path in folder.iterdir() if path.stem in new)
    command = [sys.executable, PROGRAM, folder / "new.npz", *files]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert printed == ""
    return {path.name: dict(np.load(f"{path}.out.npz")) for path in files}


def expected_of(model, new):
    expected = {"labels": model.labels_, "embedding": model.embedding_}
    if hasattr(model, "transform"):
        expected |= {"codes": model.transform(new), "predicted": model.predict(new)}
    return expected


@pytest.mark.filterwarnings("ignore")
def test_models_in_processes_of_their_own(tmp_path):
    """Every estimator as a file of partwise, as a pickle and by skops; and models that earlier versions wrote."""
    chosen = {type(estimator).__name__: (estimator, data) for estimator, data in reversed(CASES.values())} | CLUSTERINGS
    assert chosen.keys() == all_estimators().keys()
    chosen |= CONSENSUS
    new, expected = {}, {}
    for name, (estimator, data) in chosen.items():
        as_it_is = name in CLUSTERINGS or name in CONSENSUS
        model = estimator.fit(data) if as_it_is else fit(small(estimator, max_iter=5), data)
        new[name] = data[:3].toarray() if sp.issparse(data) else data[:3]
        expected[name] = expected_of(model, new[name])
        model.save(tmp_path / f"{name}.npz")
        (tmp_path / f"{name}.pickle").write_bytes(pickle.dumps(model))
        skops.io.dump(model, tmp_path / f"{name}.skops")
    golden = list(GOLDEN.glob("format-*/graph.npz"))
    for file in golden:
        name = file.parent.name
        shutil.copy(file, tmp_path / f"{name}.npz")
        arrays = dict(np.load(file.parent / "expected" / file.name))
        new[name] = arrays["X"]
        expected[name] = {"codes": arrays["codes"], "predicted": arrays["labels"]}
    found = load_anew(tmp_path, new)
    assert len(found) == 3 * len(chosen) + len(golden)
    for file, arrays in found.items():
        for name, array in expected[file.rpartition(".")[0]].items():
            # In two processes arrays lie in different places, which may change how sums are ordered.
            np.testing.assert_allclose(arrays[name], array, rtol=1e-6, atol=1e-12)
            assert arrays[name].dtype == array.dtype

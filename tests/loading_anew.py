"""Loads saved models in processes that have imported nothing of partwise but its front door.

``python loading_anew.py NEW FILE…`` codes the samples of NEW, an npz with an array per FILE's stem, by the model in
every FILE and writes the result beside it, as FILE.out.npz. Every npz file has its own process. Pickles share
one, as do files of skops: both name the modules of their classes.
"""

import os
import pickle
import sys
import traceback
from pathlib import Path

# These take seconds to import and know nothing of partwise: one process imports them for all.
import numba
import numpy as np
import sklearn.cluster
import sklearn.linear_model  # noqa: F401
import skops.io

import partwise

FRONT_DOOR = {"partwise", "partwise.estimators", "partwise.lazy"}


def load(path):
    if path.suffix == ".pickle":
        return pickle.loads(path.read_bytes())
    if path.suffix == ".skops":
        return skops.io.load(path, trusted=skops.io.get_untrusted_types(file=path))
    return partwise.load(path)


def code(path, new):
    model = load(path)
    # The labels of a model that came from elsewhere, before anything else has been asked of it.
    found = {"labels": model.labels_, "embedding": model.embedding_}
    if hasattr(model, "transform"):
        found |= {"codes": model.transform(new), "predicted": model.predict(new)}
    np.savez(f"{path}.out.npz", **found)


def in_a_child(paths, new):
    """A process that begins where this one is."""
    assert {name for name in sys.modules if name.partition(".")[0] == "partwise"} == FRONT_DOOR
    child = os.fork()
    if child == 0:
        try:
            for path in paths:
                code(path, new[path.stem])
        except BaseException:
            print(f"{path.name}:", traceback.format_exc(), flush=True)
        finally:
            os._exit(0)
    os.waitpid(child, 0)


if __name__ == "__main__":
    # What compilers need at first takes time as well.
    numba.njit(lambda: 0)()
    new, files = dict(np.load(sys.argv[1])), [Path(file) for file in sys.argv[2:]]
    for path in files:
        if path.suffix == ".npz":
            in_a_child([path], new)
    for suffix in (".pickle", ".skops"):
        in_a_child([path for path in files if path.suffix == suffix], new)

"""I. Models as files."""

import pickle
from unittest.mock import patch

import numpy as np
import skops.io
from case import Answered, Case, Refused, X
from run_cases import DAMAGES, UNREADABLE, folder
from skops.io.exceptions import UntrustedTypesFoundException

import partwise


def round_trip(model):
    path = folder() / "model.npz"
    model.fit(X).save(path)
    same(partwise.load(path), model)


def pickled(model):
    same(pickle.loads(pickle.dumps(model.fit(X))), model)


def same(other, model):
    assert np.array_equal(other.embedding_, model.embedding_)
    assert np.array_equal(other.labels_, model.labels_)
    if hasattr(model, "transform"):
        assert np.array_equal(other.transform(X), model.transform(X))


def damaged_model(damage):
    def act(model):
        path = folder() / "model.npz"
        model.fit(X).save(path)
        path.write_bytes(damage(path.read_bytes()))
        partwise.load(path)

    return act


def pickled_elsewhere(model):
    with patch.object(partwise, "__version__", "0.0.0"):
        written = pickle.dumps(model.fit(X))
    same(pickle.loads(written), model)


def by_skops(model):
    """Opened only if the types that it names are agreed to, and these are ours."""
    written = skops.io.dumps(model.fit(X))
    types = skops.io.get_untrusted_types(data=written)
    assert f"{type(model).__module__}.{type(model).__name__}" in types
    assert all(name.startswith(("partwise.", "scipy.sparse.", "numpy.dtype")) for name in types)
    same(skops.io.loads(written, trusted=types), model)


def by_skops_without_consent(model):
    skops.io.loads(skops.io.dumps(model.fit(X)))


CASES = [
    Case("I", "saved and loaded", act=round_trip, expected=Answered(says="equal")),
    Case("I", "pickled", act=pickled, expected=Answered(says="equal")),
    Case("I", "pickled by another version", act=pickled_elsewhere, expected=Answered("partwise 0.0.0", says="equal")),
    Case("I", "written by skops", act=by_skops, expected=Answered(says="equal")),
    Case(
        "I",
        "written by skops, types not agreed to",
        act=by_skops_without_consent,
        expected=Refused(UntrustedTypesFoundException, "partwise.estimators"),
    ),
    *(
        Case("I", f"model file: {name}", act=damaged_model(damage), expected=UNREADABLE)
        for name, damage in DAMAGES.items()
    ),
]

"""E. Labels, where a method takes them, and where it ignores them."""

import numpy as np
from case import Answered, Case, Refused, X
from sklearn.base import clone

N = len(X)
CLASSES = np.where(np.arange(N) % 2 == 0, np.arange(N) // 5, -1)


def learns(model):
    """Methods that read y by themselves."""
    return type(model).__name__ == "ConstrainedNMF"


def may_learn(model):
    return "use_labels" in model.get_params()


def ignores(model):
    return not learns(model) and not may_learn(model)


def unsupervised(model, data):
    """As without labels."""
    plain = clone(model).set_params(**({"use_labels": False} if may_learn(model) else {}))
    assert np.array_equal(model.embedding_, plain.fit(X).embedding_)


ACCEPTED = {
    "y is None": None,
    "no class is known": np.full(N, -1),
    "some classes are known": CLASSES,
    "all classes are known": np.arange(N) // 5,
    "floats that are whole": CLASSES.astype(float),
    "objects, −1 for unknown": np.array([-1 if c < 0 else f"class {c}" for c in CLASSES], dtype=object),
    "a list": CLASSES.tolist(),
    "a class of one sample": np.where(np.arange(N) == 3, 1, np.where(np.arange(N) < 3, 0, -1)),
    "more classes than components": np.arange(N) % 7,
    "one class": np.zeros(N, int),
    "numbers of classes with gaps": np.where(CLASSES >= 0, 10 * CLASSES + 5, -1),
}
REFUSED = {
    "too few labels": (np.zeros(N - 1), ValueError, "labels"),
    "too many labels": (np.zeros(N + 1), ValueError, "labels"),
    "continuous": (np.linspace(0, 1, N), ValueError, "Unknown label type"),
    "NaN": (np.full(N, np.nan), ValueError, ""),
    "words": (np.array(["a"] * N), ValueError, "object array"),
    "two columns": (np.zeros((N, 2)), ValueError, ""),
}
UNSUPERVISED = Answered(holds=unsupervised, says="as without labels")


def cases():
    for who, condition, params in (("", learns, {}), (", use_labels", may_learn, {"use_labels": True})):
        for name, y in ACCEPTED.items():
            expected = UNSUPERVISED if name in ("y is None", "no class is known") else Answered()
            if y is None and params:
                expected = Refused(ValueError, "use_labels=True was given")
            yield Case("E", name + who, expected=expected, applies=condition, params=params, y=y)
        for name, (y, kind, text) in REFUSED.items():
            yield Case("E", name + who, expected=Refused(kind, text), applies=condition, params=params, y=y)
    for name, y in {"some classes are known": CLASSES, "words": np.array(["a"] * N)}.items():
        yield Case("E", f"{name}, ignored", expected=UNSUPERVISED, applies=ignores, y=y)


CASES = list(cases())

"""B. Types: in what X may come."""

import tempfile
from decimal import Decimal

import numpy as np
import pandas as pd
from case import Answered, Case, Refused, X, transforms

NAMES = [f"f{j}" for j in range(X.shape[1])]


def dtype_of(expected):
    def holds(model, data):
        assert model.embedding_.dtype == expected
        if hasattr(model, "components_"):
            assert model.components_.dtype == expected
        if hasattr(model, "transform"):
            assert model.transform(data).dtype == expected

    return Answered(holds=holds, says=f"{np.dtype(expected)} out")


def read_only_map():
    with tempfile.NamedTemporaryFile(suffix=".bin") as file:
        X.tofile(file.name)
        return np.memmap(file.name, dtype=X.dtype, mode="r", shape=X.shape)


def read_only():
    data = X.copy()
    data.flags.writeable = False
    return data


def nullable(missing):
    frame = pd.DataFrame(X, columns=NAMES).astype("Float64")
    if missing:
        frame.iloc[2, 3] = pd.NA
    return frame


def objects(value):
    data = X.astype(object)
    data[1, 1] = value
    return data


def after_frame(change, says=None):
    """Fit to a frame, then give another one."""

    def act(model):
        frame = pd.DataFrame(X, columns=NAMES)
        model.fit(frame)
        return model.transform(change(frame))

    return act


ACCEPTED = {
    "booleans": (lambda: X > 0.4, np.float64),
    "8-bit integers": (lambda: (9 * X).astype(np.uint8), np.float64),
    "32-bit integers": (lambda: (9 * X).astype(np.int32), np.float64),
    "64-bit integers": (lambda: (9 * X).astype(np.int64), np.float64),
    "float16": (lambda: X.astype(np.float16), np.float64),
    "long double": (lambda: X.astype(np.longdouble), np.float64),
    "float32": (lambda: X.astype(np.float32), np.float32),
    "float32 in columns": (lambda: np.asfortranarray(X, np.float32), np.float32),
    "other byte order": (lambda: X.astype(">f8"), np.float64),
    "objects that are numbers": (lambda: X.astype(object), np.float64),
    "objects that are decimals": (lambda: objects(Decimal("0.5")), np.float64),
    "list of lists": (lambda: X.tolist(), np.float64),
    "tuple of tuples": (lambda: tuple(map(tuple, X.tolist())), np.float64),
    "list of arrays": (lambda: list(X), np.float64),
    "columns in memory": (lambda: np.asfortranarray(X), np.float64),
    "strided": (lambda: np.repeat(np.repeat(X, 2, 0), 3, 1)[::2, ::3], np.float64),
    "reversed": (lambda: X[::-1, ::-1], np.float64),
    "read-only array": (read_only, np.float64),
    "read-only memory map": (read_only_map, np.float64),
    "frame": (lambda: pd.DataFrame(X, columns=NAMES), np.float64),
    "frame of integers and floats": (lambda: pd.DataFrame(X).astype({0: int}), np.float64),
    "nullable frame without NA": (lambda: nullable(False), np.float64),
    "sparse frame": (lambda: pd.DataFrame(X).astype(pd.SparseDtype(float, 0.0)), np.float64),
    "subclass of an array": (lambda: X.view(np.recarray), np.float64),
}
REFUSED = {
    "complex": (lambda: X + 1j, ValueError, "omplex"),
    "strings": (lambda: np.full(X.shape, "a"), ValueError, ""),
    "objects with a dict": (lambda: objects({}), (TypeError, ValueError), ""),
    "objects with a string": (lambda: objects("a"), ValueError, ""),
    "objects with None": (lambda: objects(None), ValueError, "NaN"),
    "masked": (lambda: np.ma.masked_less(X, 0.2), TypeError, "masked"),
    "masked without a mask": (lambda: np.ma.array(X), TypeError, "masked"),
    "nullable frame with NA": (lambda: nullable(True), ValueError, "NaN"),
    "frame with words": (lambda: pd.DataFrame({"a": ["x"] * 15, "b": 1.0}), ValueError, ""),
    "numpy.matrix": (lambda: np.asmatrix(X), TypeError, "matrix"),
    "records": (lambda: np.zeros(15, dtype=[("a", float), ("b", float)]), (TypeError, ValueError), ""),
    "None": (lambda: None, (TypeError, ValueError), ""),
    "a number": (lambda: 3.0, ValueError, ""),
    "a string": (lambda: "digits", TypeError, "path"),
    "a dict": (lambda: {"X": X}, (TypeError, ValueError), ""),
    "a function": (lambda: np.sum, (TypeError, ValueError), ""),
    "rows of different lengths": (lambda: [[1.0, 2.0], [3.0]], ValueError, ""),
}
FRAMES = {
    "columns permuted": lambda frame: frame[NAMES[::-1]],
    "columns renamed": lambda frame: frame.rename(columns={"f0": "g0"}),
    "a column missing": lambda frame: frame[NAMES[1:]],
    "a column more": lambda frame: frame.assign(more=1.0),
}

CASES = [
    *(Case("B", name, make, dtype_of(dtype)) for name, (make, dtype) in ACCEPTED.items()),
    *(Case("B", name, make, Refused(kind, text)) for name, (make, kind, text) in REFUSED.items()),
    *(
        Case("B", f"{name} in new samples", expected=Refused(ValueError, "feature names"), applies=transforms, act=act)
        for name, act in ((name, after_frame(change)) for name, change in FRAMES.items())
    ),
]

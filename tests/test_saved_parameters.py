"""Whatever a parameter accepts as data can be saved, and comes back equal."""

import json
from array import array
from collections import UserList, deque, namedtuple
from dataclasses import fields
from numbers import Integral, Real

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from cases import X
from sklearn import config_context
from sklearn.base import clone
from sklearn.utils._param_validation import Interval, StrOptions, generate_valid_param, make_constraint

from partwise import NMF, Factorization, GraphNMF, NormalizedCut, WeightedNMF, load
from partwise.callbacks.fingerprint import fingerprint
from partwise.domains import Domain, Fixed, Free, RankOne, Sparse
from partwise.files.archive import KINDS
from partwise.files.plain import Packer, Unpacker
from partwise.graphs import SampleGraph
from partwise.persistence import known_classes
from partwise.terms import Frobenius, NeighborGraph
from partwise.testing import all_estimators


class ArrayView(np.ndarray):
    """What a view of AnnData gives for dense data."""


class SparseView(sp.csr_matrix):
    """What a view of AnnData gives for sparse data."""


Pair = namedtuple("Pair", "W H")
DENSE = np.array([[0.0, 1.5], [1.5, 0.0]])
FORMATS = ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")
SPARSE = [getattr(sp, f"{form}_{kind}")(DENSE) for form in FORMATS for kind in ("array", "matrix")] + [
    SparseView(DENSE)
]


def array_likes(folder):
    """What people have arrays in."""
    np.save(folder / "array.npy", DENSE)
    return {
        "array": DENSE,
        "float32 by columns": np.asfortranarray(DENSE, np.float32),
        "big-endian": DENSE.astype(">f8"),
        "integers": DENSE.astype(np.uint8),
        "read-only": np.broadcast_to(1.0, (2, 2)),
        "view": DENSE.view(ArrayView),
        "matrix": DENSE.view(np.matrix),
        "memory map": np.load(folder / "array.npy", mmap_mode="r"),
        "masked": np.ma.array(DENSE),
        "data frame": pd.DataFrame(DENSE, columns=["a", "b"], index=["i", "j"]),
        "lists": DENSE.tolist(),
        "tuples": tuple(map(tuple, DENSE.tolist())),
        "rows": [DENSE[0], pd.Series(DENSE[1])],
    }


LISTS = {
    "list": [2, 3],
    "tuple": (2, 3),
    "range": range(2, 9, 3),
    "array": np.arange(2, 4),
    "numpy numbers": [np.int64(2), np.float32(3)],
    "series": pd.Series([2, 3], name="k"),
    "index": pd.Index([2, 3]),
    "nullable": pd.array([2, 3], dtype="Int64"),
    "categories": pd.Categorical([2, 3]),
    "deque": deque([2, 3]),
    "user's list": UserList([2, 3]),
    "buffer": array("d", [2, 3]),
    "named tuple": Pair(2, 3),
}


def round_trip(value):
    """Through the text of a file."""
    classes = known_classes()
    packer = Packer(classes)
    tree = json.loads(json.dumps(packer.pack(value, "the value")))
    for stored in packer.arrays.values():
        assert type(stored) is np.ndarray
        assert stored.dtype.kind in KINDS
    return Unpacker(packer.arrays, classes).unpack(tree)


def assert_equal(found, given):
    if sp.issparse(given):
        assert found.format in ("csr", "csc")
        assert isinstance(found, sp.sparray) == isinstance(given, sp.sparray)
        np.testing.assert_array_equal(found.toarray(), given.toarray())
    elif isinstance(given, Domain):
        assert type(found) is type(given)
        for field in fields(given):
            assert_equal(getattr(found, field.name), getattr(given, field.name))
    elif isinstance(given, np.random.RandomState):
        assert found.randint(2**31) == given.randint(2**31)
    elif isinstance(given, list | tuple):
        assert isinstance(found, list if isinstance(given, list) else tuple)
        for one, other in zip(found, given, strict=True):
            assert_equal(one, other)
    elif given is None or isinstance(given, bool | np.bool_ | str | Real | range):
        assert found == given
        assert type(found) in (type(given), str)
    else:
        assert type(found) is np.ndarray
        np.testing.assert_array_equal(found, np.asarray(given))


def values_of(constraint, likes):
    """Values that a constraint accepts, in all the types that it accepts them in."""
    if isinstance(constraint, Interval):
        value = generate_valid_param(constraint)
        if constraint.type is Integral:
            return [int(value), np.int32(value), np.uint8(abs(value) % 100)]
        bounds = [bound for bound in (constraint.left, constraint.right) if bound is not None]
        whole = [number for bound in bounds for number in (bound, int(bound) if np.isfinite(bound) else bound)]
        return [float(value), np.float32(value), np.longdouble(value), *whole]
    if isinstance(constraint, StrOptions):
        return [*constraint.options, *map(np.str_, constraint.options)]
    if constraint == "boolean":
        return [True, np.True_]
    if constraint == "verbose":
        return [True, 3, np.int64(2)]
    if constraint == "random_state":
        generators = [np.random.RandomState(5), np.random.RandomState(np.random.PCG64(5))]
        generators[0].standard_normal()  # one of a pair; the other is kept
        return [None, 3, np.int64(3), *generators]
    if constraint == "array-like":
        return [*likes.values(), *LISTS.values()]
    if constraint == "sparse matrix":
        return SPARSE
    if constraint in (list, tuple):
        pairs = [[like, like] for like in [*likes.values(), *SPARSE]]
        return [constraint(value) for value in ([2, 3], [2.5, None], *pairs)]
    if constraint in (range, np.ndarray):
        return [range(2, 5), range(5, 2, -1)] if constraint is range else [np.arange(2, 4), np.geomspace(1, 9, 3)]
    if constraint is None:
        return [None]
    if constraint is str:
        return ["connectivities", np.str_("Größe")]
    if constraint is Domain:
        return [Free(), Sparse(0.5), RankOne((2, 1)), *(Fixed(like, DENSE > 1, Free()) for like in likes.values())]
    assert constraint in (callable, object), f"what does {constraint} accept?"
    return []


def test_every_parameter_of_every_estimator(tmp_path):
    likes, tried = array_likes(tmp_path), set()
    for name, kind in all_estimators().items():
        for parameter, constraints in kind._parameter_constraints.items():
            for constraint in constraints:
                for value in values_of(constraint, likes):
                    text = f"{parameter}={value!r}, {type(value)}"
                    if text in tried or not make_constraint(constraint).is_satisfied_by(value):
                        continue
                    tried.add(text)
                    try:
                        assert_equal(round_trip(value), value)
                    except Exception as error:
                        raise AssertionError(f"{name}({text})") from error
    assert len(tried) > 500


NO_DATA = {
    "function": len,
    "set": {1, 2},
    "bytes": b"bytes",
    "object": object(),
    "complex": np.array([1j]),
    "objects": np.array([object()]),
    "date": np.datetime64("2020-01-01"),
    "dates": np.array([1, np.datetime64("2020-01-01")], object),
    "structure": np.zeros(2, "f4,f4"),
}


@pytest.mark.parametrize("value", NO_DATA.values(), ids=NO_DATA)
def test_what_is_no_data_is_refused(value):
    with pytest.raises(ValueError, match=r"the value is .* only (data|numbers and text) can be saved"):
        round_trip(value)


# --- fits to such data ------------------------------------------------------------------------------------------------

EDGES = np.add.outer(np.arange(70) % 7, -(np.arange(70) % 7)) == 0
START = np.random.RandomState(0).uniform(size=(70, 3)), np.random.RandomState(1).uniform(size=(3, 15))
SHORT = {"max_iter": 5, "random_state": 0}
FITS = {
    "view": (NMF(3, **SHORT), X.view(ArrayView)),
    "sparse view": (NMF(3, **SHORT), SparseView(X)),
    "graph of a view": (GraphNMF(3, **SHORT), X.view(ArrayView)),
    "graph of a sparse view": (GraphNMF(3, **SHORT), SparseView(X)),
    "clusters of a view": (NormalizedCut(3, random_state=0), X.view(ArrayView)),
    "range": (NMF(range(2, 4), **SHORT), X),
    "strengths": (GraphNMF(3, graph_strength=np.array([0, 1]), **SHORT), X),
    "coo": (GraphNMF(3, graph=sp.coo_array(EDGES), **SHORT), X),
    "lil": (GraphNMF(3, graph=sp.lil_matrix(EDGES), **SHORT), X),
    "data frame": (GraphNMF(3, graph=pd.DataFrame(EDGES), **SHORT), X),
    "of all samples": (GraphNMF(3, graph=SampleGraph(X, EDGES), **SHORT), X),
    "weights": (WeightedNMF(3, weights=pd.DataFrame(X > 1), **SHORT), X),
    "sparse weights": (WeightedNMF(3, weights=sp.coo_array(X > 1), **SHORT), X),
    "start": (NMF(3, init=tuple(map(pd.DataFrame, START)), **SHORT), X),
    "list of starts": (NMF(3, init=[START[0].tolist(), START[1].view(ArrayView)], **SHORT), X),
    "terms": (
        Factorization(
            3, terms=[Frobenius(weights=pd.DataFrame(X > 1)), NeighborGraph(2.0, graph=sp.dok_array(EDGES))], **SHORT
        ),
        X,
    ),
    "numpy numbers": (NMF(np.int64(3), tol=np.float32(0.1), max_iter=np.uint8(5), random_state=np.int32(0)), X),
}


@pytest.mark.parametrize("name", FITS)
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::sklearn.exceptions.ConvergenceWarning")
def test_fitted_saved_and_loaded(name, tmp_path):
    estimator, data = FITS[name]
    model = clone(estimator).fit(data)
    model.save(tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.labels_, model.labels_)
    if hasattr(model, "transform"):
        np.testing.assert_array_equal(again.transform(X[:4]), model.transform(X[:4]))
    # The loaded model can be refitted.
    np.testing.assert_allclose(clone(again).fit(data).embedding_, model.embedding_, rtol=1e-6, atol=1e-9)


def test_requests_for_metadata_are_left_out(tmp_path):
    with config_context(enable_metadata_routing=True):
        model = NMF(3, tol=0.1, random_state=0).set_fit_request(sample_weight=True).fit(X)
        model.save(tmp_path / "model.npz")
    np.testing.assert_array_equal(load(tmp_path / "model.npz").embedding_, model.embedding_)


def test_ranges_are_told_apart():
    """By a checkpoint, which belongs to one fit."""
    assert fingerprint(range(2, 4)) != fingerprint(range(2, 5))

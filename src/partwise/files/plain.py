"""Values as plain data and back: a tree that JSON can hold, and arrays beside it.

A value that is not plain is written as a dict with one key that says what it is, ``{"array": "3"}`` or ``{"tuple":
[…]}``. Anything else that holds an array, such as a data frame, becomes that array; a sparse matrix of any format
becomes CSR or CSC. Objects are written as the name of their class and their attributes. They are rebuilt from a given
list of classes by name, without calling anything: a file can only choose among known classes and fill them with data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.indices import check_pointers
from ..core.types import Array
from .archive import KINDS, Refused

Tree = Any
# Deeper than anything that is written; JSON of a thousand brackets would exhaust the stack.
DEEPEST = 60
# Rows or columns of a sparse matrix: each takes memory, even if it is empty.
MOST_LINES = 2**26
GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
SPARSE = {kind.__name__: kind for kind in (sp.csr_array, sp.csc_array, sp.csr_matrix, sp.csc_matrix)}


class Packer:
    """Writes values as plain data, collecting their arrays.

    Parameters
    ----------
    classes : mapping of str to type
        Classes whose objects may be written.

    Attributes
    ----------
    arrays : dict of str to ndarray
        Every array found, once.
    """

    def __init__(self, classes: Mapping[str, type] | None = None):
        self._classes = classes or {}
        self.arrays: dict[str, Array] = {}
        # Arrays that occur twice are written once; the values are kept alive so that no id is reused.
        self._names: dict[int, tuple[str, Any]] = {}

    def pack(self, value: Any, where: str) -> Tree:
        """The tree of a value; `where` names it in messages."""
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return str(value)
        if isinstance(value, np.generic):
            return {"scalar": self._name_of(_stored(np.asarray(value), where))}
        if isinstance(value, Integral):
            return int(value)
        if isinstance(value, Real):
            number = float(value)
            return number if np.isfinite(number) else {"float": repr(number)}
        if isinstance(value, np.dtype):
            return {"dtype": value.str}
        if isinstance(value, range):
            return {"range": [value.start, value.stop, value.step]}
        if isinstance(value, np.ndarray):
            return self._pack_array(value, where)
        if sp.issparse(value):
            return self._pack_sparse(value, where)
        if isinstance(value, list):
            return [self.pack(item, f"{where}[{i}]") for i, item in enumerate(value)]
        if isinstance(value, tuple):
            return {"tuple": [self.pack(item, f"{where}[{i}]") for i, item in enumerate(value)]}
        if isinstance(value, dict):
            return {
                "dict": [[self.pack(key, where), self.pack(item, f"{where}[{key!r}]")] for key, item in value.items()]
            }
        if hasattr(type(value), "for_saving"):
            return self.pack(value.for_saving(), where)
        if isinstance(value, np.random.RandomState):
            return {"random_state": self.pack(value.get_state(legacy=False), where)}
        if self._classes.get(type(value).__name__) is type(value) and hasattr(value, "__dict__"):
            return self._pack_object(value, where)
        if hasattr(value, "__array__") or (isinstance(value, Sequence) and not isinstance(value, bytes | bytearray)):
            return self._pack_array(np.asarray(value), where)
        what = getattr(value, "__name__", type(value).__name__)
        raise ValueError(
            f"{where} is {what!r}, a function or an object that partwise does not know; only data can be saved."
        )

    def _name_of(self, array: Array) -> str:
        known = self._names.get(id(array))
        if known is None:
            name = str(len(self.arrays))
            self.arrays[name] = array
            known = self._names[id(array)] = (name, array)
        return known[0]

    def _pack_array(self, array: Array, where: str) -> Tree:
        if not array.dtype.hasobject:
            return {"array": self._name_of(_stored(array, where))}
        items = array.ravel().tolist()
        if all(isinstance(item, str) for item in items):
            return {"words": [str(item) for item in items], "shape": list(array.shape)}
        if not all(item is None or isinstance(item, bool | str | Real) for item in items):
            raise ValueError(f"{where} is an array of objects; only numbers and text can be saved.")
        numbers = [item.item() if isinstance(item, np.generic) else item for item in items]
        return {"objects": [self.pack(item, where) for item in numbers], "shape": list(array.shape)}

    def _pack_sparse(self, matrix: Any, where: str) -> Tree:
        # Other libraries' views of a matrix have their own classes, derived from these.
        kind = next((name for name, known in SPARSE.items() if isinstance(matrix, known)), None)
        if kind is None:
            return self._pack_sparse(matrix.tocsr(), where)
        parts = [self._name_of(_stored(part, where)) for part in (matrix.data, matrix.indices, matrix.indptr)]
        return {"sparse": kind, "parts": parts, "shape": list(map(int, matrix.shape))}

    def _pack_object(self, value: Any, where: str) -> Tree:
        attributes = {key: self.pack(item, f"{where}.{key}") for key, item in stored_attributes(value).items()}
        return {"object": type(value).__name__, "attributes": attributes}


def _stored(array: Array, where: str) -> Array:
    """The plain array, without the class of a view or a memory map, if its type can be read back."""
    if array.dtype.kind not in KINDS:
        raise ValueError(f"{where} is of dtype {array.dtype}; only numbers and text can be saved.")
    return array if type(array) is np.ndarray else np.asarray(array)


def stored_attributes(value: Any) -> dict[str, Any]:
    """The attributes of an object, without what its cached properties can recompute."""
    kind = type(value)
    return {key: item for key, item in vars(value).items() if not isinstance(getattr(kind, key, None), cached_property)}


class Unpacker:
    """Rebuilds values from plain data, which may come from anywhere.

    Parameters
    ----------
    arrays : mapping of str to ndarray
    classes : mapping of str to type
        Classes whose objects may be built.
    """

    def __init__(self, arrays: Mapping[str, Array], classes: Mapping[str, type] | None = None):
        self._arrays = arrays
        self._classes = classes or {}
        self._makers: dict[str, Callable[[Tree, int], Any]] = {
            "float": lambda tree, depth: float(_text(tree["float"])),
            "array": lambda tree, depth: self._array(tree["array"]),
            "scalar": lambda tree, depth: self._array(tree["scalar"])[()],
            "dtype": lambda tree, depth: _dtype(tree["dtype"]),
            "words": lambda tree, depth: _objects([_text(word) for word in tree["words"]], tree["shape"]),
            "objects": lambda tree, depth: _objects(list(self._items(tree["objects"], depth)), tree["shape"]),
            "range": lambda tree, depth: range(*self._items(tree["range"], depth)),
            "sparse": lambda tree, depth: self._sparse(tree),
            "tuple": lambda tree, depth: tuple(self._items(tree["tuple"], depth)),
            "dict": lambda tree, depth: {
                self.unpack(key, depth): self.unpack(item, depth) for key, item in _pairs(tree["dict"])
            },
            "random_state": lambda tree, depth: random_state_of(self.unpack(tree["random_state"], depth)),
            "object": lambda tree, depth: self._object(tree, depth),
        }

    def unpack(self, tree: Tree, depth: int = 0) -> Any:
        """The value of a tree."""
        if depth > DEEPEST:
            raise Refused("its description is nested too deeply")
        if tree is None or isinstance(tree, bool | int | float | str):
            return tree
        if isinstance(tree, list):
            return list(self._items(tree, depth))
        for kind, make in self._makers.items():
            if kind in tree:
                return make(tree, depth + 1)
        raise Refused("its description names something unknown")

    def _items(self, trees: Any, depth: int) -> Iterator[Any]:
        if not isinstance(trees, list):
            raise Refused("its description is malformed")
        return (self.unpack(tree, depth + 1) for tree in trees)

    def _array(self, name: Any) -> Array:
        if not isinstance(name, str) or name not in self._arrays:
            raise Refused(f"its description names an array {name!r}, which is missing")
        return self._arrays[name]

    def _sparse(self, tree: Tree) -> Any:
        if tree["sparse"] not in SPARSE:
            raise Refused("its description names an unknown kind of sparse matrix")
        return sparse_matrix([self._array(name) for name in tree["parts"]], tree["shape"], kind=SPARSE[tree["sparse"]])

    def _object(self, tree: Tree, depth: int) -> Any:
        kind = self._classes.get(_text(tree["object"]))
        if kind is None:
            raise Refused(f"its description names a class {tree['object']!r}, which this version does not know")
        made: Any = object.__new__(kind)
        made.__dict__.update({_text(key): self.unpack(item, depth) for key, item in tree["attributes"].items()})
        return made


def check_lengths(rows: int, columns: int) -> None:
    """Refuse a sparse matrix, even an empty one, that declares unreasonably many rows or columns."""
    if max(rows, columns) > MOST_LINES:
        raise Refused(f"it declares {rows} rows and {columns} columns, but at most {MOST_LINES} are read")


def sparse_matrix(parts: Any, shape: Any, kind: Any = sp.csr_array) -> Any:
    """A sparse matrix from its data, indices and indptr, all checked: wrong ones crash compiled code."""
    data, indices, indptr = parts
    if any(part.ndim != 1 for part in parts) or indices.dtype.kind != "i" or indptr.dtype.kind != "i":
        raise Refused("the parts of its sparse matrix are not what they should be")
    rows, columns = (int(length) for length in np.ravel(shape))
    compressed = columns if kind in (sp.csc_array, sp.csc_matrix) else rows
    if len(indptr) != compressed + 1 or len(data) != len(indices):
        raise Refused(f"the parts of its sparse matrix do not fit together for shape ({rows}, {columns})")
    try:
        check_pointers(indptr)
        matrix = kind((data, indices, indptr), shape=(rows, columns))
        matrix.check_format(full_check=True)
    except ValueError as error:
        raise Refused(f"its sparse matrix is broken ({error})") from error
    return matrix


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise Refused("its description is malformed")
    return value


def _pairs(items: Any) -> Iterator[tuple[Any, Any]]:
    if not isinstance(items, list) or any(not isinstance(pair, list) or len(pair) != 2 for pair in items):
        raise Refused("its description is malformed")
    return ((key, item) for key, item in items)


def _dtype(name: Any) -> np.dtype[Any]:
    if not isinstance(name, str) or len(name) > 4 or np.dtype(name).kind not in "biuf":
        raise Refused(f"its description names a dtype {name!r}")
    return np.dtype(name)


def _objects(items: list[Any], shape: Any) -> Array:
    if not all(item is None or isinstance(item, bool | int | float | str) for item in items):
        raise Refused("its description is malformed")
    array = np.empty(len(items), object)
    array[:] = items
    return array.reshape(shape)


def random_state_of(state: Any) -> np.random.RandomState:
    """A generator of random numbers that continues from another one's state."""
    generator = state["bit_generator"]
    if generator not in GENERATORS:
        raise Refused(f"its description names a generator of random numbers {generator!r}")
    rng = np.random.RandomState(getattr(np.random, generator)())
    rng.set_state(state)
    return rng

"""Arrays of as many rows as X, which live on workers beside their block of X.

To those who multiply, stretch or add them up they are arrays of numpy. Expressions that go row by row are collected,
and computed where the rows are when a sum over the rows is asked for. `numpy.asarray` brings all rows here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .types import Array

if TYPE_CHECKING:
    from .spread_rows import ClusterRows

UNSUPPORTED = "numpy.{} of codes that live on workers is not available; numpy.asarray(codes) brings them here."


@dataclass(frozen=True, eq=False)
class Leaf:
    """What tasks have given, one for every block: an array, or one of several.

    Attributes
    ----------
    futures : list of distributed.Future
    item : int or None
        Which of several.
    width : int
    dtype : dtype
    whole : Leaf, optional
        The same in parts of several blocks.
    """

    futures: list[Any]
    item: int | None
    width: int
    dtype: np.dtype[Any]
    whole: Leaf | None = None

    @property
    def kind(self) -> tuple[int, np.dtype[Any]]:
        """Its width and type."""
        return self.width, self.dtype


@dataclass(frozen=True, eq=False)
class PerRow:
    """Numbers of this machine, one for every row."""

    values: Array


@dataclass(frozen=True, eq=False)
class Call:
    """A function, row by row."""

    name: str
    parts: tuple[Any, ...]
    options: dict[str, Any] = field(default_factory=dict)


class SpreadRows(np.lib.mixins.NDArrayOperatorsMixin):
    """An array of n rows on workers, or an expression of such arrays.

    Parameters
    ----------
    home : ClusterRows
        The rows of X beside which it lives.
    expression : Leaf or Call
    """

    ndim = 2

    def __init__(self, home: ClusterRows, expression: Leaf | Call):
        self.home = home
        self.expression = expression
        empty = _without_rows(expression)
        self.dtype: np.dtype[Any] = empty.dtype
        self.shape: tuple[int, int] = (home.shape[0], empty.shape[1])

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def size(self) -> int:
        """Number of entries."""
        return self.shape[0] * self.shape[1]

    @property
    def nbytes(self) -> int:
        """Memory on all workers."""
        return self.size * self.dtype.itemsize

    @property
    def T(self) -> _Transposed:
        """For products with other arrays of as many rows."""
        return _Transposed(self)

    def astype(self, dtype: Any, copy: bool = True) -> SpreadRows:
        """In another type."""
        if np.dtype(dtype) == self.dtype:
            return self
        return SpreadRows(self.home, Call("astype", (self.expression, np.dtype(dtype))))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or ufunc.nout != 1 or options.pop("out", None) not in (None, (self,)):
            raise TypeError(UNSUPPORTED.format(f"{ufunc.__name__}.{method}"))
        if ufunc is np.matmul and np.ndim(inputs[0]) == 1:
            return _number(self.home.added(Call("dot", (PerRow(inputs[0]), self.expression))))
        # The right side of a product has a row for every column of the left.
        parts = [self._part(value, ufunc is not np.matmul and getattr(value, "ndim", 0) == 2) for value in inputs]
        return SpreadRows(self.home, Call(ufunc.__name__, tuple(parts), options))

    def _part(self, value: Any, by_rows: bool) -> Any:
        """An operand of an expression; an array of this machine may have a row for every one here."""
        if isinstance(value, SpreadRows):
            return value.expression
        if by_rows and np.ndim(value) and len(value) == len(self) > 1:
            return PerRow(np.asarray(value))
        return value

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        if function is np.einsum:
            return self._einsum(*args, **kwargs)
        if function is np.sum:
            return self.sum(*args[1:], **kwargs)
        if function is np.where:
            return SpreadRows(self.home, Call("where", tuple(self._part(value, True) for value in args)))
        if function in (np.ndim, np.shape):
            return self.ndim if function is np.ndim else self.shape
        raise TypeError(UNSUPPORTED.format(function.__name__))

    def _einsum(self, subscripts: str, *operands: Any, **options: Any) -> Any:
        """Sums over the rows, whose index is "i"."""
        left, _, right = subscripts.partition("->")
        if "i" in right or any(not given.startswith("i") for given in left.split(",")):
            raise TypeError(UNSUPPORTED.format(f"einsum({subscripts!r})"))
        call = Call("einsum", (subscripts, *(self._part(value, True) for value in operands)), options)
        return _number(self.home.added(call))

    def sum(self, axis: int | None = None, dtype: Any = None) -> Any:
        """Over the rows, over all entries, or of every row."""
        if axis == 1:
            return RowSums(self.home, Call("sum", (self.expression,), {"axis": 1, "dtype": dtype}))
        return _number(self.home.added(Call("sum", (self.expression,), {"axis": axis, "dtype": dtype})))

    def mean(self, dtype: Any = None) -> float:
        """Over all entries."""
        return float(self.sum(dtype=dtype)) / self.size

    def all(self) -> bool:
        """Whether every entry is true."""
        return bool(self.min())

    def max(self, axis: int | None = None, initial: float | None = None) -> Any:
        """Over the rows, or over all entries."""
        return self._extreme("maximum", "max", axis, initial)

    def min(self, axis: int | None = None, initial: float | None = None) -> Any:
        """Over the rows, or over all entries."""
        return self._extreme("minimum", "min", axis, initial)

    def _extreme(self, name: str, function: str, axis: int | None, initial: float | None) -> Any:
        if axis not in (0, None):
            raise TypeError(UNSUPPORTED.format(f"{function}(axis={axis})"))
        found = self.home.extreme(name, Call(function, (self.expression,), {"axis": axis}))
        return found if initial is None else getattr(np, name)(found, initial)

    def __getitem__(self, key: Any) -> Array:
        """One column, or some, of all rows, or some rows; here."""
        if isinstance(key, list | np.ndarray) and np.asarray(key).dtype.kind == "i":
            return self.home.taken(self.expression, np.asarray(key))
        if not (isinstance(key, tuple) and len(key) == 2 and key[0] == slice(None)):
            raise TypeError(UNSUPPORTED.format("indexing"))
        column = Call("column", (self.expression, np.atleast_1d(key[1])))
        some = np.asarray(SpreadRows(self.home, column))
        return some[:, 0] if np.ndim(key[1]) == 0 else some

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        out = np.empty(self.shape, self.dtype if dtype is None else dtype)
        for rows, block in zip(self.home.slices, self.home.each(self.expression), strict=True):
            out[rows] = self.home.cluster.results([block])[0]
        return out


class RowSums:
    """A number for every row, to be added up."""

    def __init__(self, home: ClusterRows, expression: Call):
        self._home = home
        self._expression = expression

    def __imul__(self, weights: Array) -> RowSums:
        return RowSums(self._home, Call("multiply", (self._expression, PerRow(weights))))

    def __matmul__(self, values: Array) -> float:
        return float(self._home.added(Call("dot", (self._expression, PerRow(values)))))


class _Transposed:
    """Fᵀ, only for Fᵀ G."""

    def __init__(self, rows: SpreadRows):
        self._rows = rows

    def __matmul__(self, other: Any) -> Array:
        if not isinstance(other, SpreadRows):
            return NotImplemented
        total: Array = self._rows.home.added(Call("gram", (self._rows.expression, other.expression)))
        return total


def _number(value: Any) -> Any:
    return float(value) if np.ndim(value) == 0 else value


def _without_rows(expression: Any) -> Any:
    """The value of an expression of no rows, for its type and width."""
    if isinstance(expression, Leaf):
        return np.empty((0, expression.width), expression.dtype)
    if isinstance(expression, PerRow):
        return expression.values[:0]
    if isinstance(expression, Call):
        parts = [_without_rows(part) for part in expression.parts]
        return called(expression.name, parts, expression.options)
    return expression


@dataclass(frozen=True)
class Place:
    """Where in its arguments a task finds a part of an expression: an argument, or an item of it."""

    argument: int
    item: int | None


def written(expression: Any, slices: list[slice], arguments: list[list[Any]]) -> Any:
    """An expression with places for what differs between blocks, which is added to the lists of arguments."""
    if isinstance(expression, Leaf):
        for number, known in enumerate(arguments):
            if known is expression.futures:
                return Place(number, expression.item)
        arguments.append(expression.futures)
        return Place(len(arguments) - 1, expression.item)
    if isinstance(expression, PerRow):
        arguments.append([expression.values[rows] for rows in slices])
        return Place(len(arguments) - 1, None)
    if isinstance(expression, Call):
        parts = tuple(written(part, slices, arguments) for part in expression.parts)
        return Call(expression.name, parts, expression.options)
    return expression


def evaluated(expression: Any, *arguments: Any) -> Any:
    """The value of a written expression for one block, on its worker."""
    if isinstance(expression, Place):
        return arrived(arguments[expression.argument], expression.item)
    if isinstance(expression, Call):
        parts = [evaluated(part, *arguments) for part in expression.parts]
        return called(expression.name, parts, expression.options)
    return expression


def arrived(given: Any, item: int | None = None) -> Any:
    """What a task is given, or an item of it: aligned in memory, which what came over a network need not be.

    Numpy adds up numbers that are not aligned in another order.
    """
    value = given if item is None else given[item]
    return np.require(value, requirements="A") if isinstance(value, np.ndarray) else value


def evaluated_alone(*arguments: Any, expression: Any) -> tuple[Any]:
    """The same as a tuple, for sums."""
    return (evaluated(expression, *arguments),)


def evaluated_block(*arguments: Any, expression: Any) -> Any:
    """The same as a task."""
    return evaluated(expression, *arguments)


def called(name: str, parts: list[Any], options: dict[str, Any]) -> Any:
    """A function of numpy by its name, or one of three others."""
    if name == "astype":
        return parts[0].astype(parts[1])
    if name == "column":
        return parts[0][:, parts[1]]
    if name == "gram":
        return parts[0].T @ parts[1]
    return getattr(np, name)(*parts, **options)

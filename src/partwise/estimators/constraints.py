"""What a parameter accepts, read from its type: one declaration serves type checkers and the check at run time."""

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from sklearn.utils._param_validation import Interval, StrOptions

from ..selection.grids import Grid

# Types that need an explanation. A bare number is any finite one.
_RULES: dict[Any, list[Any]] = {
    NoneType: [None],
    bool: ["boolean"],
    int: [Interval(Integral, None, None, closed="neither")],
    float: [Interval(Real, None, None, closed="neither")],
    Callable: [callable],
    Sequence: [list, tuple, range],
}


def constraints(hint: Any) -> list[Any]:
    """The constraints, in scikit-learn's words, that a type implies.

    Parameters
    ----------
    hint : type
        The words of a Literal, None, bool, numbers, classes, and unions of these say what they accept. ``Annotated``
        gives it in scikit-learn's words, which replace those of the type: a range of numbers, for example.

    Examples
    --------
    >>> from typing import Literal
    >>> from partwise.estimators.constraints import constraints
    >>> constraints(bool | None)
    ['boolean', None]
    """
    origin = get_origin(hint)
    if origin is Annotated:
        said = [rule for rule in hint.__metadata__ if not isinstance(rule, Grid)]
        return said or constraints(hint.__origin__)
    if origin in (Union, UnionType):
        return [rule for part in get_args(hint) for rule in constraints(part)]
    if origin is Literal:
        return [StrOptions(set(get_args(hint)))]
    kind = origin or hint
    if kind in _RULES:
        return [*_RULES[kind]]
    if isinstance(kind, type):
        return [kind]
    raise TypeError(f"{hint!r} does not say which values it accepts; use Annotated to add a constraint.")


def grid(hint: Any) -> Grid | None:
    """The grid from which "auto" chooses, if the type of a parameter names one."""
    found = (rule for rule in getattr(hint, "__metadata__", ()) if isinstance(rule, Grid))
    return next(found, None)

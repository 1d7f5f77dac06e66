"""Parameters declared once: a line of a class is a parameter with its type, constraint and default."""

import inspect
from dataclasses import dataclass, field, fields
from types import SimpleNamespace
from typing import Any, ClassVar, dataclass_transform, get_origin, get_type_hints

from ..selection.grids import Grid
from .constraints import constraints, grid
from .docstrings import SOURCE, assembled


@dataclass_transform(kw_only_default=True, field_specifiers=(field,))
class Parametrised:
    """Base class of estimators, and of groups of parameters that several of them share.

    A subclass declares its parameters as the fields of a dataclass:

        graph_strength: StrengthOrAuto = "auto"

    is a keyword of the constructor. Its type also says at run time what it accepts (`estimators.constraints`), and
    "auto" chooses from the grid that the type names. A field of a subclass replaces an inherited one; with
    ``field(default=…, init=False)`` it becomes a fixed attribute and is no longer a parameter. Fields of a class come
    before inherited ones in its signature. The docstring of a class documents its own fields, and is completed from
    the classes it derives from (`estimators.docstrings`).

    A class may have its own `__init__` instead, like any estimator of scikit-learn, and its own
    `_parameter_constraints`.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}
    # Parameters that can be "auto" or a list, with the values from which "auto" chooses.
    _selectable: ClassVar[dict[str, Grid]] = {}
    # Whether the constructor was written by hand, here or in a base class.
    _explicit_init: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        setattr(cls, SOURCE, vars(cls).get("__doc__"))
        # Types written as text are resolved here: modules that inherit the fields may not know these names.
        cls.__annotations__ = inspect.get_annotations(cls, eval_str=True)
        declared = _declared(cls)
        cls._explicit_init = "__init__" in vars(cls) or (cls._explicit_init and not declared)
        dataclass(init=not cls._explicit_init, kw_only=True, eq=False, repr=False, match_args=False)(cls)
        if not cls._explicit_init:
            parameters = _parameters(cls)
            _complete(vars(cls)["__init__"], parameters)
            if "_parameter_constraints" not in vars(cls):
                cls._parameter_constraints = {name: constraints(hint) for name, hint in parameters.items()}
            cls._selectable = {name: found for name, hint in parameters.items() if (found := grid(hint))}
        (_, *given) = inspect.signature(cls.__init__).parameters.values()
        cls.__doc__ = assembled(cls, {parameter.name: parameter.default for parameter in given})


def _declared(cls: type) -> list[str]:
    """The names that a class declares as fields; refuses what cannot be a parameter."""
    names = [name for name, hint in cls.__annotations__.items() if ClassVar not in (hint, get_origin(hint))]
    for name in names:
        if name.startswith("_") or name.endswith("_"):
            raise TypeError(
                f"{cls.__name__} annotates {name} in its body, where parameters are declared. Make it a ClassVar, or "
                "annotate it where it is assigned."
            )
    return names


def _parameters(cls: Any) -> dict[str, Any]:
    """Type of every declared parameter: own ones, then those of each base class."""
    kinds = [kind for kind in cls.__mro__ if issubclass(kind, Parametrised)]
    owners = {name: kind for kind in kinds for name in kind.__annotations__}
    types = {entry.name: entry.type for entry in fields(cls) if entry.init}
    first = [entry.name for entry in fields(cls) if entry.init and not entry.kw_only]
    order = [*first, *(name for kind in kinds for name in kind.__annotations__ if owners[name] is kind)]
    return {name: types[name] for name in order if name in types}


def _complete(constructor: Any, parameters: dict[str, Any]) -> None:
    """Give a generated constructor its types and order; a dataclass has inherited fields first."""
    # Without what Annotated adds, which is for `constraints`.
    types = get_type_hints(SimpleNamespace(__annotations__=parameters))
    constructor.__annotations__ = {**types, "return": None}
    given = inspect.signature(constructor).parameters
    ordered = [given["self"], *(given[name] for name in parameters)]
    constructor.__signature__ = inspect.Signature(ordered, return_annotation=None)

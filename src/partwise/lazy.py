"""Names of a package that are imported on first use, so that importing the package takes no time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def importer(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package (PEP 562).

    Parameters
    ----------
    package : str
        Its full name.
    homes : mapping of str to str
        Public names and the modules of the package where they live; a name that ends its own
        home is a module.
    """

    def __getattr__(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(f"{package}.{homes[name]}")
        return module if homes[name].rpartition(".")[2] == name else getattr(module, name)

    return __getattr__

"""How a paper's tables were made, as data: `papers/*.toml`, to be read alongside the paper."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from .printed import Printed, printed_numbers


class UnknownPaper(ValueError):
    """A paper, table or method that no protocol has."""


@dataclass(frozen=True)
class DataPlan:
    """How a data set is used.

    Attributes
    ----------
    name : str
        As in the tables.
    data : str
        As in `partwise.datasets`.
    classes : int
        The number of all classes.
    prepare : tuple of str
        Steps, in order: functions of `preparation.STEPS`.
    first : int, optional
        Only the first samples.
    every : int, default=1
        Only one in this many samples of each class.
    """

    name: str
    data: str
    classes: int
    prepare: tuple[str, ...] = ()
    first: int | None = None
    every: int = 1


@dataclass(frozen=True)
class FigurePlan:
    """How scores depend on parameters, as in a figure of the paper; nothing is chosen from its runs.

    Attributes
    ----------
    values : mapping
        Lists of values for the parameters that vary; single values for others that differ from the tables' runs.
    n_clusters : mapping of str to list of int
        Where: numbers of clusters, by data set of the tables.
    """

    values: Mapping[str, Any]
    n_clusters: Mapping[str, list[int]]


@dataclass(frozen=True)
class MethodPlan:
    """How a method is run.

    Attributes
    ----------
    name : str
        As in the tables.
    estimator : str
        Name in `partwise`, or "KMeans".
    parameters : mapping
        Of the estimator; "none" stands for None.
    grid : mapping of str to list
        Parameters over which the best mean is taken, separately for every cell, as in the paper.
    on : mapping of str to mapping
        Parameters that differ on some data set of the tables.
    start : str, optional
        Name of a start in `starts.STARTS`, if the estimator does not have it.
    labels : str, optional
        Name of a rule in `starts.LABELS`, if clusters are not those of the estimator.
    labelled : int
        Samples of each class whose label the method may see.
    prepare : tuple of str
        Further steps after those of the data set.
    aliases : tuple of str
        Other names of it in the paper.
    figure : FigurePlan, optional
        The paper's figure of its parameters.
    version : int, default=1
        Raised when the code gives other results for the same run: results of earlier versions no longer count.
    """

    name: str
    estimator: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, list[Any]] = field(default_factory=dict)
    on: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    start: str | None = None
    labels: str | None = None
    labelled: int = 0
    prepare: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    figure: FigurePlan | None = None
    version: int = 1

    def settings(self, dataset: str, drawn: bool = False) -> list[dict[str, Any]]:
        """All parameter settings on a data set: one, or the points of the grid; or those of the figure."""
        own = {**self.parameters, **self.grid, **self.on.get(dataset, {})}
        if drawn and self.figure is not None:
            own |= self.figure.values
        grid = {name: value for name, value in own.items() if isinstance(value, list)}
        fixed = {name: value for name, value in own.items() if not isinstance(value, list)}
        points = itertools.product(*grid.values())
        settings = [{**fixed, **dict(zip(grid, point, strict=True))} for point in points]
        return [{name: None if value == "none" else value for name, value in s.items()} for s in settings]


@dataclass(frozen=True)
class Protocol:
    """A paper's experiments.

    Attributes
    ----------
    paper : str
        As in the tables of printed numbers.
    citation : str
    own_methods : tuple of str
        Those that the paper proposes.
    repeats : int
        Draws of classes; where all classes are used, there is one draw and repeats differ by their random start.
    full_repeats : int
        How many the paper made where all classes are used: often one. Ours are then ten starts, since one is noise.
    grid_repeats : int
        Draws on which grids are compared; the best settings get all repeats. The papers use grid_repeats = repeats.
    datasets : mapping of str to DataPlan
    methods : mapping of str to MethodPlan
        In the order of the tables; "partwise" is the paper's own method with this library's defaults.
    numbers : tuple of Printed
        What the paper prints.
    """

    paper: str
    citation: str
    own_methods: tuple[str, ...]
    repeats: int
    full_repeats: int
    grid_repeats: int
    datasets: Mapping[str, DataPlan]
    methods: Mapping[str, MethodPlan]
    numbers: tuple[Printed, ...]


@cache
def paper_names() -> dict[str, str]:
    """Papers that have a protocol: the name of the file, and the name in the tables."""
    folder = files(__package__).joinpath("papers")
    found = sorted(path.name.removesuffix(".toml") for path in folder.iterdir() if path.name.endswith(".toml"))
    return {name: tomllib.loads(folder.joinpath(f"{name}.toml").read_text("utf-8"))["paper"] for name in found}


def load_protocol(name: str) -> Protocol:
    """The protocol of a paper.

    Parameters
    ----------
    name : str
        One of :func:`paper_names`, in any case.

    Examples
    --------
    >>> from partwise.experiments import load_protocol
    >>> load_protocol("gnmf").repeats
    50
    """
    if name.lower() not in paper_names():
        raise UnknownPaper(f"there is no protocol of a paper {name!r}, the known ones are: {', '.join(paper_names())}")
    text = files(__package__).joinpath("papers", f"{name.lower()}.toml").read_text("utf-8")
    content = tomllib.loads(text)
    return parse_protocol(content, printed_numbers(content["paper"]))


def parse_protocol(content: Mapping[str, Any], numbers: Iterable[Printed]) -> Protocol:
    """A protocol from the contents of its file and the paper's numbers."""
    return Protocol(
        paper=content["paper"],
        citation=content["citation"],
        own_methods=tuple(content["own_methods"]),
        repeats=content["repeats"],
        full_repeats=content["full_repeats"],
        grid_repeats=content["grid_repeats"],
        datasets={plan["name"]: DataPlan(**_tuples(plan)) for plan in content["datasets"]},
        methods={plan["name"]: _method(plan) for plan in content["methods"]},
        numbers=tuple(numbers),
    )


def _method(plan: Mapping[str, Any]) -> MethodPlan:
    figure = FigurePlan(**plan["figure"]) if "figure" in plan else None
    return MethodPlan(**{**_tuples(plan), "figure": figure})


def _tuples(plan: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in plan.items()}

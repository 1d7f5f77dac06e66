"""Which runs a protocol needs, and in which order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .. import datasets
from .journal import Journal
from .preparation import seed
from .printed import Printed
from .protocol import MethodPlan, Protocol, UnknownPaper
from .runs import Run, is_available

DEFAULTS = "partwise"
# Where all classes are used, runs differ only by their start; a paper's single one is noise.
FULL_STARTS = 10


@dataclass(frozen=True)
class Place:
    """Where methods are compared: a data set and a number of clusters."""

    dataset: str
    n_clusters: int


@dataclass(frozen=True)
class Plan:
    """The part of a protocol to run.

    Attributes
    ----------
    protocol : Protocol
    table, method : str, optional
        Only this table, only this method.
    repeats : int, optional
        At most this many.
    first_draw : int, default=0
        The number of the first draw; another one gives classes and starts that no earlier run has seen.
    one_in : int, default=1
        Only about one in this many cells, always the same ones, and no averages.
    """

    protocol: Protocol
    table: str | None = None
    method: str | None = None
    repeats: int | None = None
    first_draw: int = 0
    one_in: int = 1

    def __post_init__(self) -> None:
        tables = list(dict.fromkeys(number.table for number in self.protocol.numbers))
        if self.table is not None and self.table not in tables:
            raise UnknownPaper(f"{self.protocol.paper} has no table {self.table!r}, it has: {', '.join(tables)}")
        if self.method is not None and self.method not in self.protocol.methods:
            known = ", ".join(self.protocol.methods)
            raise UnknownPaper(f"{self.protocol.paper} has no method {self.method!r}, it has: {known}")

    @cached_property
    def numbers(self) -> tuple[Printed, ...]:
        """The printed numbers in question."""
        return tuple(
            number
            for number in self.protocol.numbers
            if self.table in (None, number.table)
            and self.method in (None, DEFAULTS, number.method)
            and self.takes(number.dataset, number.n_clusters, number.method)
        )

    def takes(self, dataset: str, n_clusters: int | None, method: str) -> bool:
        """Whether a cell is among one in so many; all metrics of it are, or none."""
        if self.one_in == 1:
            return True
        name = (self.protocol.paper, dataset, n_clusters, method, "one in")
        return n_clusters is not None and seed(*name) % self.one_in == 0

    @cached_property
    def places(self) -> dict[Place, tuple[str, ...]]:
        """Where something is measured, and the metrics there."""
        found: dict[Place, dict[str, None]] = {}
        for number in self.numbers:
            if number.n_clusters is not None:
                found.setdefault(Place(number.dataset, number.n_clusters), {})[number.metric] = None
        return {place: tuple(metrics) for place, metrics in found.items()}

    @property
    def methods(self) -> list[MethodPlan]:
        """The methods in question."""
        return [plan for name, plan in self.protocol.methods.items() if self.method in (None, name)]

    def is_here(self, dataset: str) -> bool:
        """Whether a data set is available without a download."""
        name = self.protocol.datasets[dataset].data
        return name not in datasets.CATALOGUE or datasets.find(name) is not None

    @cached_property
    def absent(self) -> dict[str, str]:
        """Data sets that are not available, and how to get them."""
        found = {}
        for name in {place.dataset for place in self.places}:
            try:
                datasets.load(self.protocol.datasets[name].data)
            except datasets.DataSetError as error:
                found[name] = str(error)
        return found

    def draws(self, place: Place) -> range:
        """The draws of a cell: as many as the paper has, but at least ten starts where all classes are used."""
        full = self._is_full(place)
        wanted = max(self.protocol.full_repeats, FULL_STARTS) if full else self.protocol.repeats
        return range(self.first_draw, self.first_draw + min(self.repeats or wanted, wanted))

    def grid_draws(self, place: Place) -> range:
        """Those on which the settings of a grid are compared."""
        return self.draws(place)[: self.protocol.grid_repeats]

    def printed_repeats(self, place: Place) -> int:
        """Runs behind a printed number."""
        return self.protocol.full_repeats if self._is_full(place) else self.protocol.repeats

    def _is_full(self, place: Place) -> bool:
        return place.n_clusters == self.protocol.datasets[place.dataset].classes

    def run(self, place: Place, method: MethodPlan, setting: Mapping[str, Any], draw: int) -> Run:
        """One of the runs."""
        data = self.protocol.datasets[place.dataset]
        return Run(self.protocol.paper, data, place.n_clusters, draw, method, setting)

    def grid_runs(self) -> Iterator[Run]:
        """Runs that do not depend on others: all settings on a few draws, draw by draw, so that all cells grow."""
        for draw in self._all_draws():
            for place, method in self._pairs():
                if draw in self.grid_draws(place):
                    for setting in method.settings(place.dataset):
                        yield self.run(place, method, setting, draw)

    def further_runs(self, journal: Journal) -> Iterator[Run]:
        """All other draws, with the best settings."""
        chosen = {
            (place, method.name): _distinct(self.best_settings(journal, place, method).values())
            for place, method in self._pairs()
        }
        for draw in self._all_draws():
            for place, method in self._pairs():
                if draw in self.draws(place) and draw not in self.grid_draws(place):
                    for setting in chosen[place, method.name]:
                        yield self.run(place, method, setting, draw)

    def figure_places(self, method: MethodPlan) -> list[Place]:
        """Where a figure of the paper shows a method over its parameters."""
        if method.figure is None or self.table is not None or self.one_in > 1:
            return []
        return [Place(dataset, k) for dataset, numbers in method.figure.n_clusters.items() for k in numbers]

    def figure_runs(self) -> Iterator[Run]:
        """Runs that are only drawn: one draw of every point of a figure."""
        for method in self.methods:
            for place in self.figure_places(method):
                if place.dataset not in self.absent and is_available(method):
                    for setting in method.settings(place.dataset, drawn=True):
                        yield self.run(place, method, setting, self.first_draw)

    def best_settings(self, journal: Journal, place: Place, method: MethodPlan) -> dict[str, dict[str, Any]]:
        """The setting with the best mean, for every metric; empty if none has been run.

        A single setting needs no search. While a grid is being run, the settings begun so far are compared, on the
        draws that all of them have.
        """
        settings = method.settings(place.dataset)
        metrics = self.places[place]
        if len(settings) == 1:
            return dict.fromkeys(metrics, settings[0])
        draws = [
            [journal.scores(self.run(place, method, setting, draw)) for setting in settings]
            for draw in self.grid_draws(place)
        ]
        begun = [j for j, scores in enumerate(draws[0]) if scores is not None]
        if not begun:
            return {}
        rows = [[draw[j] for j in begun] for draw in draws]
        whole = [[scores for scores in row if scores is not None] for row in rows if None not in row]
        means = {metric: np.mean([[s.get(metric, np.nan) for s in row] for row in whole], axis=0) for metric in metrics}
        return {metric: settings[begun[int(np.argmax(mean))]] for metric, mean in means.items()}

    def _all_draws(self) -> range:
        return range(self.first_draw, max((self.draws(place).stop for place in self.places), default=self.first_draw))

    def _pairs(self) -> Iterator[tuple[Place, MethodPlan]]:
        for place in self.places:
            if place.dataset not in self.absent:
                yield from ((place, method) for method in self.methods if self._is_run(place, method))

    def _is_run(self, place: Place, method: MethodPlan) -> bool:
        return is_available(method) and self.takes(place.dataset, place.n_clusters, method.name)


def _distinct(settings: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for setting in settings:
        if setting not in found:
            found.append(setting)
    return found

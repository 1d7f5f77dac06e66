"""The methods of the papers' tables, by their names there.

The same letters may mean different things: "CNMF" is constrained in one paper and convex in another, and what two of
the papers call NMF is weighted. So a method is looked up by its paper and its name. Settings are those of the papers'
protocols (`experiments/papers/*.toml`), with which their tables are reproduced.

>>> from partwise import methods
>>> methods.method("CNMF", paper="RLS-NMF")
Method(paper='RLS-NMF', name='Convex-NMF', estimator='ConvexNMF')
>>> model = methods.method("GNMF", paper="GNMF")(10, random_state=0)
>>> model.graph_strength, model.n_neighbors, model.max_iter
(10.0, 5, 100)
>>> methods.names("CNMF")
['NMF', 'GNMF', 'NTF', 'SemiGNMF', 'CNMF']
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ..selection.grids import fixed_strengths
from .paper_starts import STARTS
from .plan import DEFAULTS
from .protocol import MethodPlan, load_protocol, paper_names
from .runs import find_estimator

# Parameters that turn an estimator into another method; all others say how, how long or how strongly it is run.
KIND = ("weighting", "use_labels")


@dataclass(frozen=True, repr=False)
class Method:
    """A method as one paper uses it; call it with a number of components to get an estimator.

    Attributes
    ----------
    paper : str
        The paper whose tables contain it.
    name : str
        Its name there.
    estimator : str
        The class in `partwise`; "KMeans" is scikit-learn's.
    settings : mapping
        Parameters of the estimator that are the same on all data sets of the paper. Where the paper searches a grid,
        or uses other values on other data, the estimator keeps its default; strengths that it would choose are 10, or
        0.1 for local coordinates.
    aliases : tuple of str
        Other names of it in the same paper.
    start : str, optional
        The paper's start, if the estimator does not have it: see :meth:`starting_point`.
    """

    paper: str
    name: str
    estimator: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    aliases: tuple[str, ...] = ()
    start: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", MappingProxyType(dict(self.settings)))

    def __repr__(self) -> str:
        return f"Method(paper={self.paper!r}, name={self.name!r}, estimator={self.estimator!r})"

    def __call__(self, n_components: int, **changes: Any) -> Any:
        """An estimator with the paper's settings.

        Parameters
        ----------
        n_components : int
            Number of components or clusters.
        **changes
            Other or further parameters: `random_state`, `sample_shape`, …
        """
        # A strength that the paper varies is a fixed number too, not chosen automatically.
        kind = self.estimator_class
        return kind(n_components, **{**fixed_strengths(kind), **self.settings, **changes})

    def starting_point(self, X: Any, n_components: int, seed: int = 0) -> Any:
        """The `init` for the paper's start on these data, if it has its own start.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        n_components : int
        seed : int

        Returns
        -------
        init : tuple of (W, H), or None if the settings name the start
        """
        return None if self.start is None else STARTS[self.start](X, n_components, seed, self.settings)

    @property
    def estimator_class(self) -> Any:
        """The class of the estimator."""
        return find_estimator(self.estimator)

    @property
    def meaning(self) -> tuple[str, tuple[tuple[str, Any], ...]]:
        """What distinguishes methods: the class and its variant, not how it is run."""
        return self.estimator, tuple((name, self.settings[name]) for name in KIND if name in self.settings)


def _of_protocols() -> Iterator[Method]:
    for file, paper in paper_names().items():
        for name, plan in load_protocol(file).methods.items():
            if name != DEFAULTS:
                yield Method(paper, name, plan.estimator, _settings(plan), plan.aliases, plan.start)


def _settings(plan: MethodPlan) -> dict[str, Any]:
    """Those of all data sets."""
    elsewhere = {*plan.grid}.union(*plan.on.values())
    return {
        name: None if value == "none" else value for name, value in plan.parameters.items() if name not in elsewhere
    }


METHODS: tuple[Method, ...] = (
    *_of_protocols(),
    # Methods that the papers cite but do not compare with.
    Method("Hoyer", "NMF-SC", "SparsenessNMF", {"init": "random"}),
    Method("Li", "LNMF", "LocalNMF", {"init": "random"}),
    Method("Cai 2011", "LCCF", "ConceptFactorization"),
)


def papers() -> list[str]:
    """The papers, by their short names."""
    return list(dict.fromkeys(entry.paper for entry in METHODS))


def names(paper: str) -> list[str]:
    """The methods of one paper, in the order of its tables.

    Parameters
    ----------
    paper : str
        One of :func:`papers`.
    """
    return [entry.name for entry in METHODS if _same(entry.paper, _known_paper(paper))]


def method(name: str, paper: str | None = None) -> Method:
    """Find a method by the name that a paper gives it.

    Parameters
    ----------
    name : str
        As in the paper's tables; case, blanks, hyphens and underscores do not matter.
    paper : str, optional
        One of :func:`papers`. It may be left out if all papers mean the same by the name; the settings are then those
        of the paper named after the method, or else of the first that has it.

    Returns
    -------
    method : Method

    Raises
    ------
    ValueError
        If there is no such method, or if papers mean different things by the name.
    """
    within = None if paper is None else _known_paper(paper)
    found = [
        entry
        for entry in METHODS
        if any(_same(name, known) for known in (entry.name, *entry.aliases))
        and (within is None or _same(entry.paper, within))
    ]
    if not found:
        where = "any paper" if within is None else f"the paper {within!r}"
        known = sorted({entry.name for entry in METHODS}) if within is None else names(within)
        raise ValueError(f"There is no method {name!r} in {where}; there are {', '.join(known)}.")
    if len({entry.meaning for entry in found}) > 1:
        choices = "; ".join(f"in {entry.paper!r} it is {_describe(entry)}" for entry in found)
        raise ValueError(
            f"{name!r} means different things: {choices}. Say which paper, for example paper={found[0].paper!r}."
        )
    own = [entry for entry in found if _same(entry.paper, entry.name)]
    return (own or found)[0]


def _describe(entry: Method) -> str:
    estimator, kind = entry.meaning
    return f"{estimator}({', '.join(f'{name}={value!r}' for name, value in kind)})"


def _known_paper(paper: str) -> str:
    for known in papers():
        if _same(known, paper):
            return known
    raise ValueError(f"There is no paper {paper!r}; there are {', '.join(papers())}.")


def _same(a: str, b: str) -> bool:
    return _letters(a) == _letters(b)


def _letters(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter not in " -_")

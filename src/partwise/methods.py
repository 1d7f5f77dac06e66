"""The methods of the papers' tables, by the names they have there.

The same letters may mean different things: "CNMF" is constrained in one paper and convex in another, and what two of
the papers call NMF is weighted. So a method is looked up by its paper and its name.

>>> from partwise import methods
>>> methods.method("CNMF", paper="RLS-NMF")
Method(paper='RLS-NMF', name='Convex-NMF', estimator='ConvexNMF')
>>> model = methods.method("GNMF", paper="GNMF")(10, random_state=0)
>>> model.graph_strength, model.n_neighbors, model.max_iter
(10.0, 5, 100)
>>> methods.names("CNMF")
['NMF', 'NTF', 'GNMF', 'SemiGNMF', 'CNMF']
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

# How the papers run a factorisation: multiplicative rules from a random start, a fixed number of sweeps.
RULES = {"solver": "multiplicative", "init": "random", "tol": 0}


@dataclass(frozen=True, repr=False)
class Method:
    """A method as one paper uses it; call it with a number of components to get an estimator.

    Attributes
    ----------
    paper : str
        The paper in whose tables it stands.
    name : str
        Its name there.
    estimator : str
        The class in `partwise`; "KMeans" is scikit-learn's.
    settings : mapping
        Parameters that say which method it is.
    protocol : mapping
        Parameters that say how the paper runs it: solver, start, sweeps, label rule. Where a paper searches a grid,
        the estimator's default stands.
    aliases : tuple of str
        Other names of it in the same paper.
    """

    paper: str
    name: str
    estimator: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    protocol: Mapping[str, Any] = field(default_factory=dict)
    aliases: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", MappingProxyType(dict(self.settings)))
        object.__setattr__(self, "protocol", MappingProxyType(dict(self.protocol)))

    def __repr__(self) -> str:
        return f"Method(paper={self.paper!r}, name={self.name!r}, estimator={self.estimator!r})"

    def __call__(self, n_components: int, **changes: Any) -> Any:
        """An estimator with the paper's settings.

        Parameters
        ----------
        n_components : int
            Number of components or clusters.
        **changes
            Parameters to set otherwise, or besides: `random_state`, `sample_shape`, …
        """
        parameters = {**self.settings, **self.protocol, **changes}
        if self.estimator == "KMeans":
            return self.estimator_class(n_clusters=n_components, **parameters)
        return self.estimator_class(n_components, **parameters)

    @property
    def estimator_class(self) -> Any:
        """The class of the estimator."""
        if self.estimator == "KMeans":
            from sklearn.cluster import KMeans

            return KMeans
        import partwise

        return getattr(partwise, self.estimator)

    @property
    def meaning(self) -> tuple[str, tuple[tuple[str, Any], ...]]:
        """What tells methods apart: the class and the settings, not how long it is run."""
        return self.estimator, tuple(sorted(self.settings.items()))


def _kmeans(paper: str) -> Method:
    return Method(paper, "Kmeans", "KMeans", protocol={"n_init": 20}, aliases=("K-means",))


_GNMF = {"graph_strength": 10.0, "n_neighbors": 5}
_BY_ARGMAX = {**RULES, "assign": "argmax"}

METHODS: tuple[Method, ...] = (
    # Cai, He & Han 2008: 100 sweeps, k-means on the codes.
    _kmeans("GNMF"),
    Method("GNMF", "LSI+Kmeans", "LatentSemanticKMeans", aliases=("LSI+K-means",)),
    Method("GNMF", "NMF", "NMF", {"weighting": "ncut"}, {**RULES, "max_iter": 100}),
    Method("GNMF", "GNMF", "GraphNMF", _GNMF, {**RULES, "max_iter": 100}),
    # Gu & Zhou 2009: 200 sweeps, clusters by the largest entry, strengths and neighbourhoods by grid search.
    _kmeans("LLNMF"),
    Method("LLNMF", "NC", "NormalizedCut", protocol={"edge_weights": "heat"}),
    Method("LLNMF", "LLC", "LocalLearningClustering"),
    Method("LLNMF", "NMF", "NMF", {}, {**_BY_ARGMAX, "max_iter": 200}),
    Method("LLNMF", "Semi-NMF", "SemiNMF", {}, {"max_iter": 200, "tol": 0, "assign": "argmax"}, ("SNMF",)),
    Method("LLNMF", "ONMTF", "OrthogonalTriNMF", {}, {"max_iter": 200, "tol": 0, "assign": "argmax"}),
    Method("LLNMF", "GNMF", "GraphNMF", _GNMF, {**_BY_ARGMAX, "max_iter": 200}),
    Method(
        "LLNMF",
        "LLNMF",
        "LocalLearningNMF",
        {"scale": "codes"},
        {"init": "random", "max_iter": 200, "tol": 0, "assign": "argmax"},
    ),
    # Chen et al. 2013: clusters by the largest entry.
    _kmeans("NLCF"),
    Method("NLCF", "NMF", "NMF", {}, {**_BY_ARGMAX, "max_iter": 500}),
    Method("NLCF", "NMF-SC", "SparsenessNMF", {}, {"init": "random", "max_iter": 500, "tol": 0, "assign": "argmax"}),
    Method("NLCF", "NLCF", "LocalCoordinateNMF", {}, {**_BY_ARGMAX, "max_iter": 1000}),
    Method("NLCF", "NLCF-G", "LocalCoordinateNMF", {"graph_strength": 10.0}, {**_BY_ARGMAX, "max_iter": 1000}),
    # Liu & Wu 2010: 200 sweeps, k-means on the codes.
    Method("CNMF", "NMF", "NMF", {"weighting": "ncut"}, {**RULES, "max_iter": 200}),
    Method("CNMF", "NTF", "TensorNMF", {}, {"init": "random", "max_iter": 200, "tol": 0}),
    Method("CNMF", "GNMF", "GraphNMF", _GNMF, {**RULES, "max_iter": 200}),
    Method("CNMF", "SemiGNMF", "GraphNMF", {**_GNMF, "use_labels": True}, {**RULES, "max_iter": 200}),
    Method("CNMF", "CNMF", "ConstrainedNMF", {}, {**RULES, "max_iter": 200}),
    # Hou & Peng: 200 sweeps, k-means on the codes.
    Method("RLS-NMF", "NMF", "NMF", {}, {**RULES, "max_iter": 200}),
    Method("RLS-NMF", "Convex-NMF", "ConvexNMF", {}, {"max_iter": 200, "tol": 0}, ("CNMF",)),
    Method("RLS-NMF", "ONMF", "OrthogonalNMF", {}, {"max_iter": 200, "tol": 0, "assign": "kmeans"}),
    Method("RLS-NMF", "WNMF", "WeightedNMF", {}, {**RULES, "max_iter": 200}),
    Method("RLS-NMF", "Semi-NMF", "SemiNMF", {}, {"max_iter": 200, "tol": 0}),
    Method("RLS-NMF", "TCNMF", "CauchyNMF", {}, {"init": "random", "max_iter": 200, "tol": 0}),
    Method("RLS-NMF", "KOGNMF", "KernelGraphNMF", {}, {"max_iter": 200, "tol": 0}),
    Method("RLS-NMF", "RLS-NMF", "LocalSimilarityNMF", {}, {"init": "kmeans", "max_iter": 200, "tol": 0}),
    # Methods that the papers cite and do not compare with.
    Method("Hoyer", "NMF-SC", "SparsenessNMF", {}, {"init": "random"}),
    Method("Li", "LNMF", "LocalNMF", {}, {"init": "random"}),
    Method("Cai 2011", "LCCF", "ConceptFactorization"),
)


def papers() -> list[str]:
    """The papers, by their short names."""
    return list(dict.fromkeys(entry.paper for entry in METHODS))


def names(paper: str) -> list[str]:
    """The methods of one paper, in the order of its tables."""
    return [entry.name for entry in METHODS if _same(entry.paper, _known_paper(paper))]


def method(name: str, paper: str | None = None) -> Method:
    """Find a method by the name that a paper gives it.

    Parameters
    ----------
    name : str
        As in the paper's tables; case, blanks, hyphens and underscores do not matter.
    paper : str, optional
        One of :func:`papers`. It may be left out if all papers mean the same by the name; the settings are then those
        of the paper that is called after the method, or else of the first that has it.

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
    given = ", ".join(f"{name}={value!r}" for name, value in entry.settings.items())
    return f"{entry.estimator}({given})"


def _known_paper(paper: str) -> str:
    for known in papers():
        if _same(known, paper):
            return known
    raise ValueError(f"There is no paper {paper!r}; there are {', '.join(papers())}.")


def _same(a: str, b: str) -> bool:
    return _letters(a) == _letters(b)


def _letters(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter not in " -_")

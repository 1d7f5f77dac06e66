"""Write docs/methods.md, the page of all methods, from the estimators themselves.

    python -m docs.methods

What a method accepts is read from its tags, its parameters and the signature of `fit`; its objective is the formula at
the top of its docstring. Papers and costs are listed here.
"""

from __future__ import annotations

import inspect
import textwrap
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils._param_validation import StrOptions

from partwise.estimators.base import BaseFactorization
from partwise.experiments.methods import METHODS
from partwise.selection.grids import fixed_strengths
from partwise.testing import all_estimators

PAGE = Path(__file__).with_name("methods.md")

HEAD = """\
# All methods

Written by `python -m docs.methods` from the estimators; do not edit.

X is n × m with samples in rows, W the codes (n × k), H the components (k × m). Every estimator has `fit`, `embedding_`
and `labels_`. Costs are per sweep (codes, then components); T is the cost of one product of X with a matrix of k
columns: n m k for dense X, nnz(X) k for sparse X. No method makes a sparse X dense.

"""

COLUMNS = (
    ("estimator", ":--"),
    ("paper", ":--"),
    ("solvers", ":--"),
    ("sparse X", ":-:"),
    ("signed X", ":-:"),
    ("missing entries", ":-:"),
    ("weights", ":--"),
    ("labels", ":-:"),
    ("new samples", ":-:"),
    ("cost per sweep", ":--"),
)

# The paper of every method, and what a sweep costs.
PAPERS_AND_COSTS = {
    "CauchyNMF": (
        "Guan et al. 2019",
        "5 n m k, and the weights of n m entries",
    ),
    "ConceptFactorization": (
        "Cai, He & Han 2011; Xu & Gong 2004",
        "about 53 T + edges · k (9 T multiplicative)",
    ),
    "ConstrainedNMF": (
        "Liu & Wu 2010",
        "2 T on one row per class and unlabelled sample",
    ),
    "ConvexNMF": (
        "Ding, Li & Jordan 2010",
        "about 28 T (6 T multiplicative)",
    ),
    "Factorization": (
        "any sum of terms",
        "2 T + what the terms add",
    ),
    "GraphNMF": (
        "Cai, He & Han 2008",
        "2 T + edges · k (up to (k + 3) T with missing entries)",
    ),
    "GroupNMF": (
        "after Yang & Michailidis 2016; Welch et al. 2019",
        "2 T with all components of all groups (4 T for divergences)",
    ),
    "KernelGraphNMF": (
        "Tolić, Antulov-Fantulin & Kopriva 2018",
        "about 28 T + edges · k (6 T multiplicative), T with the kernel's features",
    ),
    "LatentSemanticKMeans": (
        "Deerwester et al. 1990",
        "once: about 10 T",
    ),
    "LocalCoordinateNMF": (
        "Chen, Zhang, Cai, Liu & He 2013",
        "2 T (+ edges · k)",
    ),
    "LocalLearningClustering": (
        "Wu & Schölkopf 2006",
        "once: neighbours, and k eigenvectors of a sparse n × n matrix",
    ),
    "LocalLearningNMF": (
        "Gu & Zhou 2009",
        "2 T + nnz(L) · k",
    ),
    "LocalNMF": (
        "Li et al. 2001",
        "4 T over the entries that are stored",
    ),
    "LocalSimilarityNMF": (
        "Hou & Peng",
        "about 31 T (8 T multiplicative)",
    ),
    "NMF": (
        "Lee & Seung 1999, 2001; Févotte & Idier 2011; Xu, Liu & Gong 2003 (weighting)",
        "2 T (4 T for divergences; up to (k + 3) T with missing entries)",
    ),
    "NormalizedCut": (
        "Shi & Malik 2000",
        "once: neighbours, and k eigenvectors of a sparse n × n matrix",
    ),
    "OrthogonalNMF": (
        "Ding, Li, Peng & Park 2006; Pompili et al. 2014",
        "T + nnz(X) (2 T multiplicative)",
    ),
    "OrthogonalTriNMF": (
        "Ding, Li, Peng & Park 2006",
        "2 T",
    ),
    "SemiNMF": (
        "Ding, Li & Jordan 2010",
        "2 T + (n + m) k²",
    ),
    "SparsenessNMF": (
        "Hoyer 2004",
        "2 T + 8 (n + m) k² + sorting",
    ),
    "TensorNMF": (
        "Shashua & Hazan 2005",
        "2 T + 4 m k for every axis",
    ),
    "WeightedNMF": (
        "Kim & Choi 2009",
        "(k + 3) T over the entries that count (2 T without weights)",
    ),
}


def page() -> str:
    """The whole page."""
    estimators = all_estimators()
    parts = [HEAD, _table(COLUMNS, [_row(name, kind) for name, kind in estimators.items()])]
    parts.append("\n## Objectives\n")
    parts += [_section(name, kind) for name, kind in estimators.items()]
    parts.append(
        "\n## Names in the papers\n\n`partwise.methods.method(name, paper)` gives these, with the paper's settings.\n\n"
    )
    named = [entry for entry in METHODS if entry.estimator == "KMeans" or entry.estimator in estimators]
    header = (("paper", ":--"), ("name", ":--"), ("estimator", ":--"))
    parts.append(
        _table(header, [[entry.paper, " or ".join((entry.name, *entry.aliases)), _call(entry)] for entry in named])
    )
    return "".join(parts)


def _table(columns: tuple[tuple[str, str], ...], rows: list[list[str]]) -> str:
    lines = [[name for name, _ in columns], [rule for _, rule in columns], *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def _row(name: str, kind: type[Any]) -> list[str]:
    paper, cost = PAPERS_AND_COSTS[name]
    model = kind()
    tags, parameters = get_tags(model), model.get_params()
    return [
        f"[{name}](#{name.lower()})",
        paper,
        _solvers(kind),
        _mark(tags.input_tags.sparse),
        _mark(not tags.input_tags.positive_only),
        _mark("missing" in parameters),
        _weights(kind, parameters),
        _mark(_uses_labels(kind, parameters)),
        _mark(hasattr(model, "transform")),
        cost,
    ]


def _mark(yes: bool) -> str:
    return "yes" if yes else "–"


def _solvers(kind: type[Any]) -> str:
    """The solvers to choose from; if there is no choice, the one that a fit reports."""
    for rule in kind._parameter_constraints.get("solver", []):
        if isinstance(rule, StrOptions):
            return ", ".join(sorted(rule.options - {"auto"}))
    X = np.random.RandomState(0).uniform(size=(12, 6))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(kind(2).fit(X), "solver_", "scikit-learn" if _wraps(kind) else "eigenvectors")


def _wraps(kind: type[Any]) -> bool:
    """Whether scikit-learn does the work: the class says so in its first lines."""
    return "scikit-learn" in (kind.__doc__ or "").split("Parameters")[0]


def _weights(kind: type[Any], parameters: dict[str, Any]) -> str:
    found = ["samples"] if "sample_weight" in inspect.signature(kind.fit).parameters else []
    if "weights" in parameters:
        found.append("entries")
    return ", ".join(found) or "–"


def _uses_labels(kind: type[Any], parameters: dict[str, Any]) -> bool:
    overrides = issubclass(kind, BaseFactorization) and kind._labels is not BaseFactorization._labels
    return "use_labels" in parameters or overrides


def _section(name: str, kind: type[Any]) -> str:
    summary, formulas = _top(kind)
    return f"\n### {name}\n\n{summary}\n\n```text\n{formulas}\n```\n"


def _top(kind: type[Any]) -> tuple[str, str]:
    """The first sentence of a docstring, and the formulas before its parameters."""
    text = inspect.cleandoc(kind.__doc__ or "").split("\nParameters\n")[0]
    blocks = [block for block in text.split("\n\n") if block.startswith("    ")]
    if not blocks:
        raise ValueError(f"The docstring of {kind.__name__} has no formula before its parameters.")
    return text.split("\n")[0], "\n\n".join(textwrap.dedent(block).strip("\n") for block in blocks)


def _call(entry: Any) -> str:
    fixed = {} if entry.estimator == "KMeans" else fixed_strengths(entry.estimator_class)
    given = {**fixed, **entry.settings}
    return f"`{entry.estimator}({', '.join(f'{name}={value!r}' for name, value in given.items())})`"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"Wrote {PAGE}.")

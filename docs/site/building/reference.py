"""Pages of the API reference, written before the others are read: every public name of every room is on one of them."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import partwise

FOLDER = Path(__file__).resolve().parents[1] / "api"
# The methods of the papers that the package is about, and the one for any sum of terms.
FIRST = (
    *("NMF", "GraphNMF", "ConstrainedNMF", "LocalLearningNMF", "LocalCoordinateNMF", "LocalSimilarityNMF"),
    "Factorization",
)
FUNCTIONS = ("from_anndata", "load", "to_anndata")
OTHERS = tuple(name for name in partwise.__all__ if name not in (*FIRST, *FUNCTIONS, "__version__"))
# Pages by file: a title, and parts, each with a heading or a sentence, a module, and its names (None: all public ones).
PAGES: dict[str, tuple[str, tuple[tuple[str, str, tuple[str, ...] | None], ...]]] = {
    "estimators": (
        "Estimators",
        (
            ("The methods of the papers, and `Factorization` for any sum of terms:", "partwise", FIRST),
            ("The methods that papers compare with:", "partwise", OTHERS),
            ("## Models on disk", "partwise", ("load",)),
            ("## AnnData", "partwise", ("from_anndata", "to_anndata")),
            ("## Warnings", "partwise.exceptions", None),
        ),
    ),
    "terms": (
        "Terms and domains",
        (
            ("## Terms", "partwise.terms", None),
            ("## Matrices that couple samples", "partwise.core.rows", ("Cliques", "Diagonal", "Links")),
            ("## Domains", "partwise.domains", None),
        ),
    ),
    "graphs": ("Graphs", (("", "partwise.graphs", None),)),
    "selection": ("Selection", (("", "partwise.selection", None),)),
    "plots": ("Plots", (("", "partwise.plots", None),)),
    "metrics": ("Metrics", (("", "partwise.metrics", None),)),
    "callbacks": ("Callbacks", (("", "partwise.callbacks", None),)),
    "blocks": ("Data on disk", (("", "partwise.blocks", None),)),
    "data": (
        "Data, pages and papers",
        (
            ("## Data sets", "partwise.datasets", None),
            ("## Pages", "partwise.report", None),
            ("## Comparisons and protocols", "partwise.experiments", None),
            ("## Methods by their names in the papers", "partwise.experiments.methods", ("method", "names", "papers")),
        ),
    ),
    "solvers": (
        "Solvers and testing",
        (
            (
                "## Problems as values",
                "partwise.solvers",
                ("Minimum", "Options", "Problem", "Result", "solve", "solve_many"),
            ),
            ("## Checks", "partwise.testing", ("all_estimators", "check_term")),
        ),
    ),
}


def write() -> None:
    """Write the pages that have changed."""
    for file, (title, parts) in PAGES.items():
        text = "\n".join([f"# {title}\n", *(_part(*part) for part in parts)])
        path = FOLDER / f"{file}.md"
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def public_names(module: str) -> list[str]:
    """What a module offers: its list, or the classes that it has imported or defined."""
    loaded = import_module(module)
    return list(getattr(loaded, "__all__", None) or [name for name in vars(loaded) if name[0].isupper()])


def _part(heading: str, module: str, names: tuple[str, ...] | None) -> str:
    lines = "".join(f"   {name}\n" for name in (public_names(module) if names is None else names))
    return (
        f"{heading}\n\n```{{eval-rst}}\n.. currentmodule:: {module}\n\n"
        f".. autosummary::\n   :toctree: generated\n\n{lines}```\n"
    )

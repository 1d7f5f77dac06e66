"""The site's table of speed, from the results of a full run: python -m benchmarks.summary."""

from __future__ import annotations

from . import table

PLAIN = {
    "NMF, MNIST, 10 components": ("nmf-mnist-10-float64", "nmf-mnist-10-float32"),
    "NMF, MNIST, 50 components": ("nmf-mnist-50-float64", "nmf-mnist-50-float32"),
    "the same from a sampled start": ("nmf-mnist-sampled-float64", "nmf-mnist-sampled-float32"),
    "NMF, TDT2, 50 components": ("nmf-tdt2-peers", "nmf-tdt2-gensim"),
    "the same to 1.01 of the best objective": ("nmf-tdt2", "nmf-tdt2-float32"),
}
PENALISED = {
    "GraphNMF, strength 1": ("graph-coil20-1", "graph-mnist-1", "graph-tdt2-1"),
    "GraphNMF, strength 100": ("graph-coil20-100", "graph-mnist-100", "graph-tdt2-100"),
    "ConstrainedNMF": ("constrained-coil20", "constrained-mnist", None),
    "LocalLearningNMF": ("local-learning", "local-learning-mnist", None),
    "LocalCoordinateNMF": ("local-coordinate", "local-coordinate-mnist", None),
}
PEERS = ("scikit-learn cd", "scikit-learn mu", "MiniBatchNMF", "torchnmf", "gensim")


def lines(rows):
    """Two tables: plain NMF against other libraries, and penalised methods against the papers' rules."""
    figures = {(row.name, row.against, row.case.rpartition(" after ")[2]): row.figure for row in rows}
    by_peer = {(name, against): figure for (name, against, _), figure in figures.items()}
    yield f"| float64 / float32 | {' | '.join(PEERS)} |"
    yield "|---|" + "---|" * len(PEERS)
    for label, names in PLAIN.items():
        cells = [_cell([by_peer.get((name, peer)) for name in names]) for peer in PEERS]
        yield f"| {label} | {' | '.join(cells)} |"
    yield ""
    yield "| against the papers' rules | COIL20 | MNIST | TDT2 |"
    yield "|---|---|---|---|"
    for label, names in PENALISED.items():
        marks = ("200 sweeps", "1000 sweeps") if label.startswith("Graph") else ("500 sweeps",)
        cells = [_cell([figures.get((name, "multiplicative", mark)) for mark in marks]) for name in names]
        yield f"| {label}, after {' / '.join(mark.split()[0] for mark in marks)} sweeps | {' | '.join(cells)} |"


def _cell(figures):
    known = [figure for figure in figures if figure == figure and figure is not None]
    return " / ".join(f"{figure:.2g}×" if figure < 10 else f"{figure:.0f}×" for figure in known)


if __name__ == "__main__":
    print("\n".join(lines(table.read("full"))))

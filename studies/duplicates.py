"""Components that repeat others under a strong graph: why, how often, and what "auto" does about it.

    python -m studies.duplicates            # the tables and the picture of docs/duplicates.md
    python -m studies.duplicates rules      # one of picture, halves, shares, rules

The objectives before and after merging two halves of a component, and the picture, use scikit-learn's digits. The
shares of distinct components and the rules of choice come from paths through the strengths, on draws of
`studies.selection` (`PARTWISE_DATA` names the folder of the data sets).
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from sklearn.datasets import load_digits
from sklearn.preprocessing import normalize

from partwise import GraphNMF
from partwise.metrics import clustering_accuracy, distinct_components
from partwise.selection import choice
from partwise.selection.trials import Trials

from .selection import METHODS, draw
from .selection_report import DOCS, write

PAGE, FIGURE = DOCS / "duplicates.md", DOCS / "images" / "duplicates.png"
SETS = ("tdt2", "reuters", "newsgroup4", "coil20", "digits", "orl32")
DRAWS = 15
N_COMPONENTS = 20
# Losses by the criteria accepted for distinct components: none, the margin in use, and more.
MARGINS = (0.0, choice.ABOUT_AS_GOOD, 0.1, 0.3)
SHOWN = (1.0, 10.0, 100.0, 1000.0)


def halves(X, strength=100.0):
    """Lines of a table: the objective of a fit, and of the same with its two most similar components merged."""
    model = GraphNMF(N_COMPONENTS, graph_strength=strength, random_state=0).fit(X)
    W, H = model.embedding_, model.components_
    i, j = np.unravel_index(np.argmax(np.triu(H @ H.T, 1)), (N_COMPONENTS, N_COMPONENTS))
    merged = np.delete(W, j, axis=1)
    merged[:, i] += W[:, j]
    yield "| | components | fit | graph | objective |"
    yield "|---|---|---|---|---|"
    for name, codes, parts in (("as the fit ends", W, H), ("halves merged", merged, np.delete(H, j, axis=0))):
        again = GraphNMF(len(parts), graph_strength=strength, init=(codes, parts), max_iter=1, tol=0).fit(X)
        terms = [again.history_[key][0] for key in ("fit", "graph", "objective")]
        yield f"| {name} | {len(parts)} | " + " | ".join(f"{term:.3f}" for term in terms) + " |"
    cosines = [float(a @ b / np.linalg.norm(a) / np.linalg.norm(b)) for a, b in ((H[i], H[j]), (W[:, i], W[:, j]))]
    yield f"\nThe two have cosine {cosines[0]:.6f}, their codes {cosines[1]:.6f}."


def follow_path(name, repeat, n_components=None):
    """The rows of trials of GraphNMF along its strengths, and the accuracy of each."""
    X, y = draw(name, repeat)
    recipe = GraphNMF(n_components or int(y.max()) + 1, random_state=repeat)
    trials = Trials(recipe.problem(X))
    rows = choice.follow(trials, "graph_strength", (0.0, *METHODS["GraphNMF"][2]), {})
    return rows, np.array([[clustering_accuracy(y, trial.labels) for trial in row] for row in rows])


def rules():
    """Lines of a table: accuracy and share of distinct components of the pick, by the loss accepted for them."""
    yield "| may be lost: accuracy / distinct | " + " | ".join(f"{margin:g}" for margin in MARGINS) + " |"
    yield "|" + "---|" * (len(MARGINS) + 1)
    found = []
    for name in SETS:
        picked = []
        for repeat in range(DRAWS):
            rows, accuracy = follow_path(name, repeat)
            loss = choice.losses(rows, rows)
            share = np.array([[trial.distinct / trial.factors[0].shape[1] for trial in row] for row in rows])
            places = [choice.best_place(loss, share, margin) for margin in MARGINS]
            picked.append([(100 * accuracy[place], share[place]) for place in places])
        found.append(np.mean(picked, axis=0))
        yield f"| {name} | {_cells(found[-1])} |"
    yield f"| **mean** | {_cells(np.mean(found, axis=0))} |"


def _cells(pairs):
    return " | ".join(f"{accuracy:.1f} / {share:.2f}" for accuracy, share in pairs)


def shares():
    """Lines of a table: distinct components among 20, by strength, and for the chosen one."""
    strengths = METHODS["GraphNMF"][2]
    yield (
        f"| of {N_COMPONENTS} components distinct | " + " | ".join(f"{value:g}" for value in strengths) + ' | "auto" |'
    )
    yield "|" + "---|" * (len(strengths) + 2)
    for name in SETS:
        counts = []
        for repeat in range(2):
            X, _ = draw(name, repeat)
            models = [
                GraphNMF(N_COMPONENTS, graph_strength=strength, random_state=repeat).fit(X)
                for strength in (*strengths, "auto")
            ]
            counts.append([distinct_components(model.components_) for model in models])
        yield f"| {name} | " + " | ".join(f"{count:g}" for count in np.mean(counts, axis=0)) + " |"


def picture(X, shape=(8, 8)):
    """All components at rising strengths; those that repeat an earlier one stand beside it, underlined."""
    from matplotlib.figure import Figure

    from partwise.metrics.distinct import repeats
    from partwise.plots import picture_bytes
    from partwise.plots.canvas import INK, MUTED

    figure = Figure(figsize=(10, 3.1), dpi=144, layout="constrained")
    panels = figure.subplots(len(SHOWN), N_COMPONENTS, squeeze=False)
    for row, strength in zip(panels, SHOWN, strict=True):
        H = GraphNMF(N_COMPONENTS, graph_strength=strength, random_state=0).fit(X).components_
        H = H[_grouped(H)]
        again = repeats(H, 0.9)
        for panel, part, repeated in zip(row, H, again, strict=True):
            panel.imshow(part.reshape(shape), cmap="Greys", interpolation="nearest")
            panel.set_xticks([])
            panel.set_yticks([])
            for side, spine in panel.spines.items():
                spine.set_visible(repeated and side == "bottom")
                spine.set_color(INK)
                spine.set_linewidth(2)
        row[0].set_ylabel(f"{strength:g}", size=8, color=MUTED, rotation=0, labelpad=14, va="center")
        row[-1].yaxis.set_label_position("right")
        row[-1].set_ylabel(f"{int((~again).sum())} distinct", size=8, color=MUTED, rotation=0, labelpad=26, va="center")
    figure.suptitle(
        "Twenty components of digits by graph_strength; underlined: repeats one before it", size=9, color=INK
    )
    FIGURE.write_bytes(picture_bytes(figure))


def _grouped(H):
    """An order in which each component is followed by those like it."""
    left, order = list(range(len(H))), []
    while left:
        first = left.pop(0)
        alike = [j for j in left if H[first] @ H[j] > 0.9]
        order += [first, *alike]
        left = [j for j in left if j not in alike]
    return order


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    digits = normalize(load_digits().data)
    parts = {"picture": lambda: picture(digits), "halves": lambda: halves(digits), "shares": shares, "rules": rules}
    for part in sys.argv[1:] or parts:
        lines = parts[part]()
        if lines is not None:
            write(f"duplicates.py, {part},", "\n".join(lines), PAGE)

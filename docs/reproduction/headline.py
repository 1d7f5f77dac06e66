"""Draw docs/images/headline.png: every paper's own method as printed, as reproduced, and with this library's defaults.

    python -m docs.reproduction

Accuracy from ``results/*.csv``, mean over the paper's numbers of clusters. Data sets of which not all were measured are
left out.
"""

from pathlib import Path

import numpy as np

from partwise.experiments import load_protocol, paper_names, read_cells
from partwise.experiments.plan import DEFAULTS
from partwise.experiments.printed import AVERAGE
from partwise.plots import picture_bytes
from partwise.plots.canvas import INK, MUTED, RULE, SHADES

HERE = Path(__file__).resolve().parent
RESULTS, PICTURE = HERE.parents[1] / "results", HERE.parent / "images" / "headline.png"
ROW, GAP = 1.0, 0.8


def accuracies(name):
    """{(own method, data set): (printed, reproduced, defaults)} of a paper."""
    protocol = load_protocol(name)
    cells = [cell for cell in read_cells(RESULTS / f"{name}.csv") if cell.metric == "accuracy"]
    known = {(cell.method, cell.dataset, cell.n_clusters): cell for cell in cells if cell.n_clusters != AVERAGE}
    method = protocol.own_methods[0]
    found = {}
    for dataset in protocol.datasets:
        pairs = [
            (cell, known.get((DEFAULTS, dataset, k)))
            for (of, on, k), cell in known.items()
            if (of, on) == (method, dataset)
        ]
        if pairs and all(cell.mean is not None and ours and ours.mean is not None for cell, ours in pairs):
            whole = [(cell.printed_mean, cell.mean, ours.mean) for cell, ours in pairs]
            found[method, dataset] = tuple(np.mean(whole, axis=0))
    return found


def draw(found):
    """One line per data set, one paper below another."""
    from matplotlib.figure import Figure

    from_top, places, titles = 0.0, [], []
    for paper in found:
        titles.append(from_top)
        places.append([from_top + ROW * (j + 1) for j in range(len(found[paper]))])
        from_top = places[-1][-1] + ROW + GAP
    figure = Figure(figsize=(7.2, 0.21 * from_top + 0.9), dpi=160, layout="constrained")
    axes = figure.subplots()
    looks = (
        ("printed in the paper", dict(facecolor="white", edgecolor=MUTED, linewidth=1.3, s=44)),
        ("reproduced", dict(color=SHADES[2], s=40)),
        ("partwise's defaults, no tuning", dict(color=INK, s=40, marker="D")),
    )
    for (paper, lines), title, rows in zip(found.items(), titles, places, strict=True):
        axes.text(0, title, paper, transform=axes.get_yaxis_transform(), size=9, weight="bold", color=INK, va="center")
        values = np.array(list(lines.values()))
        axes.hlines(rows, values.min(axis=1), values.max(axis=1), color=RULE, linewidth=2, zorder=1)
        for j, (label, look) in enumerate(looks):
            axes.scatter(values[:, j], rows, label=label if title == 0 else None, zorder=2 + j, **look)
    axes.set_yticks(
        [row for rows in places for row in rows], [on for lines in found.values() for _, on in lines], size=8
    )
    axes.set_ylim(from_top - GAP, -ROW)
    axes.set_xlim(right=100.5)
    axes.set_xlabel("clustering accuracy, %", size=9, color=MUTED)
    axes.tick_params(colors=MUTED, labelsize=8, left=False)
    axes.grid(axis="x", color=RULE, linewidth=0.5)
    axes.set_axisbelow(True)
    for side, spine in axes.spines.items():
        spine.set_visible(side == "bottom")
        spine.set_color(RULE)
    figure.legend(loc="outside upper center", ncols=3, fontsize=8, frameon=False)
    return figure


def all_accuracies():
    """The same by paper, without papers of which nothing was measured."""
    found = {paper: accuracies(name) for name, paper in paper_names().items()}
    return {paper: lines for paper, lines in found.items() if lines}


def main():
    """Draw what there is."""
    PICTURE.write_bytes(picture_bytes(draw(all_accuracies())))


if __name__ == "__main__":
    main()

"""The tables and the figure of docs/selection.md, from the rows of `selection_study`."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np

FIGURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "selection.png"
METHODS = ("GraphNMF", "LocalLearningNMF", "LocalCoordinateNMF")
COLUMNS = ("best by labels", "auto", "best fixed", "NMF", "k-means")


def report(rows, sets, held_out):
    """Print a table per method and score, and draw the losses."""
    losses = {}
    for method in METHODS:
        for score in ("accuracy", "nmi"):
            table, repeats, fixed = summary(rows, sets, method, score)
            if not table:
                continue
            print(f"\n### {method}, {score} in %\n")
            print("| data | repeats | " + " | ".join(COLUMNS) + " | auto − best | auto − NMF | best in every draw |")
            print("|" + "---|" * (len(COLUMNS) + 5))
            for name, line in table.items():
                shown = f"*{name}*" if name in held_out else name
                cells = [f"{line[column]:.1f}" for column in COLUMNS]
                gaps = f"{line['auto'] - line['best by labels']:+.1f} | {line['auto'] - line['NMF']:+.1f}"
                print(f"| {shown} | {repeats[name]} | " + " | ".join(cells) + f" | {gaps} | {line['oracle']:.1f} |")
            mean = {column: np.mean([line[column] for line in table.values()]) for column in (*COLUMNS, "oracle")}
            cells = " | ".join(f"**{mean[column]:.1f}**" for column in COLUMNS)
            gaps = f"{mean['auto'] - mean['best by labels']:+.1f} | {mean['auto'] - mean['NMF']:+.1f}"
            print(f"| **mean** | | {cells} | {gaps} | {mean['oracle']:.1f} |")
            print(f"\nBest fixed strength: {fixed}.{cost(rows, table, method)}")
            if score == "accuracy":
                losses[method] = {n: (line["auto"] - line["best by labels"], line) for n, line in table.items()}
    draw(losses, held_out)


def summary(rows, sets, method, score):
    """Means over the repeats in which everything was run: {set: {column: mean}}, repeats per set, best fixed value."""
    values = defaultdict(dict)
    for row in rows:
        if row["method"] in (method, "NMF", "k-means"):
            kind = row["strength"] or row["method"]
            values[row["data"], int(row["repeat"])][kind] = 100 * float(row[score])
    kinds = set().union(*(found for found in values.values()))
    complete = {key: found for key, found in values.items() if set(found) == kinds and "auto" in found}
    strengths = sorted(kinds - {"auto", "k-means"}, key=lambda kind: 0 if kind == "NMF" else float(kind))
    table, repeats = {}, {}
    for name in sets:
        draws = [found for (data, _), found in complete.items() if data == name]
        if draws:
            repeats[name] = len(draws)
            table[name] = {kind: float(np.mean([found[kind] for found in draws])) for kind in kinds}
            table[name]["best by labels"] = max(table[name][kind] for kind in strengths)
            table[name]["oracle"] = float(np.mean([max(found[kind] for kind in strengths) for found in draws]))
    fixed = max(strengths, key=lambda kind: np.mean([line[kind] for line in table.values()])) if table else ""
    for line in table.values():
        line["best fixed"] = line[fixed]
    return table, repeats, "0" if fixed == "NMF" else fixed


def cost(rows, sets, method):
    """What "auto" took, in fits with a fixed strength, over the sets."""
    seconds = defaultdict(list)
    for row in rows:
        if row["method"] == method:
            seconds[row["data"], row["strength"] == "auto"].append(float(row["seconds"]))
    ratios = {name: np.mean(seconds[name, True]) / np.mean(seconds[name, False]) for name in sets}
    most, median = max(ratios, key=ratios.get), np.median(list(ratios.values()))
    return f" Cost of auto in such fits: median {median:.1f}, most {ratios[most]:.1f} ({most})."


def draw(losses, held_out):
    """Per method, what auto and the best fixed strength and NMF lose against the best by labels."""
    from matplotlib.figure import Figure

    from partwise.report import picture_bytes
    from partwise.report.canvas import INK, MUTED, RULE, SHADES

    figure = Figure(figsize=(10, 1 + 0.21 * max(map(len, losses.values()))), dpi=144, layout="constrained")
    panels = figure.subplots(1, len(losses), squeeze=False, sharey=True)[0]
    for panel, (method, found) in zip(panels, losses.items(), strict=True):
        places = np.arange(len(found))[::-1]
        shades = {"NMF": SHADES[1], "best fixed": SHADES[2], "auto": INK}
        for column, shade in shades.items():
            gaps = [line[column] - line["best by labels"] for _, line in found.values()]
            panel.scatter(gaps, places, color=shade, s=22, label=column, zorder=3)
        panel.axvline(0, color=MUTED, linewidth=0.8)
        panel.axvline(-4, color=RULE, linewidth=0.8, linestyle="--")
        panel.set_yticks(places, [f"{name} (kept out)" if name in held_out else name for name in found], size=7)
        panel.set_title(method, size=9, color=INK)
        panel.set_xlabel("points of accuracy against best by labels", size=8, color=MUTED)
        panel.tick_params(labelsize=7, colors=MUTED)
        for spine in panel.spines.values():
            spine.set_color(RULE)
        panel.grid(axis="y", color=RULE, linewidth=0.4)
    panels[0].legend(fontsize=7, frameon=False, loc="lower left")
    FIGURE.write_bytes(picture_bytes(figure))

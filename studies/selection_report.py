"""The tables and the figure of docs/selection.md, from the rows of `selection`."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE, FIGURE = DOCS / "selection.md", DOCS / "images" / "selection.png"
COSTS = Path(__file__).resolve().parents[1] / "benchmarks" / "results" / "full.csv"
# Parts of the page that scripts write.
BEGIN, END = "<!-- Written by studies/{} --report -->\n", "<!-- Written by hand again -->\n"
METHODS = ("GraphNMF", "LocalLearningNMF", "LocalCoordinateNMF")
NEIGHBORS = "GraphNMF, n_neighbors"
# The strengths that were defaults before "auto", as the rows spell them.
NUMBERS = {"GraphNMF": "10.0", "LocalLearningNMF": "10.0", "LocalCoordinateNMF": "0.1"}
COLUMNS = ("best by labels", "auto", "best fixed", "NMF", "k-means")
MOST_LOST, MOST_BELOW_NMF = 4, 1


def report(rows, sets, held_out):
    """Write the tables into the page, and draw the losses."""
    parts, lines = [], []
    tables = {method: summary(rows, sets, method, "accuracy") for method in (*METHODS, NEIGHBORS)}
    tables = {method: found for method, found in tables.items() if found[0]}
    for method, (table, repeats, fixed) in tables.items():
        parts += [f"### {method}\n", *accuracies(table, repeats, held_out)]
        means = [
            f"{column} {np.mean([line[column] for line in summary(rows, sets, method, 'nmi')[0].values()]):.1f}"
            for column in COLUMNS
        ]
        parts.append(f"\nBest fixed value: {fixed}. Mean NMI: {', '.join(means)}.\n")
        lines.append(in_short(method, table))
    write("selection.py", "\n".join([*parts, "### In short\n", *lines]))
    write("selection.py, costs,", "\n".join(costs(COSTS)))
    write("selection.py, defaults,", "\n".join(against_numbers(rows)))
    draw({method: tables[method][0] for method in METHODS}, held_out)


def costs(path):
    """The lines of the table of costs, from the rows that the benchmarks keep."""
    with path.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["name"].startswith("auto-")]
    yield "| left open | data | single fits | CPU time | of a single fit |"
    yield "|---|---|---|---|---|"
    for row in rows:
        _, data, method, parameter = row["name"].split("-")
        figure, low, high = (float(row[key]) for key in ("figure", "low", "high"))
        seconds = " | ".join(f"{float(row[key]):.2g} s" for key in ("ours", "theirs"))
        yield f"| `{parameter}` of `{method}` | {data} | {figure:.1f} ({low:.1f}–{high:.1f}) | {seconds} |"


def against_numbers(rows):
    """The lines of a table: what "auto" gains and costs compared with the numbers that were the defaults before it."""
    yield "| | against | gained: mean | least | most | cost: median | worst |"
    yield "|---|---|---|---|---|---|---|"
    for method, number in NUMBERS.items():
        runs = defaultdict(dict)
        for row in rows:
            if row["method"] == method and row["strength"] in ("auto", number):
                runs[row["data"], row["repeat"]][row["strength"]] = row
        gains, ratios = defaultdict(list), defaultdict(list)
        for (name, _), found in runs.items():
            if len(found) == 2:
                gains[name].append(100 * (float(found["auto"]["accuracy"]) - float(found[number]["accuracy"])))
                ratios[name].append(float(found["auto"]["seconds"]) / float(found[number]["seconds"]))
        gain, cost = _by_set(gains, np.mean), _by_set(ratios, np.median)
        mean, median = np.mean([value for value, _ in gain]), np.median([value for value, _ in cost])
        least, most, worst = gain[0], gain[-1], cost[-1]
        yield (
            f"| `{method}` | {number} | {mean:+.1f} points | {least[0]:+.1f} (`{least[1]}`) | {most[0]:+.1f} "
            f"(`{most[1]}`) | {median:.1f} fits | {worst[0]:.1f} (`{worst[1]}`) |"
        )


def _by_set(values, summary):
    """(value, set) in rising order."""
    return sorted((float(summary(found)), name) for name, found in values.items())


def write(script, text, page=PAGE):
    """Replace the part of the page that a script wrote last."""
    before, begin, rest = page.read_text().partition(BEGIN.format(script))
    page.write_text(f"{before}{begin}\n{text}\n\n{END}{rest.partition(END)[2]}")


def accuracies(table, repeats, held_out):
    """The lines of a table, with the mean of all sets at the end."""
    yield "| accuracy in % | repeats | " + " | ".join(COLUMNS) + " | auto − best | auto − NMF | best in every draw |"
    yield "|" + "---|" * (len(COLUMNS) + 5)
    mean = {column: np.mean([line[column] for line in table.values()]) for column in (*COLUMNS, "oracle")}
    for name, line in {**table, "mean": mean}.items():
        mark = "**" if name == "mean" else "*" if name in held_out else ""
        cells = " | ".join(f"{line[column]:.1f}" for column in COLUMNS)
        gaps = " | ".join(
            f"{line['auto'] - line[other]:+.1f}" + (f" ± {line['± ' + other]:.1f}" if "± " + other in line else "")
            for other in ("best by labels", "NMF")
        )
        yield f"| {mark}{name}{mark} | {repeats.get(name, '')} | {cells} | {gaps} | {line['oracle']:.1f} |"


def in_short(method, table):
    """What a table says about the goals of the study."""
    lost = {name: line["best by labels"] - line["auto"] for name, line in table.items()}
    below = {name: line["NMF"] - line["auto"] for name, line in table.items()}
    means = ", ".join(
        f"{column} {np.mean([line[column] - line['best by labels'] for line in table.values()]):+.1f}"
        for column in ("auto", "best fixed", "NMF")
    )
    far, under = (
        ", ".join(f"`{name}` ({gap:.1f} ± {table[name]['± ' + other]:.1f})" for name, gap in gaps.items() if gap > most)
        or "no set"
        for other, gaps, most in (("best by labels", lost, MOST_LOST), ("NMF", below, MOST_BELOW_NMF))
    )
    return (
        f'- **{method}**, on average against the best by labels: {means}. "auto" loses more than {MOST_LOST} points on '
        f"{far}; it is more than {MOST_BELOW_NMF} point below plain NMF on {under}."
    )


def summary(rows, sets, method, score):
    """Means over the repeats in which everything was run: {set: {column: mean}}, repeats per set, best fixed value.

    The gains of "auto" over others come with standard errors.
    """
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
            best = max(strengths, key=table[name].__getitem__)
            table[name]["best by labels"] = table[name][best]
            table[name]["oracle"] = float(np.mean([max(found[kind] for kind in strengths) for found in draws]))
            for column, other in (("best by labels", best), ("NMF", "NMF")):
                gaps = [found["auto"] - found[other] for found in draws]
                table[name][f"± {column}"] = float(np.std(gaps) / max(len(gaps) - 1, 1) ** 0.5)
    fixed = max(strengths, key=lambda kind: np.mean([line[kind] for line in table.values()])) if table else ""
    for line in table.values():
        line["best fixed"] = line[fixed]
    return table, repeats, "0" if fixed == "NMF" else fixed


def draw(tables, held_out):
    """Per method, what auto and the best fixed strength and NMF lose against the best by labels."""
    from matplotlib.figure import Figure

    from partwise.plots import picture_bytes
    from partwise.plots.canvas import INK, MUTED, RULE, SHADES

    figure = Figure(figsize=(10, 1 + 0.21 * max(map(len, tables.values()))), dpi=144, layout="constrained")
    panels = figure.subplots(1, len(tables), squeeze=False, sharey=True)[0]
    for panel, (method, found) in zip(panels, tables.items(), strict=True):
        places = np.arange(len(found))[::-1]
        shades = {"NMF": SHADES[1], "best fixed": SHADES[2], "auto": INK}
        for column, shade in shades.items():
            gaps = [line[column] - line["best by labels"] for line in found.values()]
            panel.scatter(gaps, places, color=shade, s=22, label=column, zorder=3)
        panel.axvline(0, color=MUTED, linewidth=0.8)
        panel.axvline(-MOST_LOST, color=RULE, linewidth=0.8, linestyle="--")
        panel.set_yticks(places, [f"{name} (kept out)" if name in held_out else name for name in found], size=7)
        panel.set_title(method, size=9, color=INK)
        panel.set_xlabel("points of accuracy against best by labels", size=8, color=MUTED)
        panel.tick_params(labelsize=7, colors=MUTED)
        for spine in panel.spines.values():
            spine.set_color(RULE)
        panel.grid(axis="y", color=RULE, linewidth=0.4)
    panels[0].legend(fontsize=7, frameon=False, loc="lower left")
    FIGURE.write_bytes(picture_bytes(figure))

"""Shared components despite effects of groups: GroupNMF, NMF without groups, and integrative NMF, on planted data.

    python -m studies.groups            # prints the tables, writes studies/results/groups.csv

Three groups of 100 samples have five components in common, of unequal abundance, and each its own effect: a component
that its samples use more or less ("own component"), the same profile added to every sample ("offset"), or a factor for
every feature ("factors"). Data are Poisson counts of a given mean; the effect is as large as the average component
(1), half or twice as large. A score is the smallest cosine of a true component with the one found for it.

`NMF(8)`, which may find all components without knowing which are shared, is given the best five of its eight. `masked
start` is GroupNMF's objective from singular vectors alone, without the short fit that tells components of groups from
shared ones. `iNMF` is integrative NMF (Yang & Michailidis 2016; Welch et al. 2019, λ = 5), by its multiplicative rules.
`GroupNMF, means` divides every feature by its mean in the group first. The draws are not those with which the start was
made.
"""

from __future__ import annotations

import csv
import warnings
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment

from partwise import NMF, Factorization, GroupNMF
from partwise.domains import Fixed
from partwise.terms import BetaDivergence

SHARED, GROUPS, PER_GROUP, FEATURES, REPEATS = 5, 3, 100, 200, 3
# The start of GroupNMF was made with smaller seeds.
FIRST_SEED = 100
EFFECTS = ("own component", "offset", "factors")
SIZES, COUNTS = (0.5, 2.0), (0.3, 3.0)
LOSSES = ("frobenius", "kullback-leibler")
RESULTS = Path(__file__).parent / "results" / "groups.csv"
HEAD = ("effect", "size", "mean count", "repeat", "method", "loss", "smallest cosine")


def unit(F):
    """Rows of unit norm."""
    return F / np.maximum(np.linalg.norm(F, axis=1, keepdims=True), np.finfo(float).tiny)


def planted(effect, size, count, seed, layout=(PER_GROUP,) * GROUPS):
    """Counts, groups of these sizes and the true shared components."""
    rng = np.random.RandomState(seed)
    H = unit(rng.gamma(0.3, size=(SHARED, FEATURES)))
    parts = []
    for n in layout:
        part = (rng.gamma(0.5, size=(n, SHARED)) * rng.gamma(2.0, 0.5, size=SHARED)) @ H
        if effect == "factors":
            part *= np.exp(0.5 * size * rng.standard_normal(FEATURES))
        else:
            used = rng.gamma(1.0, size=(n, 1)) if effect == "own component" else 1.0
            part = part + size * used * unit(rng.gamma(0.3, size=(1, FEATURES)))
        parts.append(part)
    mean = np.vstack(parts)
    return rng.poisson(count * mean / mean.mean()).astype(float), np.repeat(np.arange(len(layout)), layout), H


def smallest_cosine(H, found):
    """Of the true components with those found, each with another one."""
    S = H @ unit(found).T
    return S[linear_sum_assignment(-S)].min()


def from_singular_vectors(X, groups, loss, seed):
    """The shared components of a fit that starts with codes of other groups cut to zero."""
    owners = np.r_[np.full(SHARED, -1), np.arange(GROUPS)]
    others = (owners >= 0) & (owners != groups[:, None])
    codes = Fixed(np.zeros(others.shape), where=others)
    model = Factorization(len(owners), terms=[BetaDivergence(loss)], codes=codes, random_state=seed)
    return model.fit(X).components_[:SHARED]


def integrative(X, groups, seed, strength=5.0, sweeps=200):
    """H of Σ_g ‖X_g − W_g (H + V_g)‖² + strength · ‖W_g V_g‖², by multiplicative rules."""
    rng, tiny = np.random.RandomState(seed), np.finfo(float).tiny
    parts = [X[groups == group] for group in range(GROUPS)]
    H = rng.uniform(size=(SHARED, FEATURES))
    W = [rng.uniform(size=(len(part), SHARED)) for part in parts]
    V = [rng.uniform(size=H.shape) for _ in parts]
    for _ in range(sweeps):
        for g, part in enumerate(parts):
            both = H + V[g]
            W[g] *= part @ both.T / (W[g] @ (both @ both.T + strength * V[g] @ V[g].T) + tiny)
            V[g] *= W[g].T @ part / (W[g].T @ W[g] @ (H + (1 + strength) * V[g]) + tiny)
        pulls = sum(w.T @ part for w, part in zip(W, parts, strict=True))
        H *= pulls / (sum(w.T @ w @ (H + v) for w, v in zip(W, V, strict=True)) + tiny)
    return H


def found(X, groups, loss, seed):
    """(method, components that should be the shared ones)."""
    settings = {"loss": loss, "random_state": seed}
    yield "NMF(5)", NMF(SHARED, **settings).fit(X).components_
    yield "NMF(8)", NMF(SHARED + GROUPS, **settings).fit(X).components_
    yield "masked start", from_singular_vectors(X, groups, loss, seed)
    yield "GroupNMF", GroupNMF(SHARED, **settings).fit(X, groups=groups).components_[:SHARED]
    means = np.vstack([X[groups == group].mean(axis=0) for group in range(GROUPS)])
    level = np.where(means > 0, means, 1)[groups]
    even = GroupNMF(SHARED, **settings).fit(X / level, groups=groups).components_[:SHARED]
    # Factors are known only up to one for every feature.
    yield "GroupNMF, means", even * np.exp(np.log(np.where(means > 0, means, 1)).mean(axis=0))
    if loss == "frobenius":
        yield "iNMF", integrative(X, groups, seed)


def measure():
    """All rows."""
    for effect in EFFECTS:
        for size in SIZES:
            for count in COUNTS:
                for seed in range(FIRST_SEED, FIRST_SEED + REPEATS):
                    X, groups, H = planted(effect, size, count, seed)
                    for loss in LOSSES:
                        for method, components in found(X, groups, loss, seed):
                            cosine = f"{smallest_cosine(H, components):.3f}"
                            yield effect, size, count, seed, method, loss, cosine


def report(rows):
    """Print the medians over the repeats."""
    for loss in LOSSES:
        methods = list(dict.fromkeys(row[4] for row in rows if row[5] == loss))
        print(f"\n{loss}: smallest cosine, median of {REPEATS} draws\n")
        print("| effect | size | mean count | " + " | ".join(methods) + " |")
        print("|:--|--:|--:|" + "--:|" * len(methods))
        for case in dict.fromkeys(row[:3] for row in rows):
            scores = [
                np.median([float(row[6]) for row in rows if row[:3] == case and row[4:6] == (method, loss)])
                for method in methods
            ]
            print(f"| {case[0]} | {case[1]:g} | {case[2]:g} | " + " | ".join(f"{s:.2f}" for s in scores) + " |")


def main():
    """Measure, keep, print."""
    warnings.simplefilter("ignore")
    rows = list(measure())
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([HEAD, *rows])
    report(rows)


if __name__ == "__main__":
    main()

"""Learned components and codes: pictures for images, lines of words for everything else."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
from sklearn.preprocessing import normalize

from ..core.types import Array, IntArray
from ..experiments.comparison import Comparison
from ..experiments.outcomes import Outcome, match_components
from ..plots.features import leading_names
from ..plots.markup import Markup, element, join
from .images import picture
from .page import Section

MOST_COMPONENTS = 48
MOST_SAMPLES = 12
TOP_TERMS = 10


def components(comparison: Comparison) -> Section:
    """The components of every method; under each, the class that uses it most."""
    data = comparison.data
    # Words are sparse. Columns of a table keep their names, even if those are common words.
    without = ENGLISH_STOP_WORDS if sp.issparse(data.X) else ()
    parts: list[Markup] = []
    for i, outcome in enumerate(comparison.outcomes):
        order, captions = _ordered(outcome, comparison)
        shown = order[np.linspace(0, len(order) - 1, min(len(order), MOST_COMPONENTS)).round().astype(int)]
        few = "" if len(shown) == len(order) else f" ({len(shown)} of {len(order)} shown)"
        title = f"{outcome.name}{few}"
        if data.image_shape is not None:
            parts += [element("h3", title), _gallery(outcome, shown, captions, data.image_shape)]
        else:
            parts += [*_tab(title, i), _topics(outcome, shown, captions, data.terms, without)]
    if data.image_shape is None:
        parts = [element("div", *parts, class_="tabs")]
    classes = "; below each, the class that uses it most" if data.class_names and data.image_shape else ""
    note = (
        f"Each is shaded up to its own largest entry{classes}."
        if data.image_shape is not None
        else f"The {TOP_TERMS} largest entries of each component, the largest first"
        f"{', without common English words' if without else ''}."
    )
    return Section("components", "Components", tuple(parts), note)


def _ordered(outcome: Outcome, comparison: Comparison) -> tuple[IntArray, dict[int, str]]:
    """Components by the class that uses each most, and its name.

    If classes are unknown, images stay in their own order, and topics are in the order of those of the first method
    to which they are most similar; that method begins with the one that explains most.
    """
    if not (comparison.data.y >= 0).any():
        own = np.arange(len(outcome.components))
        return own if comparison.data.image_shape is not None else _like_the_first(outcome, comparison), {}
    order, favourites = match_components(outcome, comparison.data.y)
    return order, {int(j): comparison.data.class_names[label] for j, label in zip(order, favourites, strict=True)}


def _like_the_first(outcome: Outcome, comparison: Comparison) -> IntArray:
    """An order in which components of all methods can be compared line by line."""
    first = comparison.outcomes[0]
    by_weight = np.argsort(-first.codes.sum(axis=0) * first.components.sum(axis=1), kind="stable")
    if outcome is first or outcome.components.shape != first.components.shape:
        return by_weight if outcome is first else np.arange(len(outcome.components))
    similar = normalize(first.components[by_weight]) @ normalize(outcome.components).T
    return np.asarray(linear_sum_assignment(-similar)[1], np.intp)


def _gallery(outcome: Outcome, shown: IntArray, captions: dict[int, str], shape: tuple[int, int]) -> Markup:
    tiles = []
    for j in shown.tolist():
        caption = captions.get(j, str(j + 1))
        image = picture(outcome.components[j].reshape(shape), f"component {j + 1} of {outcome.name}: {caption}")
        tiles.append(element("figure", image, element("figcaption", caption)))
    return element("div", *tiles, class_="tiles")


def _tab(title: str, number: int) -> tuple[Markup, Markup]:
    """What shows one of several panels, the first at the beginning."""
    key = f"tab-{number}"
    button = element("input", type="radio", name="tabs", id=key, checked=number == 0)
    return button, element("label", title, for_=key)


def _topics(
    outcome: Outcome, shown: IntArray, captions: dict[int, str], terms: Sequence[str] | None, without: Collection[str]
) -> Markup:
    """A line of names for every component."""
    lines = []
    names = [f"feature {f + 1}" for f in range(outcome.components.shape[1])] if terms is None else terms
    for j in shown.tolist():
        words = leading_names(outcome.components[j], names, TOP_TERMS, without)
        heading = captions.get(j)
        lines.append(element("li", None if heading is None else element("b", f"{heading}: "), ", ".join(words)))
    return element("ol", *lines, class_="terms")


def codes(comparison: Comparison) -> Section:
    """A few samples, their codes, and for images their reconstructions."""
    shown = _samples(comparison)
    shape = comparison.data.image_shape
    head = [element("th", "sample", scope="col"), *(element("th", o.name, scope="col") for o in comparison.outcomes)]
    rows = [
        element("tr", element("th", *_sample(comparison, i), scope="row"), *_coded(comparison, i))
        for i in shown.tolist()
    ]
    table = element("table", element("thead", element("tr", *head)), element("tbody", *rows), class_="samples")
    note = "A strip has a field for every component, darker where the code is larger."
    if shape is not None:
        note += " Below it, the code times the components: the method's reconstruction of the sample."
    region = element("div", table, class_="scroll", tabindex=0, role="region", aria_label="Codes of some samples")
    return Section("codes", "Codes", (region,), note)


def _samples(comparison: Comparison) -> IntArray:
    """One sample of each class whose label no method was given; without classes, an even choice."""
    y = comparison.data.y
    firsts = [
        np.flatnonzero((y == label) & (comparison.known < 0))[:1] for label in np.unique(y[y >= 0])[:MOST_SAMPLES]
    ]
    if firsts:
        return np.concatenate(firsts)
    return np.linspace(0, len(y) - 1, min(len(y), MOST_SAMPLES)).round().astype(np.intp)


def _sample(comparison: Comparison, i: int) -> Iterator[Markup | str]:
    data = comparison.data
    number = f"sample {i + 1}" if data.sample_names is None else data.sample_names[i]
    caption = data.class_names[data.y[i]] if data.y[i] >= 0 else number
    if data.image_shape is not None:
        yield picture(_row(comparison.X, i).reshape(data.image_shape), f"sample {i + 1}: {caption}", class_="sample")
    yield caption


def _coded(comparison: Comparison, i: int) -> Iterator[Markup]:
    shape = comparison.data.image_shape
    for outcome in comparison.outcomes:
        order, _ = _ordered(outcome, comparison)
        code = outcome.codes[i]
        drawn = [picture(code[order][None, :], f"code of sample {i + 1} by {outcome.name}", class_="strip")]
        if shape is not None:
            rebuilt = (code @ outcome.components).reshape(shape)
            full = float(_row(comparison.X, i).max())
            drawn.append(picture(rebuilt, f"sample {i + 1} by {outcome.name}", full=full, class_="sample"))
        yield element("td", join(drawn))


def _row(X: Any, i: int) -> Array:
    row = X[[i]]
    return np.asarray(row.toarray() if sp.issparse(row) else row).ravel()

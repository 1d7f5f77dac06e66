"""Learned parts as a picture: a band of images per method, and samples with their reconstructions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..core.types import Array
from .canvas import MUTED, Canvas, mosaic

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# All in pixels.
TILE = 76  # the longer side of an image
GAP = 8
LABEL = 210  # room for a method's name
MARGIN = 28
CAPTION = 28
HEAD = 88
HEADING = 56

MAX_COLUMNS = 12
MAX_LINES = 3


@dataclass(frozen=True, eq=False)
class PartsRow:
    """What the picture shows of one method.

    Attributes
    ----------
    name : str
    components : ndarray of shape (n_components, n_features)
    detail : str
        Smaller lines under the name.
    captions : sequence of str
        One per component, or none.
    rebuilt : ndarray of shape (n_shown, n_features), optional
        The method's reconstructions of the samples shown.
    """

    name: str
    components: Array
    detail: str = ""
    captions: Sequence[str] = ()
    rebuilt: Array | None = None


@dataclass(frozen=True, eq=False)
class _Band:
    """A line of images with its text; `full` is the value each image shows as full ink."""

    images: Array
    full: Array
    name: str = ""
    detail: str = ""
    captions: Sequence[str] = ()
    heading: str = ""
    weight: str = "normal"


def draw_parts(
    rows: Sequence[PartsRow],
    image_shape: tuple[int, int],
    *,
    samples: Array | None = None,
    title: str = "Learned parts",
    subtitle: str = "",
    parts_heading: str = "Components",
    samples_heading: str = "Samples and their reconstructions",
) -> Figure:
    """Draw the components of several methods as images, one method per row.

    Every component is shaded up to its own largest entry; reconstructions share the shading of their sample.
    A line holds 12 components; if more than three lines are needed, an even choice is shown.

    Parameters
    ----------
    rows : sequence of PartsRow
    image_shape : tuple of (int, int)
        Height and width of an image; features are its pixels, row by row.
    samples : ndarray of shape (n_shown, n_features), optional
        Samples to show above their reconstructions, 12 at most.
    title, subtitle, parts_heading, samples_heading : str

    Returns
    -------
    figure : matplotlib.figure.Figure
        Belongs to no window: save it, or show it in a notebook.
    """
    if not rows:
        raise ValueError("rows is empty; give at least one method to draw.")
    height, width = image_shape
    for row in rows:
        if row.components.ndim != 2 or row.components.shape[1] != height * width:
            raise ValueError(
                f"The components of {row.name} have shape {row.components.shape}; "
                f"images of {height} × {width} need {height * width} columns."
            )
    shown = 0 if samples is None else len(samples)
    columns = min(MAX_COLUMNS, max(shown, *(len(row.components) for row in rows)))
    bands = [band for row in rows for band in _component_bands(row, columns)]
    bands[0] = replace(bands[0], heading=parts_heading)
    if samples is not None:
        bands += _sample_bands(rows, np.asarray(samples)[:columns], samples_heading)
    return _compose(bands, image_shape, columns, title, subtitle)


def _component_bands(row: PartsRow, columns: int) -> Iterator[_Band]:
    """The components in lines of at most `columns` images; an even choice if there are very many."""
    total = len(row.components)
    shown = min(total, columns * MAX_LINES)
    chosen = np.linspace(0, total - 1, shown).round().astype(int)
    detail = row.detail if shown == total else f"{row.detail}\n{shown} of {total} shown".strip()
    for start in range(0, shown, columns):
        line = chosen[start : start + columns]
        images = row.components[line]
        band = _Band(images, images.max(axis=1), captions=[row.captions[j] for j in line] if row.captions else ())
        yield replace(band, name=row.name, detail=detail, weight="bold") if start == 0 else band


def _sample_bands(rows: Sequence[PartsRow], samples: Array, heading: str) -> Iterator[_Band]:
    full = samples.max(axis=1)
    yield _Band(samples, full, "samples", heading=heading)
    for row in rows:
        if row.rebuilt is not None:
            yield _Band(row.rebuilt[: len(samples)], full, row.name)


def _compose(bands: Sequence[_Band], image_shape: tuple[int, int], columns: int, title: str, subtitle: str) -> Figure:
    """Place the bands one below another, with equally large pixels in all images."""
    height, width = image_shape
    pixel = max(1, round(TILE / max(height, width)))
    gap = max(1, round(GAP / pixel))
    step, tall = (width + gap) * pixel, height * pixel
    tops, bottom = [], HEAD
    for band in bands:
        tops.append(bottom + (HEADING if band.heading else 0))
        bottom = tops[-1] + tall + (CAPTION if band.captions else GAP)
    left = MARGIN + LABEL
    right = left + columns * step - gap * pixel
    canvas = Canvas(right + MARGIN, bottom + MARGIN - GAP)
    canvas.write(MARGIN, 38, title, 13, weight="bold")
    canvas.write(MARGIN, 70, subtitle, 7.5, MUTED)
    for band, top in zip(bands, tops, strict=True):
        if band.heading:
            canvas.rule(MARGIN, right, top - 40)
            canvas.write(MARGIN, top - 20, band.heading, 7.5, MUTED)
        middle = top + 12 if band.detail else top + tall / 2
        canvas.write(MARGIN, middle, band.name, 9, weight=band.weight)
        for i, line in enumerate(band.detail.splitlines()):
            canvas.write(MARGIN, middle + 26 + 22 * i, line, 7.5, MUTED)
        images = np.asarray(band.images, np.float64).reshape(-1, height, width)
        canvas.image(left, top, mosaic(images, band.full, gap), pixel)
        for j, caption in enumerate(band.captions):
            canvas.write(left + j * step + width * pixel / 2, top + tall + 9, caption, 6.5, MUTED, ha="center")
    return canvas.figure

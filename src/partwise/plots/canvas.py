"""A page measured in pixels from its upper left corner, in the colours of all figures."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.types import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 144
INK, MUTED, RULE, PAPER = "#1d2b4f", "#6b7280", "#d9dce3", "#ffffff"
# From the ground of an image, a little darker than the page, to ink.
SHADES = ("#f0f1f5", "#c3cee6", "#7f9bd0", "#3f5fa8", "#1d2b4f")
# Of lines and clusters; they begin again where there are more.
PALETTE = (
    *("#3b68c4", "#d9772b", "#2f9e6e", "#c0417a", "#7a5cc7"),
    *("#1c93ad", "#b08a1e", "#c94a44", "#6b8f2a", "#7a808c"),
)
UNKNOWN = "#c9cdd6"


def check_installed() -> None:
    """Say what plots need, where it is not installed; called before a figure is made."""
    if find_spec("matplotlib") is None:
        raise ModuleNotFoundError("Plots need matplotlib, which is not installed: pip install 'partwise[cli]'.")


def shading() -> Any:
    """The colour map of all pictures, from ground (0) to ink (1); nothing where there is no number."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("partwise", SHADES).with_extremes(bad=(0, 0, 0, 0))


class Canvas:
    """A matplotlib figure on which everything is placed in whole pixels.

    Parameters
    ----------
    width, height : int
        In pixels at 144 dots per inch.
    """

    def __init__(self, width: int, height: int):
        check_installed()
        from matplotlib.figure import Figure

        self._width, self._height = width, height
        self._shades = shading()
        self.figure: Figure = Figure(figsize=(width / DPI, height / DPI), dpi=DPI, facecolor=PAPER)

    def write(self, x: float, y: float, text: str, size: float, colour: str = INK, **style: Any) -> None:
        """Put text at a point; it is shown verbatim, dollar signs included."""
        at = (x / self._width, 1 - y / self._height)
        style.setdefault("va", "center")
        self.figure.text(*at, text, size=size, color=colour, parse_math=False, family="DejaVu Sans", **style)

    def rule(self, left: float, right: float, y: float) -> None:
        """Draw a thin horizontal line."""
        from matplotlib.lines import Line2D

        height = 1 - y / self._height
        ends = [left / self._width, right / self._width]
        self.figure.add_artist(Line2D(ends, [height, height], color=RULE, linewidth=0.8))

    def image(self, left: float, top: float, shades: Array, pixel: int) -> None:
        """Show an array of numbers from 0 (ground) to 1 (ink), NaN for nothing, each as a square."""
        tall, wide = pixel * shades.shape[0], pixel * shades.shape[1]
        box = (left / self._width, 1 - (top + tall) / self._height, wide / self._width, tall / self._height)
        axes = self.figure.add_axes(box, frameon=False)
        axes.imshow(shades, cmap=self._shades, vmin=0, vmax=1, interpolation="nearest", aspect="auto")
        axes.set_axis_off()


def mosaic(images: Array, full: Array, gap: int, lowest: float = 0.0) -> Array:
    """Images side by side, shaded from `lowest` to 1, with NaN between them.

    Parameters
    ----------
    images : ndarray of shape (n_images, height, width)
    full : ndarray of shape (n_images,)
        The value shown as full ink, for each image.
    gap : int
        Columns between two images.
    lowest : float, default=0.0
        −1 where negative entries are shown, too.
    """
    shaded = np.clip(images / np.where(full > 0, full, 1)[:, None, None], lowest, 1)
    fence = np.full((*images.shape[:2], gap), np.nan)
    strips = np.concatenate([shaded, fence], axis=2)
    return np.concatenate(list(strips), axis=1)[:, :-gap]

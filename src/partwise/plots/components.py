"""The components of a model: as images, or as the features that weigh most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.numbers import check_number
from ..core.types import Array
from .canvas import INK, PALETTE, mosaic, shading
from .features import named_components, top_features
from .panels import blank, one_panel, panels, soften

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

# In inches.
TILE = 0.9


@dataclass(eq=False, repr=False)
class ComponentsDisplay:
    """Learned parts, drawn as images or as bars of their largest features.

    Use :meth:`from_estimator` to make one from a fitted model.

    Parameters
    ----------
    components : ndarray of shape (n_components, n_features)
    image_shape : tuple of (int, int), optional
        Height and width, if the features are the pixels of images, row by row. Every image is shaded up to its own
        largest entry; where components have negative entries, these are red and positive ones blue.
    feature_names : sequence of str, optional
        For bars, if the features are not pixels.
    captions : sequence of str, optional
        One per component; by default its number.

    Attributes
    ----------
    figure_ : matplotlib Figure
    axes_ : ndarray of matplotlib Axes
        One for all images, or one per component for bars.
    image_ : matplotlib AxesImage
        All images as one; only for images.
    bars_ : list of matplotlib BarContainer
        Only for bars.
    """

    components: Array
    image_shape: tuple[int, int] | None = None
    feature_names: Sequence[str] | None = None
    captions: Sequence[str] | None = None

    figure_: Figure = field(init=False, repr=False)
    axes_: Array = field(init=False, repr=False)
    image_: AxesImage = field(init=False, repr=False)
    bars_: list[BarContainer] = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        image_shape: tuple[int, int] | None = None,
        feature_names: Sequence[str] | None = None,
        captions: Sequence[str] | None = None,
        n_columns: int | None = None,
        n_features: int = 8,
        ax: Any = None,
    ) -> ComponentsDisplay:
        """Draw the components of a fitted model.

        Parameters
        ----------
        estimator : estimator
            Anything with `components_`.
        image_shape : tuple of (int, int), optional
            Height and width, if the features are pixels.
        feature_names : sequence of str, optional
            Names of the features otherwise; by default the columns of the data frame that the model was fitted to.
        captions : sequence of str, optional
            One per component.
        n_columns, n_features, ax
            Of :meth:`plot`.

        Returns
        -------
        display : ComponentsDisplay

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from partwise import NMF
        >>> from partwise.plots import ComponentsDisplay
        >>> model = NMF(12, random_state=0, max_iter=20, tol=0).fit(load_digits().data)
        >>> display = ComponentsDisplay.from_estimator(model, image_shape=(8, 8))
        >>> display.figure_.savefig("parts.png")  # doctest: +SKIP
        """
        components, names = named_components(estimator, feature_names if image_shape is None else None)
        display = cls(components, image_shape, None if image_shape is not None else names.tolist(), captions)
        return display.plot(ax, n_columns=n_columns, n_features=n_features)

    def plot(self, ax: Any = None, *, n_columns: int | None = None, n_features: int = 8) -> ComponentsDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or array-like of Axes, optional
            Where to draw; by default into a new figure. Bars take one axes per component, or divide a single one.
        n_columns : int, optional
            Components side by side; by default 10 images or 4 panels of bars.
        n_features : int, default=8
            Bars per component.

        Returns
        -------
        self
        """
        k = len(self.components)
        captions = None if self.captions is None else [str(caption) for caption in self.captions]
        if captions is not None and len(captions) != k:
            raise ValueError(f"{len(captions)} captions were given for {k} components.")
        if self.image_shape is None:
            self._draw_bars(ax, captions, check_number("n_columns", 4 if n_columns is None else n_columns), n_features)
        else:
            self._draw_images(
                ax, captions, self.image_shape, check_number("n_columns", 10 if n_columns is None else n_columns)
            )
        self.figure_ = self.axes_.flat[0].figure
        return self

    def _draw_images(self, ax: Axes | None, captions: list[str] | None, shape: tuple[int, int], n_columns: int) -> None:
        if np.shape(shape) != (2,):
            raise ValueError(f"image_shape={shape!r} was given; it must be the height and width of images.")
        height, width = shape
        k, m = self.components.shape
        if m != height * width:
            raise ValueError(f"The components have {m} features; images of {height} × {width} need {height * width}.")
        n_columns = min(n_columns, k)
        n_rows = -(-k // n_columns)
        largest = np.abs(self.components).max(axis=1)
        images = np.full((n_rows * n_columns, height, width), np.nan)
        images[:k] = (self.components / np.where(largest > 0, largest, 1)[:, None]).reshape(k, height, width)
        gap = max(1, round(max(height, width) / 10))
        signed = bool((self.components < 0).any())
        ones = np.ones(n_columns)
        lines = [
            mosaic(images[i : i + n_columns], ones, gap, -1.0 if signed else 0.0)
            for i in range(0, len(images), n_columns)
        ]
        foot = gap if captions is None else max(gap, round(0.28 * height))
        fence = np.full((foot, lines[0].shape[1]), np.nan)
        whole = np.concatenate([part for line in lines for part in (line, fence)])[: None if captions else -foot]
        panel = one_panel(ax, (TILE * whole.shape[1] / max(shape), TILE * whole.shape[0] / max(shape)))
        colours = {"cmap": "RdBu", "vmin": -1} if signed else {"cmap": shading(), "vmin": 0}
        self.image_ = panel.imshow(whole, vmax=1, interpolation="nearest", **colours)
        for j, caption in enumerate(captions or ()):
            row, column = divmod(j, n_columns)
            at = (column * (width + gap) + width / 2 - 0.5, row * (height + foot) + height - 0.3)
            panel.text(*at, caption, size=8, color=INK, ha="center", va="top", parse_math=False)
        blank(panel)
        self.axes_ = np.array([panel], dtype=object)

    def _draw_bars(self, ax: Any, captions: list[str] | None, n_columns: int, n_features: int) -> None:
        top = top_features(self.components, self.feature_names, n_features)
        k = len(top.names)
        n_columns = min(n_columns, k)
        axes = panels(ax, -(-k // n_columns), n_columns).ravel() if np.ndim(ax) == 0 else panels(ax, 1, k).ravel()
        from matplotlib.ticker import MaxNLocator, PercentFormatter

        self.bars_ = []
        for j, panel in enumerate(axes[:k]):
            places = np.arange(top.names.shape[1])
            self.bars_.append(panel.barh(places, top.shares[j], color=PALETTE[j % len(PALETTE)]))
            panel.set_yticks(places, top.names[j], parse_math=False)
            panel.invert_yaxis()
            panel.set_title(captions[j] if captions else f"component {j}", size=10, color=INK)
            panel.xaxis.set_major_locator(MaxNLocator(4))
            panel.xaxis.set_major_formatter(PercentFormatter(1.0))
            soften(panel)
            panel.tick_params(axis="y", length=0, labelsize=9, labelcolor=INK)
            panel.spines[["top", "right"]].set_visible(False)
        for panel in axes[k:]:
            panel.set_axis_off()
        self.axes_ = axes[:k]

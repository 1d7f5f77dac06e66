"""One call from data to a page on disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..experiments.comparison import METHODS, Comparison, as_data_set, compare_methods
from ..files.writing import write_whole
from .comparison import comparison_page, described
from .model import model_page


def save_model_page(
    path: str | Path,
    model: Any,
    X: Any,
    y: Any = None,
    *,
    name: str | None = None,
    image_shape: tuple[int, int] | None = None,
    feature_names: Sequence[str] | None = None,
) -> None:
    """Write the page of a fitted model: components, a map of the codes, choices, convergence, settings.

    Parameters
    ----------
    path : str or Path
        A single file that opens in any browser and loads nothing.
    model : estimator
        Fitted to X.
    X : {array-like, sparse matrix} of shape (n_samples, n_features), or DataSet
    y : array-like of shape (n_samples,), optional
        Classes, for scores and colours; −1, NaN and "" are unknown.
    name : str, optional
        Of the model; by default that of its class.
    image_shape : tuple of (int, int), optional
        Height and width, if samples are images.
    feature_names : sequence of str, optional
        Such as words; by default the columns of the data frame that the model was fitted to.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from partwise import NMF
    >>> from partwise.report import save_model_page
    >>> X, y = load_digits(n_class=4, return_X_y=True)
    >>> model = NMF(8, random_state=0).fit(X[:200])
    >>> save_model_page("digits.html", model, X[:200], y[:200], image_shape=(8, 8))  # doctest: +SKIP
    """
    data = described(as_data_set(X, y, allow_nan=True), image_shape, feature_names, model, X)
    write_whole(Path(path), model_page(model, data, name).encode("utf-8"))


def save_comparison_page(
    path: str | Path,
    X: Any,
    y: Any = None,
    methods: Sequence[str] | Mapping[str, Any] = METHODS,
    *,
    image_shape: tuple[int, int] | None = None,
    feature_names: Sequence[str] | None = None,
    **settings: Any,
) -> Comparison:
    """Compare methods on the same samples, and write the page, as ``partwise compare`` does.

    Parameters
    ----------
    path : str or Path
        A single file that opens in any browser and loads nothing.
    X : {array-like, sparse matrix} of shape (n_samples, n_features), or DataSet
    y : array-like of shape (n_samples,), optional
        Classes, for the scores and for methods that learn from labels; −1, NaN and "" are unknown.
    methods : sequence of str, or mapping of str to estimator
        See :func:`partwise.experiments.compare_methods`.
    image_shape : tuple of (int, int), optional
        Height and width, if samples are images.
    feature_names : sequence of str, optional
        Such as words.
    **settings : object
        Further parameters of :func:`partwise.experiments.compare_methods`, such as `n_components` and `seed`.

    Returns
    -------
    comparison : Comparison

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from partwise.report import save_comparison_page
    >>> X, y = load_digits(return_X_y=True)
    >>> found = save_comparison_page("digits.html", X, y, image_shape=(8, 8))  # doctest: +SKIP
    >>> print(found)  # doctest: +SKIP
    """
    data = described(as_data_set(X, y), image_shape, feature_names, X, X)
    comparison = compare_methods(data, methods=methods, **settings)
    asked = {name: str(value) for name, value in settings.items()}
    write_whole(Path(path), comparison_page(comparison, asked).encode("utf-8"))
    return comparison

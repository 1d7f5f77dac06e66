"""The base classes of scikit-learn, which has no types: a base of unknown type would accept any argument."""

# ruff: noqa: D102 (what is declared for type checkers is documented by scikit-learn)
from typing import TYPE_CHECKING, Any, Self

from ..core import Array, IntArray

if TYPE_CHECKING:

    class BaseEstimator:
        """What type checkers see of scikit-learn's estimators; other attributes are of any type."""

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...

        def set_params(self, **params: Any) -> Self: ...

        def get_metadata_routing(self) -> Any: ...

        def _validate_params(self) -> None: ...

        def __sklearn_tags__(self) -> Any: ...

        def __getattr__(self, name: str) -> Any: ...

    class ClusterMixin:
        """Estimators with `labels_`."""

        def fit_predict(self, *args: Any, **kwargs: Any) -> IntArray: ...

        def __sklearn_tags__(self) -> Any: ...

    class TransformerMixin:
        """Estimators with `transform`."""

        def fit_transform(self, *args: Any, **kwargs: Any) -> Array: ...

        def set_output(self, *, transform: str | None = None) -> Self: ...

        def __sklearn_tags__(self) -> Any: ...

    class ClassNamePrefixFeaturesOutMixin:
        """Estimators that name their output."""

        def get_feature_names_out(self, input_features: Any = None) -> Array: ...

else:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin

__all__ = ["BaseEstimator", "ClassNamePrefixFeaturesOutMixin", "ClusterMixin", "TransformerMixin"]

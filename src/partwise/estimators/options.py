"""What the parameters of estimators accept, for type checkers; `_parameter_constraints` says the same at run time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from ..core.types import Array

Auto = Literal["auto"]
# A number that can be chosen: "auto", or values to choose from.
OpenInt = int | Auto | Sequence[int] | Array
OpenFloat = float | Auto | Sequence[float] | Array
FloatOrAuto = float | Auto

Loss = Literal["frobenius", "kullback-leibler", "itakura-saito"] | float
PenalisedLoss = Literal["frobenius", "kullback-leibler"]
Weighting = Literal["ncut"] | None

Scale = Literal["auto", "components"] | None
ScaleOrCodes = Literal["auto", "components", "codes"] | None
AutoScale = Auto | None

Solver = Literal["auto", "coordinate", "newton", "multiplicative"]
DualSolver = Literal["auto", "projected", "multiplicative"]
OrthogonalSolver = Literal["auto", "assignment", "multiplicative"]

# The arrays of a start.
Given = tuple[Any, ...] | list[Any]
Init = Literal["auto", "random", "nndsvd", "nndsvda", "kmeans", "sampled"] | Given
InitOrSpectral = Literal["auto", "random", "nndsvd", "nndsvda", "kmeans", "sampled", "spectral"] | Given
ClusterInit = Literal["auto", "kmeans", "random"] | Given
OrthogonalInit = Literal["auto", "kmeans", "random", "nndsvd", "nndsvda"] | Given

Assign = Literal["kmeans", "argmax"]

Metric = Literal["cosine", "euclidean"]
EdgeWeights = Literal["binary", "heat", "cosine"]
NeighborsMethod = Literal["auto", "exact", "approximate"]
Kernel = Literal["linear", "cosine", "rbf", "precomputed"] | Callable[..., Any]
LocalKernel = Literal["cosine", "rbf", "linear"] | Callable[..., Any]

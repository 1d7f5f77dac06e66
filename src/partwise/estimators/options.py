"""What the parameters of estimators accept: for type checkers, and at run time through `estimators.constraints`."""

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Annotated, Any, Literal

from sklearn.utils._param_validation import Interval

from ..core import Array
from ..selection.grids import NEIGHBORS, RANKS, STRENGTHS

Count = Annotated[int, Interval(Integral, 1, None, closed="left")]
NonNegative = Annotated[float, Interval(Real, 0, None, closed="left")]
Positive = Annotated[float, Interval(Real, 0, None, closed="neither")]
PositiveOrInfinite = Annotated[float, Interval(Real, 0, None, closed="right")]
Share = Annotated[float, Interval(Real, 0, 1, closed="both")]

# A number that can be chosen: "auto", or values to choose from.
Auto = Literal["auto"]
OpenCount = Count | Auto | Sequence[int] | Array
OpenStrength = NonNegative | Auto | Sequence[float] | Array
# The same with the values among which "auto" chooses.
ComponentsOrAuto = Annotated[OpenCount, RANKS]
NeighborsOrAuto = Annotated[OpenCount, NEIGHBORS]
StrengthOrAuto = Annotated[OpenStrength, STRENGTHS]

Loss = Literal["frobenius", "kullback-leibler", "itakura-saito"] | float
PenalisedLoss = Literal["frobenius", "kullback-leibler"]
# The same, and those with a scale.
LossOrRobust = Literal["huber", "l1"] | Loss
PenalisedOrRobust = Literal["huber", "l1"] | PenalisedLoss
# The same, and that of overdispersed counts.
AnyLoss = Literal["negative-binomial"] | LossOrRobust
AnyPenalisedLoss = Literal["negative-binomial"] | PenalisedOrRobust
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

# What a factor may be, by name.
DomainName = Literal["non-negative", "free", "unit-norm", "simplex", "one-entry"]

Assign = Literal["kmeans", "argmax"]

Metric = Literal["cosine", "euclidean"]
EdgeWeights = Literal["binary", "heat", "cosine"]
NeighborsMethod = Literal["auto", "exact", "approximate"]
Kernel = Literal["linear", "cosine", "rbf", "precomputed"] | Callable[..., Any]
LocalKernel = Literal["cosine", "rbf", "linear"] | Callable[..., Any]
# A matrix, or a function that computes it from X.
MatrixOrFunction = Annotated[Any, "array-like", "sparse matrix", callable, None]
# The same, or its name in annotated data.
MatrixFunctionOrName = Annotated[Any, "array-like", "sparse matrix", callable, str, None]

RandomState = Annotated[Any, "random_state"]
Verbosity = Annotated[int, "verbose"]
Callbacks = Annotated[Any, callable, "array-like", object]

"""One way in for every estimator: errors in the input are reported before any work is done."""

import math
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import get_tags

from ..core import COMPONENTS, Array, Missing, Operand, StoredRows, check_fits, has_nan, read_data, values_of
from ..core.fixed import Fixed
from ..core.warn import warn
from ..solvers import Problem
from ..terms import BetaDivergence
from ..terms.entries import check_size_of_weights, known_counts

NEGATIVE = (
    "Negative values in data passed to {name}{where}; X must be non-negative. SemiNMF and ConvexNMF take data of "
    "either sign; or shift X, for example by its smallest value."
)


def check_X(
    estimator: Any, X: Any, missing: Missing, *, reset: bool, min_samples: int = 1, spread: bool = False
) -> tuple[Any, int]:
    """X as a float array or `csr_array`, or `StoredRows`, non-negative unless the estimator's tags allow otherwise.

    It is copied only if it must be converted. With `spread`, chunks of a dask array go to workers, if there are any.
    Also returns an even e such that X / 2^e has values of order one, or 0 if X can be used as it is
    (`estimators.units`).
    """
    name = type(estimator).__name__
    X = read_data(
        X,
        allow_nan=missing == "nan",
        if_nan=_about_nan(estimator, missing),
        min_samples=min_samples,
        estimator=estimator,
        reset=reset,
        stored=spread or getattr(estimator, "_takes_blocks", False),
        spread=spread,
    )
    positive = get_tags(estimator).input_tags.positive_only
    if isinstance(X, StoredRows):
        if_nan = None if missing == "nan" else _about_nan(estimator, missing)
        X.check(if_nan, NEGATIVE.format(name=name, where=" (row {row})") if positive else None)
    if missing == "unstored" and not (X.facts.sparse if isinstance(X, StoredRows) else sp.issparse(X)):
        raise ValueError(
            "missing='unstored' needs a sparse X; for a dense X mark unknown entries with NaN and use 'nan'."
        )
    smallest, highest = _extremes(X)
    if smallest < 0 and positive:
        raise ValueError(NEGATIVE.format(name=name, where=""))
    return X, excess(X, max(highest, -smallest))


def _about_nan(estimator: Any, missing: Missing) -> str:
    """What to do about entries that are NaN."""
    name = type(estimator).__name__
    if missing == "unstored":
        return "With missing='unstored' every stored entry is known: remove these from X, or use missing='nan'."
    if "missing" in estimator.get_params(deep=False):
        return f"If these entries are unknown, use {name}(missing='nan'), which leaves them out of the fit."
    return (
        f"{name} needs every entry. NMF(missing='nan') and WeightedNMF(missing='nan') leave unknown entries out of "
        "the fit; or fill them in first."
    )


def what_is_missing(X: Any, missing: Missing) -> Missing:
    """None if X is complete after all: then it is treated like any complete data."""
    if missing == "nan":
        return "nan" if has_nan(X) else None
    nnz = X.facts.nnz if isinstance(X, StoredRows) else X.nnz if sp.issparse(X) else 0
    return None if missing == "unstored" and nnz == X.shape[0] * X.shape[1] else missing


def refuse_unknown(X: Operand) -> None:
    """Refuse data without any known entry."""
    if not known_counts(X)[0].any():
        why = "all are NaN" if X.missing == "nan" else "it stores none, and unstored entries are missing"
        raise ValueError(f"X has no known entry: {why}. Give data with known entries.")


def warn_unknown(X: Operand, samples: str = "get zero codes", features: str | None = None) -> None:
    """Warn about samples and features without any known entry, and say what becomes of them."""
    by_sample, by_feature = known_counts(X)
    for things, counts, fate in (("samples", by_sample, samples), ("features", by_feature, features)):
        never = np.flatnonzero(counts == 0)
        if len(never) and fate is not None:
            warn(f"Nothing is observed of {len(never)} {things} ({_listed(never)}); they {fate}.")


def check_closed(problem: Problem) -> None:
    """Refuse positive features that are zero in every component, if the loss would be infinite there.

    Computations keep it finite, and with the Kullback–Leibler divergence it is a constant of the size of X. With β < 1
    it is so large that nothing else would count.
    """
    domain, X = problem.bound_domains[COMPONENTS], problem.X
    beta = min((term.order for term in problem.fits if isinstance(term, BetaDivergence)), default=2.0)
    if beta >= 1 or not isinstance(domain, Fixed):
        return
    closed = ~domain.put(np.ones((X.shape[1], problem.n_components), X.dtype), COMPONENTS).any(axis=1)
    bad = np.flatnonzero(closed & np.any(X.over_rows(_positive_in), axis=0)) if closed.any() else ()
    if len(bad):
        raise ValueError(
            f"The β-divergence with β = {beta:g} is infinite in {len(bad)} features ({_listed(bad)}): X is positive "
            "there, but every component is held at zero. Let a component have them, leave them out, or use β ≥ 1, for "
            "example loss='kullback-leibler'."
        )


def _positive_in(x: Any) -> Array:
    """Which features are positive in some rows."""
    if not sp.issparse(x):
        return np.asarray((x > 0).any(axis=0))
    return np.bincount(x.indices[x.data > 0], minlength=x.shape[1]) > 0


def _listed(places: Any) -> str:
    """The first of some numbers."""
    return ", ".join(map(str, places[:5])) + (", …" if len(places) > 5 else "")


def _extremes(X: Any) -> tuple[float, float]:
    """The smallest and the largest of the known entries, zero among them."""
    if isinstance(X, StoredRows):
        return X.facts.smallest, X.facts.largest
    values = values_of(X)
    if values.size == 0:
        return 0.0, 0.0
    smallest, highest = float(values.min()), float(values.max())
    if math.isnan(smallest):
        # Where every entry is NaN, so are these.
        smallest, highest = float(np.fmin.reduce(values, axis=None)), float(np.fmax.reduce(values, axis=None))
        if math.isnan(smallest):
            return 0.0, 0.0
    return min(smallest, 0.0), max(highest, 0.0)


def largest(X: Any) -> float:
    """The largest absolute value of the known entries."""
    smallest, highest = _extremes(X)
    return max(highest, -smallest)


def excess(X: Any, size: float) -> int:
    """An even power of two by which X of that size is too large, or too small if it is negative; 0 if it is neither.

    Methods compute sums of products of four values of X, which must be finite.
    """
    limits, room = np.finfo(X.dtype), (8 * max(X.shape)) ** 0.5
    if size == 0 or float(limits.tiny) ** 0.25 * room <= size <= float(limits.max) ** 0.25 / room:
        return 0
    return 2 * ((math.frexp(size)[1] - 1) // 2)


def fits(X: Any) -> bool:
    """Whether at least sums of squares of the values are finite."""
    lowest, highest = _range(X)
    size = largest(X)
    return size == 0 or lowest <= size <= highest


def _range(X: Any) -> tuple[float, float]:
    limits, room = np.finfo(X.dtype), 8 * max(X.shape)
    return float(np.sqrt(limits.tiny)) * room, float(np.sqrt(limits.max)) / room


def out_of_range(X: Any) -> str:
    """What is wrong with data that are too large or too small, and what to do."""
    lowest, highest = _range(X)
    return (
        f"The largest value of X is {largest(X):.3g}; its square does not fit into {X.dtype}. "
        f"Scale X so that its largest value lies between {lowest:.0e} and {highest:.0e}."
    )


def check_sample_weight(sample_weight: Any, n_samples: int, dtype: Any) -> Array | None:
    """Non-negative weights, not all zero; None stays None."""
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight)
    if weight.ndim == 0:
        weight = np.full(n_samples, weight)
    if weight.dtype.kind not in "bfiu":
        raise ValueError(f"sample_weight must hold numbers; it has dtype {weight.dtype}.")
    if weight.shape != (n_samples,):
        raise ValueError(f"sample_weight has shape {weight.shape}; X has {n_samples} samples, one weight each.")
    if not np.isfinite(weight).all() or (weight < 0).any():
        raise ValueError("sample_weight must be finite and non-negative.")
    if not (weight > 0).any():
        raise ValueError("sample_weight is zero for every sample; at least one must count.")
    check_size_of_weights("sample_weight", weight, dtype)
    return weight.astype(dtype)


def check_weight_there(weight: Array | None) -> None:
    """Refuse weights of samples on workers that are zero."""
    if weight is not None and not weight.all():
        raise ValueError("Samples of weight zero cannot be on workers. Leave these rows out of X.")


def check_factors(
    init: Any, shape: tuple[int, int], n_components: int, dtype: Any, signed: bool = False
) -> tuple[Array, Array]:
    """Copies of the given start (W, H) as W and Hᵀ; `signed` allows negative entries in H."""
    if not isinstance(init, tuple | list) or len(init) != 2:
        raise ValueError("init must be the name of a start or a pair of arrays (W, H).")
    n, m = shape
    W = check_factor("W", init[0], (n, n_components), dtype)
    H = check_factor("H", init[1], (n_components, m), dtype, signed)
    return W, np.ascontiguousarray(H.T)


def check_factor(name: str, F: Any, shape: tuple[int, int], dtype: Any, signed: bool = False) -> Array:
    """A copy of one factor of a given start."""
    F = np.array(F, dtype=dtype, order="C")
    if F.shape != shape:
        raise ValueError(f"init: {name} has shape {F.shape}; it must be {shape}.")
    if not np.isfinite(F).all():
        raise ValueError(f"init: {name} must be finite.")
    if (F < 0).any() and not signed:
        raise ValueError(f"init: {name} must be non-negative.")
    return F


def check_size(X: Any, n_components: int) -> None:
    """Refuse what cannot fit into memory; warn if there are more components than the data can have."""
    shape, instead = X.shape, "Choose fewer components."
    n_rows = sum(shape)
    if isinstance(X, StoredRows):
        n_rows = shape[1] if X.room.elsewhere else n_rows
        instead = "Choose fewer components, or keep the codes on disk: partwise.blocks.CodesOnDisk(X, path)."
    needed = 6 * n_rows * n_components * X.dtype.itemsize
    check_fits(needed, f"n_components={n_components} on data of shape {shape}", instead)
    if n_components > min(shape):
        warn(
            f"n_components={n_components} is more than X of shape {shape} can need; "
            f"{min(shape)} components fit it exactly.",
        )

"""Models of earlier formats, translated to the present one.

Format 1 kept the terms of the fit, bound to the training data, and apart from them the training codes, and a second
model for data beyond the range of squares. Format 2 keeps the terms by which new samples are coded, and the unit. Both
describe objects by the names of their classes and their attributes (`files.plain`), so that one description is made of
the other, without making any object.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import log2
from typing import Any

from .core.types import Array
from .files.archive import Refused
from .terms.divergence import order
from .terms.smoothness import ONLY_TRAINING_SAMPLES

Tree = Any
Attributes = Mapping[str, Tree]

WITH_COMPONENTS_OF_SAMPLES = ("ConceptFactorization", "ConvexNMF", "KernelGraphNMF", "LocalSimilarityNMF")
# Estimators that recorded the origin of their graph in its term.
WITH_GRAPH_METHOD = ("ConceptFactorization", "GraphNMF", "KernelGraphNMF", "LocalCoordinateNMF")

# What models with a graph over missing entries said, when neighbours could not be found there.
NO_NEIGHBORS = (
    "New samples cannot be coded: they are linked to their nearest training samples, and neighbours cannot be found in "
    "data with missing entries. Use embedding_, or fit with the new samples among the others."
)


def from_format_1(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> dict[str, Any]:
    """A header of format 1 as one of format 2, given the arrays that it names."""
    fitted = _fitted(header["class"], header["fitted"])
    rescaled = fitted.pop("_rescaled", None)
    if rescaled is not None:
        fitted["_unit"] = _unit(header, fitted, rescaled["attributes"], arrays)
    return {**header, "fitted": fitted}


def _unit(header: Mapping[str, Any], fitted: Attributes, rescaled: Attributes, arrays: Mapping[str, Array]) -> Tree:
    """The unit of a fit. Format 1 kept a model in that unit beside the one in the unit of the data."""
    exponent, inner = rescaled["exponent"], rescaled["model"]["attributes"]
    objective = _objective_power(header["class"], header["parameters"])
    converted = fitted.get("objective_") != inner.get("objective_")
    components = 0.0
    if "components_" in fitted:
        outside, inside = (float(abs(arrays[each["components_"]["array"]]).max()) for each in (fitted, inner))
        components = round(log2(outside / inside)) / exponent
    powers = _object("Powers", objective=objective, codes=rescaled["codes_exponent"] / exponent, components=components)
    return _object("Unit", exponent=exponent, powers=powers, shift=0, history=objective * exponent * converted)


def _objective_power(kind: str, parameters: Attributes) -> float:
    """As which power of the unit of X the objective of a method grows."""
    if kind in WITH_COMPONENTS_OF_SAMPLES:
        return {"linear": 2.0, "precomputed": 1.0}.get(str(parameters["kernel"]), 0.0)
    return 0.0 if parameters.get("weighting") else order(parameters.get("loss", "frobenius"))


def _fitted(kind: str, fitted: Attributes) -> dict[str, Tree]:
    """The attributes of a fitted model."""
    new = dict(fitted)
    if kind == "LatentSemanticKMeans":
        new |= {"_n_clusters": new.pop("n_components_"), "_left": new.pop("reconstruction_err_") ** 2}
        new["_losses"] = [_object("Frobenius", weights=None)]
    if "_bound_terms" not in new:
        return new
    on_features = new.pop("_coding", [])
    bound = [_ungauged(tree) for tree in new.pop("_bound_terms")]
    codes = new.pop("_codes", None) or new["embedding_"]
    on_codes = [coding for tree in bound if (coding := _coding(tree, codes)) is not None]
    new["_coding"] = [*on_features, *on_codes]
    if kind in WITH_GRAPH_METHOD:
        graphs = [tree["attributes"] for tree in bound if tree["object"] == "BoundNeighborGraph"]
        new["graph_method_"] = graphs[0]["search"] if graphs else "none"
    return new


def _ungauged(tree: Tree) -> Tree:
    """The penalty itself: new codes see it where the components have unit norm."""
    return tree["attributes"]["penalty"] if tree["object"] == "Gauged" else tree


def _coding(tree: Tree, codes: Tree) -> Tree | None:
    """The term by which new samples are coded, given a bound term and the training codes."""
    kind = tree["object"]
    if kind not in CODING:
        raise Refused(f"its description names a class {kind!r}, which this version does not know")
    return CODING[kind](tree["attributes"], codes)


def _object(kind: str, **attributes: Tree) -> Tree:
    return {"object": kind, "attributes": attributes}


def _divergence(bound: Attributes, codes: Tree) -> Tree:
    return _object("BetaDivergence", beta=bound["beta"], weights=None)


def _local_coordinates(bound: Attributes, codes: Tree) -> Tree:
    return _object("LocalCoordinates", strength=bound["strength"])


def _norm(kind: str) -> Callable[[Attributes, Tree], Tree | None]:
    def coding(bound: Attributes, codes: Tree) -> Tree | None:
        if bound["factor"] != "codes":
            return None
        return _object(kind, strength=bound["strength"], factor="codes")

    return coding


def _linked(bound: Attributes, codes: Tree) -> Tree:
    X = bound["_X"]["attributes"]
    if X["missing"] is not None:
        return _object("Uncodable", reason=NO_NEIGHBORS)
    names = ("n_neighbors", "metric", "edge_weights", "bandwidth")
    linking = dict(zip(names, bound["_linking"]["tuple"], strict=True))
    return _object("LinkedCodes", strength=bound["_strength"], **linking, samples=X["_X"], codes=codes)


def _predicted(bound: Attributes, codes: Tree) -> Tree:
    term = bound["_term"]["attributes"]
    regression = {name: term[name] for name in ("n_neighbors", "kernel", "ridge", "metric")}
    regression["bandwidth"] = bound["_bandwidth"]
    samples = bound["_X"]["attributes"]["_X"]
    return _object("PredictedCodes", strength=bound["_strength"], **regression, samples=samples, codes=codes)


# The bound terms of format 1. Those that do not concern new codes have no term.
CODING: dict[str, Callable[[Attributes, Tree], Tree | None]] = {
    **dict.fromkeys(
        ("BoundFrobenius", "BoundOrthogonalFit", "BoundTriFit"), lambda bound, codes: _object("Frobenius", weights=None)
    ),
    **dict.fromkeys(("BoundDivergence", "BoundKullbackLeibler"), _divergence),
    **dict.fromkeys(("BoundLocalCoordinates", "BoundKnownCoordinates"), _local_coordinates),
    **dict.fromkeys(("BoundConstant", "BoundOrthogonality"), lambda bound, codes: None),
    "BoundTruncatedCauchy": lambda bound, codes: _object(
        "TruncatedCauchy", scale=bound["_scale"], truncation=bound["_truncation"]
    ),
    "BoundLocalness": lambda bound, codes: _object("Localness"),
    "BoundL1": _norm("L1"),
    "BoundL2": _norm("L2"),
    "BoundGivenSmoothness": lambda bound, codes: _object("Uncodable", reason=ONLY_TRAINING_SAMPLES),
    "BoundNeighborGraph": _linked,
    "BoundLocalLearning": _predicted,
}

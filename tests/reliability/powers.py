"""Which powers of the unit of X the parameters and results of a method have, by its formula: what the tests expect.

Terms say the same of their own parameters, for their own use; nothing here comes from them.
"""

from dataclasses import dataclass, field
from numbers import Real

from partwise.terms.divergence import order

MADE_OF_SAMPLES = ("ConceptFactorization", "ConvexNMF", "KernelGraphNMF", "LocalSimilarityNMF")
# Losses that grow as squares do.
ROBUST = ("huber", "l1")
UNIT_CODES = ("LocalLearningClustering", "NormalizedCut", "OrthogonalNMF", "OrthogonalTriNMF")
# An objective that weighs counts, and domains that may have a unit.
ABSOLUTE = ("LocalNMF", "Factorization free", "Factorization simplex", "Factorization one entry")


@dataclass
class Units:
    codes: float
    components: float
    objective: float
    parameters: dict = field(default_factory=dict)
    results: dict = field(default_factory=dict)

    @property
    def start(self):
        """The arrays of a given start: W and H, W and P, or F, S and G."""
        if "dual_components_" in self.results:
            return self.codes, -self.codes
        return (0, 1, 0) if "association_" in self.results else (self.codes, self.components)

    @property
    def factors(self):
        """Fitted arrays and numbers with a unit, by name."""
        return {"embedding_": self.codes, "components_": self.components, **self.results}


def units(estimator):
    """Of an estimator, with the values that it chose if it is fitted."""
    kind, given = type(estimator).__name__, estimator.get_params()
    if hasattr(estimator, "selection_"):
        given |= estimator.selection_.choice
    if kind in MADE_OF_SAMPLES:
        return made_of_samples(kind, given)
    if kind in UNIT_CODES:
        of = local_predictors(given) if "ridge" in given else {"bandwidth": 2} if "bandwidth" in given else {}
        return Units(0, 1, 2, of, {"association_": 1} if kind == "OrthogonalTriNMF" else {})
    if given.get("terms"):
        given["loss"] = given["terms"][0].beta
    loss = given.get("loss", "frobenius")
    loss = "frobenius" if loss in ROBUST else "kullback-leibler" if loss == "negative-binomial" else loss
    fit = 0.0 if given.get("weighting") == "ncut" else order(loss)
    codes = codes_power(kind, given)
    of = {"l1_codes": fit - codes, "l2_codes": fit - 2 * codes, "graph_strength": fit - 2 * codes}
    of |= {"l1_components": fit - (1 - codes), "l2_components": fit - 2 * (1 - codes)}
    of |= {"local_strength": fit - 2 * codes, "coordinate_strength": fit - 2, "bandwidth": 2}
    of |= {"cauchy_scale": 1, "loss_scale": 1, "dispersion": -1}
    of |= local_predictors(given) if "ridge" in given else {}
    parameters = {name: power for name, power in of.items() if name in given}
    attributes = {"cauchy_scale_": 1, "loss_scale_": 1, "dispersion_": -1, "reconstruction_err_": fit / 2}
    return Units(codes, 1 - codes, fit, parameters, attributes)


def codes_power(kind, given):
    """1 where components have unit norm, 0 where codes do or are coordinates, ½ where the start decides."""
    coordinates = given.get("coordinate_strength", 0)
    if kind == "LocalCoordinateNMF" and not (isinstance(coordinates, Real) and coordinates == 0):
        return 0.0
    on_codes = any(given.get(name, 0) for name in ("l1_codes", "l2_codes"))
    on_components = any(given.get(name, 0) for name in ("l1_components", "l2_components"))
    scale = given.get("scale", "auto")
    if scale == "auto" and on_components:
        scale = None if on_codes else "codes"
    return 0.5 if scale is None else 0.0 if scale == "codes" else 1.0


def local_predictors(given):
    return {"bandwidth": 2.0, "ridge": 2.0 if given["kernel"] == "linear" else 0.0}


def made_of_samples(kind, given):
    kernel = {"linear": 2.0, "precomputed": 1.0}.get(given["kernel"], 0.0)
    free = given.get("scale", "auto") is None or given.get("orthogonality", 0) != 0 or kind == "LocalSimilarityNMF"
    codes = 0.0 if free else kernel / 2
    of = {"graph_strength": kernel - 2 * codes, "orthogonality": kernel, "outlier_strength": kernel / 2}
    of |= {"bandwidth": 2, "edge_bandwidth": 2}
    parameters = {name: power for name, power in of.items() if name in given}
    return Units(codes, kernel / 2 - codes, kernel, parameters, {"dual_components_": -codes})

"""Non-negative local coordinate factorisation."""

from dataclasses import field, replace
from numbers import Real
from typing import Annotated, Any, Literal, cast

from ..core import Term, Unit, Unscalable
from ..selection.grids import COORDINATE_STRENGTHS, STRENGTHS
from ..terms.local_coordinates import LocalCoordinates
from .graph_parameters import GraphOnCodes
from .labelled import LabelledFactorization
from .loss_parameters import LossBesidePenalty
from .nmf import fit_term
from .open_components import OpenFactorization
from .options import OpenStrength
from .streaming import StreamingFactorization


class LocalCoordinateNMF(
    GraphOnCodes, LossBesidePenalty, OpenFactorization, LabelledFactorization, StreamingFactorization
):
    r"""Non-negative matrix factorisation in which samples are coded by components close to them (NLCF, NLCF-G).

    Minimises, over codes W ≥ 0 (n × k) and components H ≥ 0 (k × m),

        D(X, W H) + coordinate_strength · Σ_ij w_ij ‖x_i − h_j‖² + graph_strength · tr(Wᵀ L W)

    (Chen, Zhang, Cai, Liu & He, "Non-negative local coordinate factorization for image representation", IEEE TIP 2013,
    Eq. 3 and 10 with W = Vᵀ, H = Uᵀ). L is the Laplacian of the nearest-neighbour graph, as in :class:`GraphNMF`; with
    ``graph_strength > 0`` the method is the paper's NLCF-G. D is ‖X − W H‖² or, as the paper leaves open, the
    Kullback-Leibler divergence. The multiplicative solver makes the paper's steps, Eq. 7-8 and 11-12.

    Components look like samples and codes are sparse. The penalty ties the components to the samples, so there is no
    scale to choose: the factors are returned as the minimum has them, and the graph is measured as written. Components
    that no sample uses any more are moved to the samples represented worst.

    Parameters
    ----------
    coordinate_strength : float, "auto" or sequence of float
        How much the distance between a sample and the components of its code counts, μ in the paper, which uses 0.1 to
        1. With the squared error it has no unit: scaling X does not change it. With the Kullback-Leibler divergence it
        has that of 1 / X. 0 is :class:`GraphNMF`, with its scale. "auto" chooses it without labels, by the clusters,
        among 0, 0.001, 0.01, 0.1 and 1, at eight times the cost of a fit with a number on small data, at most 13 times
        on the sets of the study; where there is nothing to compare, it is 0.1. For components that look like samples
        and for sparse codes, give 0.1 or more.
    graph_strength : float, "auto" or sequence of float
        How much neighbours count, λ in the paper; "auto" as for :class:`GraphNMF`. Next to coordinates, which have no
        unit, it has that of D; without them it is that of :class:`GraphNMF`. So where it is a number, "auto" chooses
        among coordinate strengths above 0.

    Notes
    -----
    The objective flattens long before the factors stop moving (the paper takes the former for convergence): clusterings
    are better after many sweeps. For missing entries see :class:`partwise.terms.LocalCoordinates`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from partwise import LocalCoordinateNMF
    >>> from partwise.metrics import sparseness
    >>> X, y = load_digits(return_X_y=True)
    >>> model = LocalCoordinateNMF(20, coordinate_strength=0.1, random_state=0).fit(X)
    >>> bool(sparseness(model.embedding_).mean() > 0.7)
    True
    """

    _takes_blocks = True
    _takes_workers = True

    coordinate_strength: Annotated[OpenStrength, COORDINATE_STRENGTHS] = "auto"
    # Coordinates are chosen first, and without a graph: where they do not count, it has another unit.
    graph_strength: Annotated[OpenStrength, replace(STRENGTHS, meanwhile=0.0)] = 0.0
    # The penalty settles the scale; there is nothing to choose.
    scale: Literal["auto"] = field(default="auto", init=False)

    def _unit_for(self, exponent: int, dtype: Any) -> Unit:
        coordinates: Any = self.coordinate_strength
        listed = [] if isinstance(coordinates, Real | str) else list(coordinates)
        if 0 in listed and isinstance(self.graph_strength, Real) and self.graph_strength != 0:
            raise Unscalable("coordinate_strength may become 0, where graph_strength has another unit")
        return super()._unit_for(exponent, dtype)

    def _terms(self) -> list[Term]:
        coordinates = LocalCoordinates(cast(float, self.coordinate_strength))
        return [fit_term(self.loss), coordinates, *self._graph_terms()]

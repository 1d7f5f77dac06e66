"""Kernel orthogonal non-negative matrix factorisation with a graph."""

from typing import cast

from ..core import CODES, COMPONENTS, Term
from ..terms.dual import DualFit
from ..terms.orthogonality import Orthogonality
from .dual import BaseDualFactorization
from .graph_parameters import GraphBesideKernel
from .labelled import LabelledFactorization
from .options import Assign, Auto, Kernel, NonNegative


class KernelGraphNMF(GraphBesideKernel, BaseDualFactorization, LabelledFactorization):  # type: ignore[misc]
    r"""Kernel orthogonal non-negative matrix factorisation with a graph (KOGNMF): clusters that need not be convex.

    Minimises, over codes W ≥ 0 and coefficients P ≥ 0 (both n × k), Φ being the features of a kernel K = Φ Φᵀ,

        ‖Φ − W Pᵀ Φ‖² + graph_strength · Σ_{i<j} e_ij ‖w_i − w_j‖² + orthogonality/2 · ‖WᵀW − I‖²

    (Tolić, Antulov-Fantulin & Kopriva, "A nonlinear orthogonal non-negative matrix factorization approach to subspace
    clustering", 2018, with W = Hᵀ, P = F, λ = graph_strength, μ = orthogonality and α = 1.) Non-negative codes with
    orthogonal columns are a clustering, so labels come directly from the codes.

    Parameters
    ----------
    n_components : int
        Number of clusters, k.
    graph_strength : float
        How much neighbours count, λ in the paper. The codes have columns of roughly unit norm and the fit has the unit
        of tr K, which with "rbf" and "cosine" is the number of samples.
    orthogonality : float or "auto"
        How much overlapping codes cost, μ in the paper. "auto" is tr K / k. With 0 the graph is measured where every
        component has unit norm.
    solver : {"auto", "projected", "multiplicative"}
        "projected", the default, updates codes column by column and coefficients by accelerated projected gradient; no
        sweep raises the objective. "multiplicative" makes the paper's steps, for which that is not proved: the
        orthogonality term is a quartic, and a ratio without a root is too long a step for it.
    init : {"auto", "kmeans", "random"} or (W, P)
        "auto" is "kmeans" on the features. The stronger the orthogonality, the more the clusters are those of the
        start.

    Notes
    -----
    A sweep costs two products with the features for the codes and two per step on the coefficients, at most ten steps,
    k² n operations per pass over the columns, and k passes over the edges. X may be dense or sparse, with entries of
    either sign. New samples get the codes that minimise the fit and the graph; orthogonality concerns all codes
    together, not a new one.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from partwise import KernelGraphNMF
    >>> from partwise.metrics import clustering_accuracy
    >>> X, y = make_circles(200, factor=0.2, noise=0.05, random_state=0)
    >>> model = KernelGraphNMF(2, bandwidth=0.3, metric="euclidean", n_init=4, random_state=0).fit(X)
    >>> clustering_accuracy(y, model.labels_) > 0.9
    True
    """

    orthogonality: NonNegative | Auto = "auto"
    graph_strength: NonNegative = 1.0
    kernel: Kernel = "rbf"
    assign: Assign = "argmax"

    _signed_data = True
    # A graph is measured where components have unit norm, unless codes are orthogonal.
    scale = "auto"
    _printed_powers = {CODES: 1.0, COMPONENTS: 1.0}  # noqa: RUF012

    def _terms(self) -> list[Term]:
        return [DualFit(), Orthogonality(cast(float, self.orthogonality)), *self._graph_terms()]

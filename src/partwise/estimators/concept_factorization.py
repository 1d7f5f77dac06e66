"""Concept factorisation, plain and locally consistent."""

from ..core import Term
from ..terms.dual import DualFit
from .dual import BaseDualFactorization
from .graph_parameters import GraphBesideKernel
from .labelled import LabelledFactorization
from .options import AutoScale


class ConceptFactorization(GraphBesideKernel, BaseDualFactorization, LabelledFactorization):  # type: ignore[misc]
    r"""Concept factorisation in which neighbours have similar codes (LCCF; CF without a graph).

    Minimises, over codes W ≥ 0 and coefficients P ≥ 0 (both n × k), with H = Pᵀ X,

        ‖X − W Pᵀ X‖² + graph_strength · Σ_{i<j} e_ij ‖w_i − w_j‖²

    (Cai, He & Han, "Locally consistent concept factorization for document clustering", 2011, with W = V, P = W; at
    graph_strength 0 Xu & Gong, "Document clustering by concept factorization", 2004.) It is to :class:`GraphNMF` what
    :class:`ConvexNMF` is to :class:`NMF`: concepts are sums of samples, data may have either sign, and samples can be
    seen through any kernel. Neither the kernel K = X Xᵀ nor anything else of size n × n is formed.

    Scale is part of the model: as printed, the objective can be lowered by shrinking W and stretching P until the
    penalty has no effect. By default the penalty is measured where every concept has unit norm, p_jᵀ K p_j = 1, which
    is the norm that the paper gives its results.

    Parameters
    ----------
    n_components : int
        Number of concepts, k.
    graph_strength : float
        How much neighbours count, λ in the paper; 0 is plain concept factorisation. It has no unit.
    scale : {"auto", None}
        "auto" measures the penalty where concepts have unit norm; None is the paper's free scale.
    solver : {"auto", "projected", "multiplicative"}
        "projected", the default, uses coordinate descent for codes and accelerated projected gradient for coefficients.
        "multiplicative" makes, with ``scale=None``, the paper's steps. Neither raises the objective.

    Notes
    -----
    A sweep costs two products with X for the codes and two per step on the coefficients, at most ten steps, and a few
    passes over the edges. X may be dense or sparse, with entries of either sign.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.preprocessing import normalize
    >>> from partwise import ConceptFactorization
    >>> from partwise.metrics import clustering_accuracy
    >>> X, y = load_digits(return_X_y=True)
    >>> model = ConceptFactorization(10, random_state=0).fit(normalize(X))
    >>> clustering_accuracy(y, model.labels_) > 0.75
    True
    """

    scale: AutoScale = "auto"
    _signed_data = True

    def _terms(self) -> list[Term]:
        return [DualFit(), *self._graph_terms()]

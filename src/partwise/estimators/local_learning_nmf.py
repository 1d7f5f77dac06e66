"""Local learning regularised non-negative matrix factorisation."""

from collections.abc import Sequence
from typing import Any, cast

from ..core import BoundTerm, State, Term
from ..solvers import NamedStart, Start
from ..terms.graph import graph_origin
from .loss_parameters import LossBesidePenalty
from .nmf import fit_term
from .open_components import OpenFactorization
from .options import InitOrSpectral, ScaleOrCodes, StrengthOrAuto
from .predictor_parameters import PredictorParameters
from .spectral_start import SpectralStart


class LocalLearningNMF(PredictorParameters, LossBesidePenalty, OpenFactorization):
    r"""Non-negative matrix factorisation in which codes can be predicted from their neighbours (LLNMF).

    Minimises, over codes W ≥ 0 (n × k) and components H ≥ 0 (k × m),

        D(X, W H) + local_strength · Σ_i ‖w_i − Σ_j g_ij w_j‖²
            = D(X, W H) + local_strength · tr(Wᵀ L W),   L = (I − G)ᵀ(I − G)

    (Gu & Zhou, "Local learning regularized nonnegative matrix factorization", IJCAI 2009, Eq. 13 with W = Vᵀ, H = Uᵀ;
    the transpose in L is missing in the paper's Eq. 11). Row i of G predicts a code from those of the p nearest
    neighbours, without the sample itself, by kernel ridge regression (Eq. 4-9). D is ‖X − W H‖² or the Kullback-Leibler
    divergence. The multiplicative solver with ``scale=None`` makes the steps of Eq. 19 without the square root, which
    also descend, and faster.

    Scale is part of the model: as printed, the objective can be lowered by shrinking W and stretching H, until the
    penalty has no effect. By default the penalty is therefore measured where every component has unit norm. The paper
    fixes the norm of every *column of W* instead, which is ``scale="codes"``. The two are different models, and their
    strengths are not comparable: unit-norm columns of W have entries of size 1/√n, whatever X is.

    Parameters
    ----------
    local_strength : float, "auto" or sequence of float
        How much the neighbours' prediction counts, μ in the paper; 0 is :class:`NMF`. With the default scale it has no
        unit: scaling X does not change it. With ``scale="codes"`` it has the unit of ‖X‖² and good values are larger.
        "auto" chooses it without labels, as for :class:`GraphNMF`, at six times the cost of a fit with a number on
        small data, at most ten times on the sets of the study; where there is nothing to compare, it is 10.
    scale : {"auto", "components", "codes", None}
        "auto" and "components" measure the penalty where components have unit norm; "codes" keeps the columns of W at
        unit norm, the paper's scale, with its own solver (only for the squared error); None leaves the scale free.
    init : {"auto", "random", "nndsvd", "nndsvda", "kmeans", "sampled", "spectral"} or (W, H)
        Start. "auto" is "nndsvda". "sampled" first fits an eighth of the samples. "spectral" starts from the clusters
        of :class:`LocalLearningClustering`, which for large strengths reaches far better solutions than a random start.

    Attributes
    ----------
    graph_method_ : {"products", "index", "cells", "none"}
        How neighbours were found: exactly by products (dense data) or by an inverted index (sparse data), approximately
        by cells of similar samples; or not at all, at strength 0.
    graph_recall_ : float
        The share of the nearest samples that the search found: 1.0 unless it was approximate, and then measured on 256
        samples whose neighbours were also found exactly.

    Notes
    -----
    All-zero samples have no neighbours and no predictor. New samples are pulled towards the predictions from their
    neighbours' training codes.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from partwise import LocalLearningNMF
    >>> from partwise.metrics import clustering_accuracy
    >>> X, y = load_digits(return_X_y=True)
    >>> model = LocalLearningNMF(10, local_strength=10, init="spectral", random_state=0).fit(X)
    >>> clustering_accuracy(y, model.labels_) > 0.8
    True
    """

    _takes_workers = True

    local_strength: StrengthOrAuto = "auto"
    scale: ScaleOrCodes = "auto"  # type: ignore[assignment]
    init: InitOrSpectral = "auto"  # type: ignore[assignment]

    def _terms(self) -> list[Term]:
        return [fit_term(self.loss), self._local_learning(cast(float, self.local_strength))]

    def _keep(self, terms: Sequence[BoundTerm], state: State) -> None:
        super()._keep(terms, state)
        origin = graph_origin(terms)
        self.graph_method_, self.graph_recall_ = origin.search, origin.recall

    def _start(self, shape: tuple[int, int], dtype: Any) -> Start:
        kind = SpectralStart if self.init == "spectral" else NamedStart
        return kind(**self._start_fields(shape, dtype))

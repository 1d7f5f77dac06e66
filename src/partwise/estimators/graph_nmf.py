"""Graph regularised non-negative matrix factorisation."""

from ..core import Missing, Term
from .dispersion import Dispersion
from .graph_parameters import GraphOnCodes
from .known_components import KnownComponents
from .labelled import LabelledFactorization
from .loss_scale import LossScale
from .nmf import fit_term
from .options import AnyPenalisedLoss


class GraphNMF(GraphOnCodes, KnownComponents, Dispersion, LossScale, LabelledFactorization):
    r"""Non-negative matrix factorisation in which neighbours have similar codes (GNMF, SemiGNMF).

    Minimises, over codes W ≥ 0 (n × k) and components H ≥ 0 (k × m),

        D(X, W H) + graph_strength · Σ_{i<j} e_ij ‖w_i − w_j‖²
            = D(X, W H) + graph_strength · tr(Wᵀ L W),   L = diag(E 1) − E

    (Cai, He & Han, "Graph regularized non-negative matrix factorization for data representation", 2008, Eq. 6-8 with
    W = V, H = Uᵀ). D is ‖X − W H‖², the Kullback-Leibler divergence, a robust loss, or half the deviance of
    overdispersed counts. The multiplicative solver with ``scale=None`` makes the paper's steps, Eq. 15-16. With
    ``use_labels=True`` samples of one class are linked and samples of different classes are not (SemiGNMF).

    Scale is part of the model: as printed, the objective can be lowered by shrinking W and stretching H, until the
    penalty has no effect. By default the penalty is therefore measured where every component has unit norm.

    Parameters
    ----------
    graph_strength : float, "auto" or sequence of float
        How much neighbours count, λ in the paper; 0 is :class:`NMF`. It has no unit: scaling X does not change it.
        Faces need 1 or less, digits 1 to 10, objects and topics 10 to 1,000. "auto" chooses it without labels, among 0,
        0.01, 0.1, … 1,000. On small data this costs about seven times as much as a fit with a number, at most ten times
        on the sets of the study, and less on larger data: the choice uses at most 2,000 samples. Where there is nothing
        to compare (one component, hardly any samples, a warm start), it is 10, or what the last fit had, and
        `selection_` says so. ``graph_strength=10`` is a good fixed value.
    loss : {"frobenius", "kullback-leibler", "huber", "l1", "negative-binomial"}
        D. "huber" is the squared error of residuals up to `loss_scale` and linear beyond; "l1" is the same with a scale
        so small that it is nearly the absolute error, times twice the scale. "negative-binomial" is for counts that
        vary more than Poisson ones, by their `dispersion`.
    missing : {None, "nan", "unstored"}
        Entries of X that are unknown and do not count: none, those that are NaN, or those a sparse X does not store.
        Neighbours are then found by the features known in both samples, at least five of them: by their cosine or their
        mean squared difference there, which count less the fewer they are, with edges of weight 1, in training and for
        new samples. Where samples share too few features for that, give a `graph`. "auto" is then 10 for
        `graph_strength`. A sample without any known entry takes the mean code of its neighbours in a given graph, and
        otherwise a code of zeros.
    scale : {"auto", "components", None}
        "auto" and "components" measure the penalty where components have unit norm; None is the paper's free scale.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.preprocessing import normalize
    >>> from partwise import GraphNMF
    >>> from partwise.metrics import clustering_accuracy
    >>> X, y = load_digits(return_X_y=True)
    >>> model = GraphNMF(10, random_state=0).fit(normalize(X))
    >>> clustering_accuracy(y, model.labels_) > 0.8
    True
    """

    _takes_blocks = True
    _takes_workers = True

    loss: AnyPenalisedLoss = "frobenius"
    missing: Missing = None

    def _terms(self) -> list[Term]:
        return [fit_term(self.loss, self.loss_scale, self.dispersion), *self._graph_terms(), *self._known_terms()]

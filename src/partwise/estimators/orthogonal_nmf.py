"""Orthogonal non-negative matrix factorisation."""

from typing import ClassVar

from ..core import CODES, COMPONENTS, Factor, Term
from ..terms.orthogonal_fit import OrthogonalFit
from .options import OrthogonalInit
from .orthogonal import BaseOrthogonal


class OrthogonalNMF(BaseOrthogonal):
    r"""Orthogonal non-negative matrix factorisation (ONMF): every sample belongs to one component.

    Minimises, over codes W ≥ 0 (n × k) with orthogonal columns and components H ≥ 0 (k × m),

        ‖X − W H‖²   subject to   WᵀW = I

    (Ding, Li, Peng & Park, "Orthogonal nonnegative matrix t-factorizations for clustering", 2006, with W = G, H = Fᵀ).
    Columns that are orthogonal and non-negative have no sample in common, so this is a clustering in which every
    sample also has a length: k-means on directions, with long samples counting more.

    Parameters
    ----------
    n_components : int
        Number of clusters, k.
    solver : {"auto", "assignment", "multiplicative"}
        "assignment", the default, keeps WᵀW = I exactly: every sample goes to the component that explains most of it,
        every component is the best one for its samples (Pompili, Gillis, Absil & Glineur 2014). No sweep raises the
        objective. "multiplicative" makes the steps of the 2006 paper, W ← W ∘ √(XHᵀ / WWᵀXHᵀ) and those of
        :class:`NMF` for H. Its codes are orthogonal only in the limit, and its objective may rise on the way.
    init : {"auto", "kmeans", "random", "nndsvd", "nndsvda"} or (W, H)
        "auto" is "kmeans" if there are enough samples. "assignment" keeps the largest entry of every row of the start.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        W, with columns of unit norm.
    components_ : ndarray of shape (n_components, n_features)
        H, which carries the scale.

    Notes
    -----
    A sweep costs two products with X, dense or sparse. New samples get a single entry, as orthogonal codes have. A
    sample without any entry has an empty code, and the label 0 by "argmax". With more components than samples some
    components stay empty, and a warning says so.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from partwise import OrthogonalNMF
    >>> from partwise.metrics import clustering_accuracy
    >>> X, y = load_digits(return_X_y=True)
    >>> model = OrthogonalNMF(10, random_state=0).fit(X)
    >>> bool(np.allclose(model.embedding_.T @ model.embedding_, np.eye(10)))
    True
    >>> clustering_accuracy(y, model.labels_) > 0.65
    True
    """

    _takes_blocks = True

    init: OrthogonalInit = "auto"

    _printed_powers: ClassVar[dict[Factor, float] | None] = {CODES: 0.5, COMPONENTS: 1.0}

    def _terms(self) -> list[Term]:
        return [OrthogonalFit()]

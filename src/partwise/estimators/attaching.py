"""Models that read the samples of their fit again when they code new ones."""

from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from ..core import Missing, StoredRows, Term
from .units import check_new_X


class Attaching:
    """A model that links new samples to those of its fit, which may not be in memory."""

    missing: Missing
    _coding: list[Term]

    def attach(self, X: Any) -> Self:
        """Give a loaded model the samples of its fit again, if these were not in memory.

        A model with a graph links new samples to those of the fit. In the process of the fit it reads these where they
        are stored; a saved model contains neither them nor the place, and asks for them.

        Parameters
        ----------
        X : data on disk
            Those of the fit, from any source of rows (:mod:`partwise.blocks`); others are refused.

        Returns
        -------
        self
        """
        check_is_fitted(self, "embedding_")
        samples = check_new_X(self, X, self.missing)
        if not isinstance(samples, StoredRows):
            raise TypeError(
                "attach takes data that are not in memory, as partwise.blocks reads them; X is in memory. "
                "Give partwise.blocks.ArrayRows(X), or of a CSR matrix CsrRows(X.data, X.indices, X.indptr, X.shape)."
            )
        terms = [term.attached(samples) for term in self._coding]
        if all(term is None for term in terms):
            raise ValueError(f"This {type(self).__name__} has all that it needs to code new samples.")
        self._coding = [own if new is None else new for own, new in zip(self._coding, terms, strict=True)]
        return self

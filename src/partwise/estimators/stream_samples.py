"""Samples of a stream that stay as they are for a while."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core import Array, IntArray


@dataclass(frozen=True, eq=False)
class Samples:
    """Some samples in the unit of the fit, with their weights and classes, where there are any."""

    X: Any
    weight: Array | None = None
    labels: IntArray | None = None

    @property
    def total(self) -> float:
        """How many there are, with their weights."""
        return float(self.X.shape[0] if self.weight is None else self.weight.sum(dtype=np.float64))

    def weighed(self, share: float) -> Samples:
        """The same samples, counting more or less."""
        n, dtype = self.X.shape[0], self.X.dtype
        weight = np.ones(n, dtype) if self.weight is None else self.weight
        return replace(self, weight=(share * weight).astype(dtype))

    def kept(self) -> Samples:
        """The same samples, which nobody else can change."""
        return replace(self, X=self.X.copy(), weight=None if self.weight is None else self.weight.copy())

    def chosen(self, rows: IntArray) -> Samples:
        """Some of them, as a copy."""
        return Samples(self.X[rows], *(None if part is None else part[rows] for part in (self.weight, self.labels)))

    def telling(self) -> Array:
        """Which of them say something about components: they have entries, or a class, and count."""
        found = np.asarray((abs(self.X) > 0).sum(axis=1)) > 0
        if self.labels is not None:
            found |= self.labels >= 0
        return found if self.weight is None else found & (self.weight > 0)

    def after(self, earlier: Samples | None) -> Samples:
        """These, after earlier ones."""
        if earlier is None:
            return self
        both = (earlier, self)
        weight = None
        if any(part.weight is not None for part in both):
            weight = np.concatenate([part.weighed(1.0).weight for part in both])
        labels = None if self.labels is None else np.concatenate([part.labels for part in both])
        if any(sp.issparse(part.X) for part in both):
            return Samples(sp.csr_array(sp.vstack([sp.csr_array(part.X) for part in both])), weight, labels)
        return Samples(np.concatenate([part.X for part in both]), weight, labels)

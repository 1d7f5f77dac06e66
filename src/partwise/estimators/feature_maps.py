"""From the parameter `kernel` to the features Φ of samples, or to the kernel itself.

A map is fitted to the training samples, gives their :class:`KernelMatrix`, and maps new samples the same way. None of
them stores training samples, except the landmarks of :class:`Nystroem`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import Array, FeatureKernel, GivenKernel, KernelMatrix, Operand, as_operand

# Kernel values between samples and landmarks are computed in blocks of about this many.
BLOCK_VALUES = 2**22


class FeatureMap(ABC):
    """How samples are mapped to features.

    Attributes
    ----------
    in_data_space : bool
        Whether the features are those of X, so that components and down-weighted features are too.
    """

    in_data_space: bool = False

    @abstractmethod
    def fit(self, X: Operand, rng: np.random.RandomState) -> KernelMatrix:
        """Learn the map from the training samples, and give their kernel."""

    @abstractmethod
    def new(self, X: Operand) -> Operand:
        """New samples as the operand of products with whatever represents the components."""


class Identity(FeatureMap):
    """Φ = X: the linear kernel."""

    in_data_space = True

    def fit(self, X: Operand, rng: np.random.RandomState) -> KernelMatrix:
        """Nothing to learn."""
        return FeatureKernel(X, signed=X.smallest() < 0)

    def new(self, X: Operand) -> Operand:
        """The samples themselves."""
        return X


class Directions(FeatureMap):
    """Every sample at unit norm: the cosine kernel."""

    in_data_space = True

    def fit(self, X: Operand, rng: np.random.RandomState) -> KernelMatrix:
        """Nothing to learn."""
        return FeatureKernel(self.new(X), signed=X.smallest() < 0)

    def new(self, X: Operand) -> Operand:
        """A copy of the samples at unit norm; empty ones stay empty."""
        from sklearn.preprocessing import normalize  # importing it takes a while

        return as_operand(normalize(X.array))


class Nystroem(FeatureMap):
    """Any kernel κ by its values at a few landmarks z (Williams & Seeger 2001).

    κ(x, x') ≈ κ(x, z) κ(z, z)⁻¹ κ(z, x'), which is ⟨φ(x), φ(x')⟩ for φ(x) = κ(x, z) κ(z, z)^(−½).

    Parameters
    ----------
    kernel : "rbf" or callable
        exp(−‖x − x'‖² / bandwidth), or a function of two arrays of samples that gives the matrix of kernel values.
    bandwidth : float or None
        Of "rbf"; None is the mean squared distance between landmarks.
    n_landmarks : int
        Chosen at random among the samples.
    """

    def __init__(self, kernel: Any, bandwidth: float | None, n_landmarks: int):
        self._kernel = kernel
        self._bandwidth = bandwidth
        self._n_landmarks = n_landmarks

    def fit(self, X: Operand, rng: np.random.RandomState) -> KernelMatrix:
        """Choose the landmarks and take the root of their kernel."""
        n = X.shape[0]
        chosen = np.sort(rng.permutation(n)[: min(self._n_landmarks, n)])
        self._landmarks = X.array[chosen]
        if self._kernel == "rbf" and self._bandwidth is None:
            from sklearn.metrics.pairwise import euclidean_distances

            between = euclidean_distances(self._landmarks, squared=True).astype(np.float64)
            pairs = max(1, len(chosen) * (len(chosen) - 1))
            self._bandwidth = float(between.sum()) / pairs or 1.0
        K = self._values(self._landmarks)
        if not np.allclose(K, K.T, rtol=1e-6, atol=1e-8 * float(np.abs(K).max())):
            raise ValueError("The kernel is not symmetric; kernel(A, B) must be the transpose of kernel(B, A).")
        values, vectors = np.linalg.eigh(K)
        kept = values > len(values) * np.finfo(X.dtype).eps * max(float(values[-1]), 0.0)
        if not kept.any():
            raise ValueError("The kernel is not positive for any sample; it must be positive semidefinite.")
        self._root = vectors[:, kept] / np.sqrt(values[kept])
        return FeatureKernel(self.new(X), signed=True)

    def new(self, X: Operand) -> Operand:
        """φ of every sample."""
        features = np.empty((X.shape[0], self._root.shape[1]), X.dtype)
        rows, step = X.array, max(1, BLOCK_VALUES // len(self._root))
        for start in range(0, X.shape[0], step):
            features[start : start + step] = self._values(rows[start : start + step]) @ self._root
        return as_operand(features)

    def _values(self, samples: Any) -> Array:
        """κ between some samples and the landmarks."""
        if self._kernel == "rbf":
            from sklearn.metrics.pairwise import euclidean_distances

            distances = euclidean_distances(samples, self._landmarks, squared=True).astype(np.float64)
            return np.exp(-distances / self._bandwidth)
        values = np.asarray(self._kernel(samples, self._landmarks), np.float64)
        expected = (samples.shape[0], self._landmarks.shape[0])
        if values.shape != expected:
            raise ValueError(f"The kernel gave an array of shape {values.shape}; it must be {expected}.")
        if not np.isfinite(values).all():
            raise ValueError("The kernel gave NaN or infinity; every value must be finite.")
        return values


class Given(FeatureMap):
    """X holds the kernel itself: between the training samples in `fit`, from new to training samples later."""

    def fit(self, X: Operand, rng: np.random.RandomState) -> KernelMatrix:
        """Check the kernel's shape and symmetry."""
        K, (n, m) = X.array, X.shape
        if n != m:
            raise ValueError(f"kernel='precomputed' needs the square kernel of all samples; X has shape {X.shape}.")
        apart = abs(K - K.T)
        largest = float(abs(K).max())
        if float(apart.max()) > 1e-5 * largest:
            raise ValueError("kernel='precomputed': X is not symmetric; give (X + X.T) / 2 if that is what you mean.")
        return GivenKernel(X, signed=X.smallest() < 0)

    def new(self, X: Operand) -> Operand:
        """Kernel values to the training samples."""
        return X


def feature_map(kernel: str | Callable[[Any, Any], Any], bandwidth: float | None, n_landmarks: int) -> FeatureMap:
    """The map that a kernel needs."""
    if kernel == "linear":
        return Identity()
    if kernel == "cosine":
        return Directions()
    if kernel == "precomputed":
        return Given()
    return Nystroem(kernel, bandwidth, n_landmarks)

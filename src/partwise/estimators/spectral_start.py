"""A start from the clusters of local learning."""

from dataclasses import dataclass, replace

from ..clusters import Assignment
from ..core import State
from ..solvers import Options, Problem, Start, spectral_embedding, start_from_labels
from ..terms.local_learning import BoundLocalLearning, LocalLearning


@dataclass(frozen=True, eq=False)
class SpectralStart(Start):
    """From the clusters of :class:`LocalLearningClustering`."""

    def _count(self, init: str) -> int:
        return 1

    def _made(self, problem: Problem, init: str, seed: int, options: Options) -> State:
        X, k = problem.X, problem.n_components
        (term,) = (term for term in problem.terms if isinstance(term, LocalLearning))
        penalty = next((bound for bound in problem.bound if isinstance(bound, BoundLocalLearning)), None)
        residual = (replace(term, strength=1.0).bind(X) if penalty is None else penalty).residual
        labels = Assignment(spectral_embedding(residual, k), "kmeans", seed).labels
        return problem.state(*start_from_labels(X, labels, k))

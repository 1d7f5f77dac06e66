"""Choosing strengths, neighbours and numbers of components without labels.

Estimators choose for themselves where a parameter is "auto" or a list of values, and say why in `selection_`. Their
tools, and others that help to decide, are here: criteria for clusterings, evidence for numbers of components, consensus
of many runs, and scorers for scikit-learn's searches. The functions here take estimators but import none.
"""

from .consensus import Consensus, consensus
from .consensus_nmf import ConsensusNMF
from .criteria import modularity, neighbor_information, normalized_cut, silhouette, stability
from .rank_stability import RankStability
from .ranks import EntryValidation, RankEvidence, cross_validate_entries, rank_evidence
from .record import Path, Selection
from .scorers import get_scorer, scorer_names

__all__ = [
    "Consensus",
    "ConsensusNMF",
    "EntryValidation",
    "Path",
    "RankEvidence",
    "RankStability",
    "Selection",
    "consensus",
    "cross_validate_entries",
    "get_scorer",
    "modularity",
    "neighbor_information",
    "normalized_cut",
    "rank_evidence",
    "scorer_names",
    "silhouette",
    "stability",
]

"""Figures of fitted models and of arrays, drawn with matplotlib (``pip install 'partwise[cli]'``).

Displays work as in scikit-learn: `from_estimator` reads the attributes of a fitted model and draws, into axes that are
given or into a new figure; what was drawn is kept in attributes. Matplotlib is imported when the first is drawn.
"""

from .choices import ConsensusDisplay, SelectionDisplay
from .codes import CodesDisplay
from .components import ComponentsDisplay
from .convergence import ConvergenceDisplay
from .curves import Curve, draw_consensus, draw_curves, draw_paths
from .features import TopFeatures, top_features
from .graph import GraphDisplay
from .parts import PartsRow, draw_parts
from .saving import picture_bytes, picture_format
from .stability import StabilityDisplay

__all__ = [
    "CodesDisplay",
    "ComponentsDisplay",
    "ConsensusDisplay",
    "ConvergenceDisplay",
    "Curve",
    "GraphDisplay",
    "PartsRow",
    "SelectionDisplay",
    "StabilityDisplay",
    "TopFeatures",
    "draw_consensus",
    "draw_curves",
    "draw_parts",
    "draw_paths",
    "picture_bytes",
    "picture_format",
    "top_features",
]

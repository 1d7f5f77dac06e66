"""NLCF with a graph that labels edit, by parameters."""

from partwise import LocalCoordinateNMF

model = LocalCoordinateNMF(10, coordinate_strength=0.1, graph_strength=10.0, use_labels=True)

"""A protocol of a few short runs on the digits that come with scikit-learn; run as a program it is carried out.

python tiny.py JOURNAL JOBS
"""

import os
import sys
from pathlib import Path

from partwise.experiments import Journal, Printed, reproduce
from partwise.experiments.plan import Plan
from partwise.experiments.protocol import parse_protocol

CONTENT = {
    "paper": "Tiny",
    "citation": "nobody",
    "own_methods": ["GNMF"],
    "repeats": 5,
    "full_repeats": 1,
    "grid_repeats": 2,
    "datasets": [{"name": "Digits", "data": "digits", "classes": 10, "every": 9, "prepare": ["unit norm"]}],
    "methods": [
        {"name": "Kmeans", "estimator": "KMeans", "parameters": {"n_init": 1}},
        {
            "name": "GNMF",
            "estimator": "GraphNMF",
            "start": "unit components",
            "parameters": {"solver": "multiplicative", "scale": "none", "max_iter": 5, "tol": 0},
            "grid": {"graph_strength": [1.0, 10.0]},
        },
        {"name": "CNMF", "estimator": "ConstrainedNMF", "labelled": 2, "parameters": {"max_iter": 5}},
        {"name": "Unheard", "estimator": "UnheardOfNMF"},
        {"name": "partwise", "estimator": "NMF", "parameters": {"max_iter": 5}},
    ],
}
NUMBERS = [
    Printed("Tiny", "1", "Digits", k, metric, method, mean, 5.0 if k else None)
    for method, mean in (("Kmeans", 80.0), ("GNMF", 99.9), ("CNMF", 1.0), ("Unheard", 50.0))
    for metric in ("accuracy", "nmi_max")
    for k in (2, 3, None)
]
PROTOCOL = parse_protocol(CONTENT, NUMBERS)


def carry_out(path, jobs=1, **wanted):
    """The journal of all runs."""
    plan, journal = Plan(PROTOCOL, **wanted), Journal(Path(path))
    # The test that kills us waits for this file to grow.
    reproduce(plan, journal, jobs, lambda done, total, left: print(done, total, flush=True))
    return plan, journal


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    carry_out(sys.argv[1], int(sys.argv[2]))

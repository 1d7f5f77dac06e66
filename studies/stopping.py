"""When fits stop: sweeps at the defaults, distance from a long fit, and scikit-learn's sweeps at the same `tol`.

Every estimator and every loss, in float64 and float32, on ordinary data: digits, docstrings of the standard library as
tf-idf, made-up counts and, where their files are, ORL faces, digits of MNIST and texts of TDT2.

    python -m studies.stopping            # prints the table, writes studies/results/stopping.csv
    python -m studies.stopping digits     # some of the data

`excess` is how far the objective lies above that of a fit from the same start that runs for 1,000 sweeps or 30 seconds,
as a share of it. Rows with a `peer`, the sweeps of scikit-learn's `NMF`, have its `tol` and its start, and their
`excess` is over its objective.
"""

from __future__ import annotations

import csv
import inspect
import sys
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.decomposition import NMF as Peer
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer

from partwise import datasets
from partwise.callbacks import TimeBudget
from partwise.testing import all_estimators

from .real_data import FOLDER

RESULTS = Path(__file__).parent / "results" / "stopping.csv"
FIELDS = ("data", "dtype", "method", "tol", "solver", "sweeps", "stop", "warned", "excess", "peer")
K = 10
KL, IS = "kullback-leibler", "itakura-saito"
# The loss, scikit-learn's solver for it, and ours.
BESIDE = (
    ("frobenius", "cd", "auto"),
    ("frobenius", "mu", "multiplicative"),
    (KL, "mu", "auto"),
    (KL, "mu", "multiplicative"),
    (IS, "mu", "auto"),
)
NMF = all_estimators()["NMF"]


def docstrings():
    """tf-idf of the longer docstrings of the standard library."""
    found = set()
    for name in sorted(sys.stdlib_module_names & set(sys.modules)):
        for thing in vars(sys.modules[name]).values():
            members = vars(thing).values() if inspect.isclass(thing) else ()
            for one in (thing, *members):
                text = getattr(one, "__doc__", None)
                if isinstance(text, str) and len(text) > 200:
                    found.add(text)
    return sp.csr_array(TfidfVectorizer(min_df=3, stop_words="english").fit_transform(sorted(found)))


def counts():
    """Poisson counts of a mixture of eight gamma-distributed parts."""
    rng = np.random.default_rng(0)
    return rng.poisson(3 * rng.gamma(0.3, size=(600, 8)) @ rng.gamma(0.3, size=(8, 300))).astype(np.float64)


def from_file(name, step=1):
    """Every so many samples of one of the papers' data sets, without features that are all zero."""
    X = datasets.load(name, FOLDER).X[::step].astype(np.float64)
    return X[:, np.flatnonzero(np.asarray(X.sum(axis=0)).ravel())]


DATA = {
    "digits": lambda: load_digits(return_X_y=True)[0],
    "docstrings": docstrings,
    "counts": counts,
    "orl32": lambda: from_file("orl32"),
    "mnist10k": lambda: from_file("mnist10k", 7),
    "tdt2": lambda: from_file("tdt2", 8),
}
PARAMETERS = {
    "Factorization": {"codes": "simplex"},
    "GraphNMF": {"graph_strength": 10.0},
    "LocalLearningNMF": {"local_strength": 10.0},
    "LocalCoordinateNMF": {"coordinate_strength": 0.1},
    "TensorNMF": {"sample_shape": (8, 8)},
}


def losses():
    """NMF and GraphNMF with every loss, complete, with missing entries, and weighted: (name, estimator, data)."""
    graph = all_estimators()["GraphNMF"](K, graph_strength=10.0)
    for loss in ("frobenius", KL, IS, 0.5, 1.5, 3, "huber", "l1", "negative-binomial"):
        yield f"NMF {loss}", NMF(K, loss=loss), _positive if loss == IS else _same
        if loss in ("frobenius", KL, "huber"):
            yield f"GraphNMF {loss}", clone(graph).set_params(loss=loss), _same
            yield f"NMF {loss}, missing", NMF(K, loss=loss, missing="nan"), _with_holes
    yield "WeightedNMF", all_estimators()["WeightedNMF"](K), _same


def others():
    """All other estimators that have a loop."""
    for name, kind in all_estimators().items():
        if name not in ("NMF", "GraphNMF", "WeightedNMF") and "tol" in inspect.signature(kind).parameters:
            yield name, kind(K, **PARAMETERS.get(name, {})), _same


def _same(X):
    return X


def _positive(X):
    X = X.toarray() if sp.issparse(X) else X
    return X + 0.01 * X.max()


def _with_holes(X):
    X = X.toarray() if sp.issparse(X) else X
    return np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)


def at_defaults(data, X, method, estimator):
    """Rows for both precisions."""
    estimator = clone(estimator).set_params(random_state=0)
    if method == "WeightedNMF":
        estimator.set_params(weights=np.random.default_rng(0).random(X.shape))
    y = np.where(np.arange(X.shape[0]) % 5, -1, np.arange(X.shape[0]) % 4) if method == "ConstrainedNMF" else None
    long = clone(estimator).set_params(tol=0, max_iter=1000, callbacks=TimeBudget(30)).fit(X, y)
    for dtype in (np.float64, np.float32):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = clone(estimator).fit(X.astype(dtype), y)
        warned = any(issubclass(warning.category, ConvergenceWarning) for warning in caught)
        excess = (model.objective_ - long.objective_) / abs(long.objective_)
        how = (model.tol, model.solver_, model.n_iter_, model.stop_reason_, warned, f"{excess:.1e}")
        yield dict(zip(FIELDS, (data, np.dtype(dtype).name, method, *how, ""), strict=True))


def beside_scikit_learn(data, X):
    """Rows at tol = 1e-4, from the same start as scikit-learn's solver for the loss."""
    given = X
    for loss, rules, solver in BESIDE:
        X, rng = _positive(given) if loss == IS else given, np.random.RandomState(0)
        size = np.sqrt(X.mean() / K)
        W, H = (size * np.abs(rng.standard_normal(shape)) for shape in ((X.shape[0], K), (K, X.shape[1])))
        peer = Peer(K, init="custom", solver=rules, beta_loss=loss, tol=1e-4, max_iter=5000)
        peer.fit_transform(X, W=W.copy(), H=H.copy())
        model = NMF(K, loss=loss, solver=solver, init=(W, H), tol=1e-4, max_iter=5000).fit(X)
        excess = (model.reconstruction_err_ / peer.reconstruction_err_) ** 2 - 1
        how = (1e-4, model.solver_, model.n_iter_, model.stop_reason_, False, f"{excess:.1e}", peer.n_iter_)
        yield dict(zip(FIELDS, (data, "float64", f"NMF {loss} beside {rules}", *how), strict=True))


def rows(data):
    """All rows of one data set; methods that are not a loss only on the digits."""
    X = DATA[data]()
    yield from beside_scikit_learn(data, X)
    for method, estimator, prepare in (*losses(), *(others() if data == "digits" else ())):
        yield from at_defaults(data, prepare(X), method, estimator)


def main(names):
    warnings.simplefilter("ignore")
    for name in names:
        if name in ("digits", "docstrings", "counts") or (FOLDER / f"{name}.npz").is_file():
            found = []
            for row in rows(name):
                print(" ".join(f"{value}" for value in row.values()), flush=True)
                found.append(row)
            write(name, found)


def write(name, found):
    """Replace the rows of one data set in the file of results."""
    kept = []
    if RESULTS.is_file():
        with RESULTS.open(newline="") as file:
            kept = [row for row in csv.DictReader(file) if row["data"] != name]
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted([*kept, *found], key=lambda row: list(DATA).index(row["data"])))


if __name__ == "__main__":
    main(sys.argv[1:] or list(DATA))

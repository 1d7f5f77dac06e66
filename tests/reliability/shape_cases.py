"""C. Shapes and parameters."""

import numpy as np
import scipy.sparse as sp
from case import Answered, Case, Refused, X, both, everyone, takes, takes_weights, transforms
from sklearn.exceptions import NotFittedError

N, M = X.shape
# Methods that cluster by eigenvectors need a sample for every cluster, or two samples at all.
SPECTRAL = ("LocalLearningClustering", "NormalizedCut", "LatentSemanticKMeans")


def factorises(model):
    return type(model).__name__ not in SPECTRAL


def few_samples(model):
    return not factorises(model)


SHAPES_REFUSED = {
    "no samples": (np.empty((0, M)), "0 sample"),
    "no features": (np.empty((N, 0)), "0 feature"),
    "no samples, CSR": (sp.csr_array((0, M)), "0 sample"),
    "no features, CSR": (sp.csr_array((N, 0)), "0 feature"),
    "one dimension": (X[0], "Reshape your data"),
    "no dimension": (np.array(1.0), "Expected 2D array"),
    "three dimensions": (X[None], "two dimensions"),
}
SHAPES = {
    "one sample": X[:1],
    "one sample, CSR": sp.csr_array(X[:1]),
    "one feature": X[:, :1],
    "one feature, CSR": sp.csr_array(X[:, :1]),
    "two samples": X[:2],
    "one entry": X[:1, :1],
    "as many components as samples": X[:3],
    "as many components as features": X[:, :3],
    "more components than features": X[:, :2],
}
WRONG_NUMBERS = {
    "n_components": (2.0, "2", 0, -1, None, np.nan, [0]),
    "max_iter": (0, -1, 1.5, "many"),
    "tol": (-1.0, np.nan, "small"),
    "n_init": (0, -1, 1.5),
    "n_neighbors": (0, -1, 2.5, "5"),
    "bandwidth": (0.0, -1.0, np.nan, "wide"),
    "edge_bandwidth": (0.0, -1.0, np.nan),
    "n_landmarks": (0, -1, 2.5),
    "ridge": (0.0, -1.0, np.nan),
    "graph_strength": (-1.0, np.nan, np.inf, "much"),
    "local_strength": (-1.0, np.nan, np.inf),
    "coordinate_strength": (-1.0, np.nan, np.inf),
    "similarity_strength": (-1.0, np.nan, np.inf),
    "orthogonality": (-1.0, np.nan, "much"),
    "cauchy_scale": (0.0, -1.0, np.nan),
    "loss_scale": (0.0, -1.0, np.nan),
    "dispersion": (-1.0, np.nan, np.inf),
    "truncation": (0.0, -1.0, np.nan),
    "components_sparseness": (-0.1, 1.1, np.nan),
    "l1_codes": (-1.0, np.nan, np.inf),
    "l2_components": (-1.0, np.nan, np.inf),
    "init": ("ones", 3),
    "solver": ("newton", "simplex", 1),
    "assign": ("vote",),
    "kernel": ("sine", 2),
    "metric": ("hamming",),
    "loss": ("hinge",),
    "random_state": ("seed", -1),
    "n_column_clusters": (0, 2.0),
    "n_dimensions": (0, 10**6),
    "sample_shape": ((2, 2), (0, 9), ("a",)),
}
GRAPHS_REFUSED = {
    "of another size": (np.ones((3, 3)), "shape"),
    "not square": (np.ones((N, 3)), "shape"),
    "not symmetric": (np.triu(np.ones((N, N)), 1), "symmetric"),
    "negative": (-np.ones((N, N)), "negative"),
    "with NaN": (np.full((N, N), np.nan), "NaN"),
    "with infinity": (np.where(np.eye(N) > 0, 0, np.inf), "inf"),
}


def with_long_indices(graph):
    graph = graph.copy()
    graph.indices, graph.indptr = graph.indices.astype(np.int64), graph.indptr.astype(np.int64)
    return graph


RING = sp.csr_array(np.roll(np.eye(N), 1, 0) + np.roll(np.eye(N), -1, 0))
GRAPHS = {
    "with a diagonal": np.ones((N, N)),
    "in two pieces": np.kron(np.eye(N), [[1.0]]) + np.kron(np.eye(5), np.ones((3, 3))),
    "with a lone sample": RING.toarray() * ((np.arange(N) != 4)[:, None] & (np.arange(N) != 4)),
    "without edges": sp.csr_array((N, N)),
    "of integers": RING.astype(int),
    "of booleans": RING.astype(bool),
    "in another sparse format": RING.tocoo(),
    "with 64-bit indices": with_long_indices(RING),
}
WEIGHTS = {
    "too few": (np.ones(N - 1), "one weight each"),
    "negative": (-np.ones(N), "non-negative"),
    "NaN": (np.full(N, np.nan), "finite"),
    "infinite": (np.full(N, np.inf), "finite"),
    "all zero": (np.zeros(N), "at least one"),
    "words": (np.array(["a"] * N), "numbers"),
    "two dimensions": (np.ones((N, 1)), "shape"),
}


def unfitted(method):
    def act(model):
        return getattr(model, method)(X) if method != "labels_" else model.labels_

    return act


def fitted(act):
    return lambda model: act(model.fit(X))


def makes(shape):
    return lambda: shape


def shapes():
    for name, (data, text) in SHAPES_REFUSED.items():
        yield Case("C", name, makes(data), Refused(ValueError, text))
    for name, data in SHAPES.items():
        # An eigenvector or a cluster more than there are samples is refused.
        enough = everyone if data.shape[0] >= 3 else factorises
        yield Case("C", name, makes(data), applies=enough)
        if enough is factorises:
            yield Case("C", f"{name}, spectral", makes(data), Refused(ValueError, "sample"), few_samples)
    many = Answered(warns="is more than X")
    yield Case("C", "more components than samples", applies=factorises, params={"n_components": N + 1}, expected=many)
    too_many = Refused(ValueError, "need as many samples")
    yield Case("C", "more clusters than samples", makes(X), too_many, few_samples, {"n_components": N + 1})


def parameters():
    no_counts = both(takes("solver"), lambda model: type(model).__name__ != "LocalNMF")
    for name, values in WRONG_NUMBERS.items():
        for value in values:
            yield Case(
                "C",
                f"{name}={value!r}",
                expected=Refused((ValueError, TypeError), name),
                applies=no_counts if value == "newton" else takes(name),
                params={name: value},
            )
    for name in ("n_components", "n_neighbors", "max_iter"):
        yield Case("C", f"{name} is a numpy.int64", applies=takes(name), params={name: np.int64(3)})
    yield Case(
        "C",
        "random_state is a RandomState",
        applies=takes("random_state"),
        params={"random_state": np.random.RandomState(0)},
    )
    huge = Refused(ValueError, "GiB")
    yield Case("C", "n_components=10**12", expected=huge, applies=factorises, params={"n_components": 10**12})
    yield Case(
        "C",
        "n_components=10**12, spectral",
        expected=Refused(ValueError, "samples"),
        applies=few_samples,
        params={"n_components": 10**12},
    )
    clipped = Answered(warns="n_neighbors")
    linked = both(takes("n_neighbors"), lambda model: getattr(model, "graph_strength", 1) != 0)
    for n_neighbors in (N, N + 1, 1000):
        yield Case(
            "C",
            f"n_neighbors={n_neighbors} of {N} samples",
            expected=clipped,
            applies=linked,
            params={"n_neighbors": n_neighbors},
        )
    params = {"n_neighbors": 10**12}
    yield Case("C", "n_neighbors=10**12", expected=huge, applies=linked, params=params)
    yield Case("C", "n_neighbors=10**12, CSR", makes(sp.csr_array(X)), huge, linked, params)


def graphs():
    linked = both(takes("graph"), lambda model: getattr(model, "graph_strength", 1) != 0)
    for name, (graph, text) in GRAPHS_REFUSED.items():
        yield Case("C", f"graph {name}", expected=Refused(ValueError, text), applies=linked, params={"graph": graph})
    for name, graph in GRAPHS.items():
        yield Case("C", f"graph {name}", applies=linked, params={"graph": graph})


def uses():
    for name, (weight, text) in WEIGHTS.items():
        yield Case(
            "C", f"sample_weight {name}", expected=Refused(ValueError, text), applies=takes_weights, weight=weight
        )
    for method in ("transform", "predict", "labels_"):
        has = everyone if method == "labels_" else transforms
        yield Case("C", f"{method} before fit", expected=Refused(NotFittedError), applies=has, act=unfitted(method))
    fewer = fitted(lambda model: model.transform(X[:, :4]))
    yield Case(
        "C", "fewer features in new samples", expected=Refused(ValueError, "features"), applies=transforms, act=fewer
    )
    one_dimension = fitted(lambda model: model.transform(X[0]))
    yield Case(
        "C",
        "one dimension in new samples",
        expected=Refused(ValueError, "Reshape"),
        applies=transforms,
        act=one_dimension,
    )
    none = fitted(lambda model: model.predict(X[:0]))
    yield Case("C", "no new samples", expected=Refused(ValueError, "0 sample"), applies=transforms, act=none)
    wrong = fitted(lambda model: model.inverse_transform(np.ones((2, 40))))
    yield Case("C", "codes of another size", expected=Refused(ValueError, ""), applies=transforms, act=wrong)
    unknown = Refused(ValueError, "Invalid parameter")
    yield Case("C", "unknown parameter", expected=unknown, act=lambda model: model.set_params(alpha_W=1.0))


CASES = [*shapes(), *parameters(), *graphs(), *uses()]

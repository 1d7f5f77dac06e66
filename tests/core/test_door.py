"""Whatever holds the numbers, every public function that takes data says the same of them."""

import inspect
import warnings
from dataclasses import is_dataclass
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

import partwise
from partwise import GraphNMF, datasets, graphs, metrics, selection
from partwise.core.door import read_data
from partwise.files import read
from partwise.testing import all_estimators, check_term

pd = pytest.importorskip("pandas")

# Three groups of samples with their own features; the values, but not their squares, fit into a byte.
RNG = np.random.RandomState(0)
GROUPS = np.arange(24) % 3
A = np.where(np.arange(9) // 3 == GROUPS[:, None], RNG.randint(100, 200, size=(24, 9)), 0).astype(float)
A[RNG.randint(24, size=12), RNG.randint(9, size=12)] = 5.0
LINKS = graphs.nearest_neighbors(A, 3)
GRAPH = graphs.neighbor_graph(A, 3)
DISTANCES = graphs.neighbor_graph(A, 3, edge_weights="heat")
DISTANCES.data = 2 - DISTANCES.data


def int64_indices(X):
    matrix = sp.csr_matrix(X)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return matrix


def stored_twice(X):
    """Every entry in two parts, of a type in which their sum wraps around."""
    rows, columns = np.nonzero(X)
    half = X[rows, columns] // 2
    parts = np.concatenate([half, X[rows, columns] - half]).astype(np.int8)
    return sp.coo_matrix((parts, (np.tile(rows, 2), np.tile(columns, 2))), shape=X.shape)


def unsorted(X):
    matrix = sp.csr_matrix(X)
    for start, stop in zip(matrix.indptr, matrix.indptr[1:], strict=False):
        matrix.indices[start:stop] = matrix.indices[start:stop][::-1].copy()
        matrix.data[start:stop] = matrix.data[start:stop][::-1].copy()
    return sp.csr_matrix((matrix.data, matrix.indices, matrix.indptr), shape=X.shape)


def memory_map(X):
    import tempfile

    with tempfile.NamedTemporaryFile() as file:
        np.save(file, X)
        file.flush()
        return np.load(file.name, mmap_mode="r")


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def frame(X):
    return pd.DataFrame(X, columns=[f"feature {j}" for j in range(X.shape[1])])


def mixed_frame(X):
    """Columns of bytes, integers and floats."""
    kinds = (np.uint8, np.int64, np.float32, np.float64)
    return pd.DataFrame({f"{j}": X[:, j].astype(kinds[j % 4]) for j in range(X.shape[1])})


def partly_sparse_frame(X):
    data = frame(X)
    data["feature 0"] = pd.arrays.SparseArray(X[:, 0], fill_value=0.0)
    return data


SPARSE = {
    f"{form}_{kind}": getattr(sp, f"{form}_{kind}")
    for form in ("csr", "csc", "coo", "lil", "dok", "dia", "bsr")
    for kind in ("matrix", "array")
}
CONTAINERS = {
    **SPARSE,
    "csr of bytes": lambda X: sp.csr_matrix(X.astype(np.uint8)),
    "csc of integers": lambda X: sp.csc_array(X.astype(np.int32)),
    "coo of bytes": lambda X: sp.coo_matrix(X.astype(np.uint8)),
    "entries stored twice": stored_twice,
    "unsorted indices": unsorted,
    "64-bit indices": int64_indices,
    "float32 csr": lambda X: sp.csr_matrix(X.astype(np.float32)),
    "bytes": lambda X: X.astype(np.uint8),
    "integers": lambda X: X.astype(np.int64),
    "unsigned": lambda X: X.astype(np.uint16),
    "float16": lambda X: X.astype(np.float16),
    "objects": lambda X: X.astype(object),
    "list": lambda X: X.tolist(),
    "memory map": memory_map,
    "read-only": read_only,
    "Fortran order": np.asfortranarray,
    "not contiguous": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "big-endian": lambda X: X.astype(">f8"),
    "DataFrame": frame,
    "DataFrame of bytes": lambda X: frame(X.astype(np.uint8)),
    "DataFrame of several types": mixed_frame,
    "DataFrame of sparse columns": lambda X: frame(X).astype(pd.SparseDtype(float, 0.0)),
    "DataFrame of sparse and dense columns": partly_sparse_frame,
}
# The door treats all containers the same; these show whether any code bypasses it.
TELLING = ("csr_matrix", "csc_array", "coo of bytes", "bytes", "DataFrame")


@pytest.mark.filterwarnings("ignore:pandas.DataFrame with sparse columns:UserWarning")
@pytest.mark.parametrize("name", CONTAINERS)
def test_the_door_makes_one_sparse_type_of_all(name):
    given = CONTAINERS[name](A)
    X = read_data(given)
    if sp.issparse(X):
        assert isinstance(X, sp.csr_array)
        assert X.has_canonical_format
        np.testing.assert_array_equal(X.toarray(), A)
    else:
        assert type(X) is np.ndarray
        np.testing.assert_array_equal(X, A)
    assert sp.issparse(X) == (sp.issparse(given) or name == "DataFrame of sparse columns")
    assert X.dtype in (np.float64, np.float32)


def test_true_and_false_are_one_and_zero():
    for given in (A > 0, sp.csr_matrix(A > 0), sp.coo_array(A > 0), frame(A > 0)):
        X = read_data(given)
        np.testing.assert_array_equal(X.toarray() if sp.issparse(X) else X, (A > 0).astype(float))


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csr_array, int64_indices])
def test_what_need_not_be_converted_is_not_copied(make):
    given = make(A)
    X = read_data(given)
    for part in ("data", "indices", "indptr"):
        assert np.shares_memory(getattr(X, part), getattr(given, part))
    dense = np.asfortranarray(A)
    assert read_data(dense) is dense


@pytest.mark.filterwarnings("ignore:pandas.DataFrame with sparse columns:UserWarning")
@pytest.mark.parametrize("name", CONTAINERS)
def test_the_callers_data_stay_as_they_are(name):
    given = CONTAINERS[name](A)
    parts = (
        {key: value.copy() for key, value in vars(given).items() if isinstance(value, np.ndarray)}
        if (sp.issparse(given))
        else {}
    )
    read_data(given)
    for key, value in parts.items():
        np.testing.assert_array_equal(getattr(given, key), value, strict=True)


def test_what_has_not_two_dimensions_is_refused():
    with pytest.raises(ValueError, match="Expected 2D"):
        read_data(A[0])
    if hasattr(sp.coo_array(A), "coords"):
        with pytest.raises(ValueError, match="Expected 2D"):
            read_data(sp.coo_array(A[0]))


def test_images_that_are_not_rows_are_refused():
    with pytest.raises(ValueError, match=r"has shape \(24, 3, 3\).*X\.reshape\(len\(X\), -1\)"):
        partwise.NMF(2).fit(A.reshape(24, 3, 3).astype(np.uint8))


def test_tables_with_words_name_the_columns():
    table = pd.DataFrame(A).assign(patient="p", visit=pd.to_datetime("2020-01-01"))
    with pytest.raises(ValueError, match=r"columns that do not hold numbers: patient.*select_dtypes"):
        partwise.NMF(2).fit(table)
    numbers = pd.DataFrame(A).astype(object).assign(more=[str(i) for i in range(24)])
    assert read_data(numbers).shape == (24, 10)


def test_broken_triplets_are_refused():
    broken = sp.coo_matrix(A)
    broken.col = broken.col + 100
    with pytest.raises(ValueError, match="broken"):
        read_data(broken)


LABELS = GROUPS
KNOWN = np.where(np.arange(24) < 9, GROUPS, -1)


# Every public function that takes data, and what of its answer is compared. A new one has to join.


def fitted(estimator, X, **scorer):
    return selection.get_scorer(scorer["name"])(clone(estimator).fit(X), X)


def ranks(function, X, **parameters):
    found = function(partwise.NMF(max_iter=3, tol=0), X, [2, 3], random_state=0, **parameters)
    return found.losses if hasattr(found, "losses") else found.stability


FUNCTIONS = {
    "graphs.SampleGraph": lambda X: graphs.SampleGraph(X, GRAPH)(X).toarray(),
    "graphs.choose_search": lambda X: {"index": 0, "products": 0}[graphs.choose_search(X)],
    "graphs.find_neighbors": lambda X: graphs.find_neighbors(X, 3).links.toarray(),
    "graphs.heat_bandwidth": lambda X: graphs.heat_bandwidth(X, LINKS),
    "graphs.local_predictors": lambda X: graphs.local_predictors(LINKS, X).toarray(),
    "graphs.nearest_neighbors": lambda X: graphs.nearest_neighbors(X, 3).toarray(),
    "graphs.shared_neighbors": lambda X: graphs.shared_neighbors(X, 3, missing=None).toarray(),
    "graphs.neighbor_graph": lambda X: graphs.neighbor_graph(X, 3, edge_weights="heat").toarray(),
    "graphs.new_sample_links": lambda X: graphs.new_sample_links(X, X, 3, edge_weights="cosine").toarray(),
    "graphs.plan_search": lambda X: {None: 0}[graphs.plan_search(X, 3)],
    "graphs.rbf_bandwidth": lambda X: graphs.rbf_bandwidth(X, LINKS),
    "graphs.warn_if_distances": lambda X: len(warned(graphs.warn_if_distances, DISTANCES, X)),
    "graphs.weigh_links": lambda X: graphs.weigh_links(LINKS, X, edge_weights="heat").toarray(),
    "metrics.sparseness": lambda X: metrics.sparseness(X),
    "selection.consensus": lambda X: (
        selection.consensus(partwise.NMF(3, max_iter=3, tol=0), X, n_runs=2, random_state=0).matrix
    ),
    # Which entries of sparse data are hidden is another matter than of dense ones.
    "selection.cross_validate_entries": lambda X: np.shape(ranks(selection.cross_validate_entries, X, n_splits=2)),
    "selection.rank_evidence": lambda X: ranks(selection.rank_evidence, X, n_splits=0, n_runs=2),
    "selection.silhouette": lambda X: [selection.silhouette(X, LABELS, metric) for metric in ("cosine", "euclidean")],
    "testing.check_term": lambda X: check_term(partwise.terms.Frobenius(), X) or 0,
}
FITTING = ("selection.consensus", "selection.cross_validate_entries", "selection.rank_evidence")
# Those that take a matrix over pairs of samples.
PAIRS = {
    "graphs.SampleGraph": lambda E: graphs.SampleGraph(A, E)(A).toarray(),
    "graphs.check_graph": lambda E: graphs.check_graph(E, 24).toarray(),
    "graphs.edit_by_labels": lambda E: graphs.edit_by_labels(E, LABELS)[0].toarray(),
    "graphs.heat_bandwidth": lambda E: graphs.heat_bandwidth(A, E),
    "graphs.local_predictors": lambda E: graphs.local_predictors(as_links(E), A).toarray(),
    "graphs.rbf_bandwidth": lambda E: graphs.rbf_bandwidth(A, E),
    "graphs.warn_if_distances": lambda E: len(warned(graphs.warn_if_distances, E, A)),
    "graphs.warn_if_scattered": lambda E: len(warned(graphs.warn_if_scattered, E, 1)),
    "graphs.weigh_links": lambda E: graphs.weigh_links(E, A, edge_weights="heat").toarray(),
    "selection.modularity": lambda E: selection.modularity(E, LABELS),
    "selection.neighbor_information": lambda E: selection.neighbor_information(E, LABELS),
    "selection.normalized_cut": lambda E: selection.normalized_cut(E, LABELS),
}


def as_links(E):
    """The neighbours in the container of a graph."""
    kind = type(E)
    return kind(LINKS) if sp.issparse(E) else LINKS.toarray()


def warned(function, *arguments):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function(*arguments)
    return [warning for warning in caught if "sparse columns" not in str(warning.message)]


def taking(*names):
    """The functions of the public rooms that have a parameter of one of these names."""
    found = set()
    for room in (partwise.callbacks, datasets, graphs, partwise.methods, metrics, selection, partwise.testing):
        public = getattr(room, "__all__", [name for name in vars(room) if not name.startswith("_")])
        for name in public:
            thing = getattr(room, name)
            made_here = getattr(thing, "__module__", "").startswith(room.__name__) and not is_dataclass(thing)
            called = thing.__init__ if inspect.isclass(thing) else thing
            if made_here and inspect.isfunction(called) and set(names) & set(inspect.signature(called).parameters):
                found.add(f"{room.__name__.removeprefix('partwise.')}.{name}")
    return found


def test_no_public_function_is_forgotten():
    assert taking("X", "X_new", "X_train") == set(FUNCTIONS)
    assert taking("graph", "edges", "links") == set(PAIRS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_data(name):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "pandas.DataFrame with sparse columns")
        expected = FUNCTIONS[name](A)
        for container in TELLING if name in FITTING else CONTAINERS:
            np.testing.assert_allclose(
                FUNCTIONS[name](CONTAINERS[container](A)), expected, rtol=1e-5, err_msg=container
            )


@pytest.mark.parametrize("name", PAIRS)
def test_functions_of_pairs(name):
    E = GRAPH.toarray()
    for container in (*SPARSE, "csr of bytes", "64-bit indices", "bytes", "DataFrame"):
        np.testing.assert_allclose(PAIRS[name](CONTAINERS[container](E)), PAIRS[name](E), err_msg=container)


@pytest.mark.parametrize("scorer", selection.scorer_names())
def test_scorers(scorer):
    score = partial(fitted, partwise.NMF(3, max_iter=3, tol=0, random_state=0), name=scorer)
    for container in TELLING:
        assert score(CONTAINERS[container](A)) == pytest.approx(score(A), rel=1e-5), container


# Settings with which every method has an answer.
SETTINGS = {
    "Factorization": {"terms": [partwise.terms.Frobenius(), partwise.terms.NeighborGraph(1.0, use_labels=True)]},
    "GroupNMF": {"n_group_components": 0},
    "KernelGraphNMF": {"kernel": "linear"},
}
# Methods that take only data that are not in memory.
STORED_ONLY = {"attach"}


def quick(kind):
    """An estimator that is done soon, in a fixed number of sweeps."""
    few = {"n_components": 3, "max_iter": 3, "tol": 0.0, "random_state": 0}
    few |= {"use_labels": True, "graph_strength": 10.0, "local_strength": 1.0, "coordinate_strength": 1.0}
    model = kind(**SETTINGS.get(kind.__name__, {}))
    return model.set_params(**{name: value for name, value in few.items() if name in model.get_params()})


def methods_of(estimator):
    """The public methods that take X, wherever it is."""
    for name, method in inspect.getmembers(type(estimator), inspect.isfunction):
        if name in STORED_ONLY:
            continue
        if not name.startswith("_") and "X" in inspect.signature(method).parameters and hasattr(estimator, name):
            yield name


def streaming(estimator):
    """The same without the terms that couple samples, which batches cannot have."""
    apart = {"graph_strength": 0.0, "use_labels": False}
    return clone(estimator).set_params(**{name: value for name, value in apart.items() if hasattr(estimator, name)})


@pytest.mark.parametrize("name", all_estimators())
def test_every_method_of_every_estimator(name):
    estimator = quick(all_estimators()[name])
    methods = list(methods_of(estimator))
    assert {"fit", "fit_predict"} <= set(methods)

    def answers(container):
        X, codes = container(A), container(A[:, :3])
        model = clone(estimator).fit(X, KNOWN)
        yield "fit", model.embedding_
        for method in set(methods) - {"fit"}:
            if method.startswith("fit"):
                yield method, getattr(clone(estimator), method)(X, KNOWN)
            elif method == "partial_fit":
                yield method, streaming(estimator).partial_fit(X, KNOWN).components_
            elif method == "transform_intervals":
                yield method, model.transform_intervals(X, n_resamples=5, random_state=0)
            elif method == "problem":
                yield method, model.problem(X, KNOWN).X.squared_norm
            else:
                yield method, getattr(model, method)(codes if method == "inverse_transform" else X)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = dict(answers(np.array))
        for container in TELLING:
            for method, answer in answers(CONTAINERS[container]):
                np.testing.assert_allclose(
                    answer, expected[method], rtol=1e-5, atol=1e-5, err_msg=f"{method} of {container}"
                )


def test_open_parameters():
    """What "auto" chooses does not depend on the container."""
    model = GraphNMF("auto", graph_strength="auto", max_iter=20, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = clone(model).fit(A).selection_.choice
        for container in ("csr_matrix", "csc_matrix", "coo_matrix", "bytes"):
            assert clone(model).fit(CONTAINERS[container](A)).selection_.choice == pytest.approx(expected)


def test_texts_as_scikit_learn_makes_them():
    words = ["cat dog", "wheel road", "dog cat cat", "road car wheel", "cat mouse dog", "car wheel"] * 3
    X = TfidfVectorizer().fit_transform(words)
    assert isinstance(X, sp.csr_matrix)
    for data in (X, normalize(X)):
        model = GraphNMF("auto", graph_strength="auto", n_neighbors=2, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            labels = model.fit(data).labels_
        assert labels[0] == labels[2] != labels[1]


@pytest.mark.parametrize("suffix", ["npy", "npz", "sparse.npz"])
@pytest.mark.parametrize("dtype", [np.float64, np.uint8, np.int64, bool])
def test_files(tmp_path, suffix, dtype):
    path = tmp_path / f"data.{suffix}"
    values = A.astype(dtype)
    if suffix == "npy":
        np.save(path, values)
    elif suffix == "npz":
        np.savez(path, X=values)
    else:
        sp.save_npz(path, sp.csr_matrix(values))
    X = read(path).X
    assert X.dtype == np.float64
    assert isinstance(X, sp.csr_array if suffix == "sparse.npz" else np.ndarray)
    np.testing.assert_array_equal(X.toarray() if sp.issparse(X) else X, values)


@pytest.mark.parametrize(
    ("suffix", "opens"),
    [
        ("h5", "h5py.File"),
        ("HDF5", "h5py.File"),
        ("zarr", "zarr.open"),
        ("h5ad", "anndata.read_h5ad"),
        ("parquet", "pandas.read_parquet"),
    ],
)
def test_paths_of_other_libraries_name_what_opens_them(suffix, opens, tmp_path):
    path = tmp_path / f"data.{suffix}"
    path.touch()
    with pytest.raises(TypeError, match=rf"X is the path .*{opens}\(.*pip install partwise\[disk\]"):
        GraphNMF().fit(path)
    with pytest.raises(ValueError, match=rf"data\.{suffix} cannot be read as data here\. .*{opens}\("):
        read(path)
    with pytest.raises(TypeError, match=r"partwise\.files\.read\(path\) reads"):
        GraphNMF().fit("data.csv")


@pytest.mark.parametrize("name", all_estimators())
def test_nothing_is_no_data(name):
    with pytest.raises(TypeError, match="X is None"):
        all_estimators()[name]().fit(None)

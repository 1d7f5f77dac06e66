"""What newcomers meet first: errors that say what to do instead."""

import inspect
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import partwise
from partwise import NMF, GraphNMF, NormalizedCut, SemiNMF
from partwise.graphs import check_graph, neighbor_graph
from partwise.selection import cross_validate_entries, silhouette
from partwise.testing import all_estimators

X = np.random.RandomState(0).uniform(size=(12, 6))
EVERY = pytest.mark.parametrize("name", all_estimators())


def with_entry(value):
    data = X.copy()
    data[3, 2] = value
    return data


@EVERY
@pytest.mark.parametrize("make", [np.array, sp.csr_matrix])
def test_unknown_entries(name, make):
    model = all_estimators()[name](3)
    with pytest.raises(ValueError, match=r"Input X contains NaN.*missing='nan'") as error:
        model.fit(make(with_entry(np.nan)))
    assert "HistGradientBoosting" not in str(error.value)
    own = f"{name}(missing='nan')" if "missing" in model.get_params() else "WeightedNMF(missing='nan')"
    assert own in str(error.value)


def test_unknown_entries_among_stored_ones():
    with pytest.raises(ValueError, match="every stored entry is known"):
        NMF(3, missing="unstored").fit(sp.csr_matrix(with_entry(np.nan)))


@EVERY
def test_negative_entries(name):
    model = all_estimators()[name](3)
    if not model.__sklearn_tags__().input_tags.positive_only:
        return
    with pytest.raises(ValueError, match=r"Negative values in data passed to .*SemiNMF.*shift"):
        model.fit(with_entry(-1.0))


def test_what_the_message_names_takes_negative_entries():
    for kind in (SemiNMF, partwise.ConvexNMF):
        kind(2, max_iter=3, tol=0, random_state=0).fit(X - 0.5)


@EVERY
@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ({"beta_loss": "kullback-leibler"}, "loss"),
        ({"alpha_W": 0.1}, "l1_codes"),
        ({"alpha_H": 0.1, "l1_ratio": 0.5}, "l2_components"),
        ({"shuffle": True}, "leave it out"),
    ],
)
def test_parameters_of_scikit_learn(name, theirs, ours):
    kind = all_estimators()[name]
    with pytest.raises(TypeError, match=f"{name} has no .*, which scikit-learn's NMF has: .*{ours}"):
        kind(**theirs)
    with pytest.raises(ValueError, match=f"Invalid parameter: {name} .*, which scikit-learn's NMF has: .*{ours}"):
        kind().set_params(**theirs)


@EVERY
def test_starts_of_scikit_learn(name):
    model = all_estimators()[name](3)
    start = {"W": np.ones((12, 3)), "H": np.ones((3, 6))}
    for method in ("fit", "fit_transform"):
        if hasattr(model, method):
            with pytest.raises(TypeError, match=r"init=\(W, H\)"):
                getattr(model, method)(X, **start)


@EVERY
def test_other_mistakes_and_signatures_stay_as_they_are(name):
    kind = all_estimators()[name]
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        kind(nonsense=1)
    with pytest.raises(ValueError, match="Invalid parameter 'nonsense'"):
        kind().set_params(nonsense=1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        kind().fit(X, nonsense=1)
    kinds = {parameter.kind for parameter in inspect.signature(kind).parameters.values()}
    assert kinds <= {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
    assert next(iter(inspect.signature(kind).parameters)) == "n_components"
    assert list(inspect.signature(kind.fit).parameters)[:3] == ["self", "X", "y"]
    assert pickle.loads(pickle.dumps(clone(kind(4)))).n_components == 4


class OwnPenalty(NMF):
    """A subclass with a parameter that scikit-learn's NMF has as well."""

    def __init__(self, n_components=8, *, alpha_W=0.0):
        super().__init__(n_components)
        self.alpha_W = alpha_W


def test_subclasses_may_use_the_names():
    assert OwnPenalty(alpha_W=2.0).set_params(alpha_W=3.0).alpha_W == 3.0


def of(module, name, **attributes):
    """An object of a class of another library, which need not be installed."""
    return type(name, (), {"__module__": module, "__len__": lambda self: 12, **attributes})()


def cannot(self, *arguments, **keywords):
    raise TypeError("implicit conversion is not allowed")


FOREIGN = {
    "AnnData": (of("anndata._core.anndata", "AnnData", __getitem__=cannot), r"adata\.X"),
    "backed": (of("anndata._core.sparse_dataset", "_CSRDataset", shape=(12, 6), __getitem__=cannot), r"X\[:\]"),
    "HDF5": (of("h5py._hl.files", "File"), r"file\[name\]\[:\]"),
    "zarr": (of("zarr.core.group", "Group"), r"group\[name\]\[:\]"),
    "xarray": (of("xarray.core.dataset", "Dataset", __array__=cannot), r"\.values"),
    "GPU tensor": (of("torch", "Tensor", __array__=cannot), r"\.cpu\(\)\.numpy\(\)"),
    "dask": (of("dask.array.core", "Array", __array__=lambda *a, **k: np.array([object()])), r"\.compute\(\)"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_objects_that_hold_data_without_being_arrays(name):
    thing, advice = FOREIGN[name]
    model = GraphNMF(3, graph_strength=1.0, max_iter=3, tol=0).fit(X)
    for read in (
        NMF(3).fit,
        NMF("auto").fit_predict,
        NormalizedCut(3).fit,
        model.transform,
        model.predict,
        model.score,
        neighbor_graph,
        lambda X: silhouette(X, np.zeros(12)),
        lambda X: cross_validate_entries(NMF(), X, [2, 3]),
        lambda graph: check_graph(graph, 12),
        lambda graph: GraphNMF(3, graph=graph).fit(X),
        lambda weights: partwise.WeightedNMF(3, weights=weights).fit(X),
    ):
        with pytest.raises(TypeError, match=advice):
            read(thing)


def test_objects_that_convert_go_on_working():
    tensor = of("torch", "Tensor", __array__=lambda self, *arguments, **keywords: X, shape=X.shape)
    expected = NMF(3, max_iter=3, tol=0, random_state=0).fit(X).embedding_
    found = NMF(3, max_iter=3, tol=0, random_state=0).fit(tensor).embedding_
    np.testing.assert_array_equal(found, expected)

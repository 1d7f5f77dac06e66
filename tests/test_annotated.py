"""AnnData in and out: with an object that has its attributes, and with anndata itself where it is installed."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from cases import GROUPS, SPARSE, X, Y, told
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from partwise import NMF, GraphNMF, GroupNMF, NormalizedCut, from_anndata, load, to_anndata
from partwise.graphs import neighbor_graph
from partwise.selection import ConsensusNMF, rank_evidence
from partwise.testing import all_estimators

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::partwise.exceptions.DuplicateComponentsWarning"),
]
GENES = [f"gene{number}" for number in range(X.shape[1])]
EDGES = neighbor_graph(X, 4)


class Duck:
    """What we use of AnnData: X and names as properties, and views by index."""

    isbacked = False

    def __init__(self, X, layers=(), obsp=(), genes=GENES):
        self._X, self.layers, self.obsp = X, dict(layers), dict(obsp)
        self.obs_names, self.var_names = pd.Index([f"cell{i}" for i in range(X.shape[0])]), pd.Index(genes)
        self.obsm, self.varm, self.uns = {}, {}, {}

    @property
    def X(self):
        return self._X

    @property
    def shape(self):
        return len(self.obs_names), len(self.var_names)

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, rows):
        rows = rows[0] if isinstance(rows, tuple) else rows
        layers = {name: layer[rows] for name, layer in self.layers.items()}
        return Duck(self._X[rows], layers, {name: links[rows][:, rows] for name, links in self.obsp.items()})


def real(X, layers=(), obsp=()):
    anndata = pytest.importorskip("anndata")
    names = pd.DataFrame(index=[f"cell{i}" for i in range(X.shape[0])]), pd.DataFrame(index=GENES)
    return anndata.AnnData(X, *names, layers=dict(layers), obsp=dict(obsp))


makers = pytest.mark.parametrize("make", [Duck, real], ids=["like AnnData", "anndata"])


@makers
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, sp.csc_matrix, sp.csr_array])
def test_it_is_its_matrix_with_names(make, kind):
    data = kind(X)
    adata = make(data)
    model, plain = NMF(4, random_state=0).fit(adata), NMF(4, random_state=0).fit(data)
    np.testing.assert_array_equal(model.components_, plain.components_)
    assert model.feature_names_in_.tolist() == GENES
    np.testing.assert_array_equal(model.transform(adata), plain.transform(data))
    assert model.score(adata) == plain.score(data)
    np.testing.assert_array_equal(model.predict(adata[:9]), plain.predict(sp.csr_array(data)[:9].toarray()))


@pytest.mark.parametrize("name", all_estimators())
def test_every_estimator_takes_it(name):
    kind = all_estimators()[name]
    settings = {"max_iter": 3} if "max_iter" in kind().get_params() else {}
    model = kind(n_components=3, random_state=0, **settings)
    data = SPARSE if name == "LocalNMF" else X
    adata = clone(model).fit(Duck(data), Y, **told(model, X))
    np.testing.assert_array_equal(adata.embedding_, clone(model).fit(data, Y, **told(model, X)).embedding_)
    assert adata.feature_names_in_.tolist() == GENES


@makers
def test_a_layer_takes_the_place_of_x(make):
    adata = make(X, layers={"counts": 4 * X})
    model = NMF(4, random_state=0).fit(from_anndata(adata, layer="counts"))
    np.testing.assert_array_equal(model.embedding_, NMF(4, random_state=0).fit(4 * X).embedding_)
    assert model.feature_names_in_.tolist() == GENES
    assert from_anndata(adata) is adata
    with pytest.raises(ValueError, match="There is no layer 'raw'; there are 'counts'"):
        from_anndata(adata, layer="raw")
    with pytest.raises(ValueError, match="There is no layer 'raw'; there are none"):
        from_anndata(make(X), layer="raw")


@makers
def test_a_graph_has_a_name(make):
    adata = make(X, obsp={"connectivities": EDGES})
    by_name = GraphNMF(4, graph="connectivities", graph_strength=1.0, random_state=0)
    model = clone(by_name).fit(adata)
    given = clone(by_name).set_params(graph=EDGES).fit(X)
    np.testing.assert_array_equal(model.components_, given.components_)
    assert model.graph_method_ == "given"
    assert model.graph == "connectivities"
    np.testing.assert_array_equal(
        NormalizedCut(3, graph="connectivities", random_state=0).fit(adata).labels_,
        NormalizedCut(3, graph=EDGES, random_state=0).fit(X).labels_,
    )
    assert by_name.problem(adata).terms[1].graph is not None
    with pytest.raises(ValueError, match="There is no graph 'distances' in obsp; there are 'connectivities'"):
        by_name.set_params(graph="distances").fit(adata)
    with pytest.raises(ValueError, match=r"graph='distances' is the name of a matrix in adata\.obsp, but X is ndarray"):
        by_name.fit(X)


@makers
def test_parts_of_it_have_parts_of_its_graph(make):
    """A cross-validation, which needs SampleGraph where the graph is a matrix."""
    adata = make(X, layers={"counts": X}, obsp={"connectivities": EDGES})
    model = GraphNMF(4, graph="connectivities", graph_strength=1.0, random_state=0, max_iter=20)
    scores = cross_val_score(model, adata, cv=3)
    assert np.isfinite(scores).all()
    np.testing.assert_array_equal(cross_val_score(model, from_anndata(adata, "counts"), cv=3), scores)


@makers
def test_hidden_entries_leave_names_and_graphs(make):
    """The evidence for a number of components hides entries of what it was given, not its links."""
    adata = make(X, obsp={"connectivities": EDGES})
    known = pd.DataFrame(X[:1], columns=GENES)
    by_name = GraphNMF(graph="connectivities", graph_strength=1.0, fixed_components=known, max_iter=10, tol=0)
    found = rank_evidence(by_name, adata, [2, 3], n_splits=2, n_runs=2, random_state=0)
    given = clone(by_name).set_params(graph=EDGES, fixed_components=X[:1])
    expected = rank_evidence(given, X, [2, 3], n_splits=2, n_runs=2, random_state=0)
    np.testing.assert_array_equal(found.hidden.losses, expected.hidden.losses)
    np.testing.assert_array_equal(found.stability, expected.stability)
    with pytest.raises(ValueError, match="The columns of fixed_components are not the features of X"):
        rank_evidence(clone(by_name).set_params(fixed_components=known[GENES[::-1]]), adata, [2, 3], n_runs=2)


def test_layers_are_no_need():
    plain = SimpleNamespace(X=X, obs_names=range(len(X)), var_names=GENES, obsp={"links": EDGES})
    model = GraphNMF(4, graph="links", graph_strength=1.0, random_state=0, max_iter=20).fit(plain)
    assert model.feature_names_in_.tolist() == GENES
    given = GraphNMF(4, graph=EDGES, graph_strength=1.0, random_state=0, max_iter=20).fit(X)
    np.testing.assert_array_equal(model.embedding_, given.embedding_)
    with pytest.raises(ValueError, match="There is no layer 'counts'; there are none"):
        from_anndata(plain, "counts")
    plain.X = None
    with pytest.raises(ValueError, match=r"X is None\. Name a layer: .* there are none"):
        NMF(4).fit(plain)


def test_names_are_checked():
    model = NMF(4, random_state=0, max_iter=5, tol=0).fit(Duck(X))
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(Duck(X, genes=GENES[::-1]))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.transform(X)
    with pytest.raises(ValueError, match=r"Several variables have the name 'gene0'.*var_names_make_unique"):
        NMF(4).fit(Duck(X, genes=["gene0", *GENES[:-1]]))
    with pytest.raises(ValueError, match=r"X is None\. Name a layer: .* there are 'counts'"):
        NMF(4).fit(SimpleNamespace(X=None, obs_names=[], var_names=[], layers={"counts": X}, obsp={}))


def test_the_model_keeps_a_copy_of_what_it_needs():
    """Later changes of the data do not change a model that codes by them."""
    adata = Duck(X.copy())
    model = GraphNMF(4, graph_strength=10.0, random_state=0).fit(adata)
    before = model.transform(Duck(X[:5]))
    adata.X[:] = 0
    np.testing.assert_array_equal(model.transform(Duck(X[:5])), before)


@makers
def test_results_are_written(make):
    adata = make(X)
    model = GroupNMF(3, random_state=0, max_iter=5, tol=0, seed_components=X[:1]).fit(adata, groups=GROUPS)
    to_anndata(model, adata)
    np.testing.assert_array_equal(adata.obsm["X_partwise"], model.embedding_)
    np.testing.assert_array_equal(adata.varm["partwise"], model.components_.T)
    settings = adata.uns["partwise"]
    assert settings["estimator"] == "GroupNMF"
    assert settings["params"]["n_components"] == 3
    assert "missing" not in settings["params"]  # None cannot be stored everywhere
    assert settings["component_groups"].tolist() == [-1, -1, -1, 0, 1]
    assert settings["n_iter"] == 5
    np.testing.assert_array_equal(settings["params"]["seed_components"], X[:1])


def test_so_is_how_stable_components_are():
    adata = Duck(X)
    model = ConsensusNMF(NMF(max_iter=5, tol=0), n_components=2, n_replicates=4, density_threshold=np.inf)
    to_anndata(model.set_params(random_state=0).fit(adata), adata)
    np.testing.assert_array_equal(adata.uns["partwise"]["stability"], model.stability_)
    np.testing.assert_array_equal(adata.uns["partwise"]["cosine_error"], model.cosine_error_)


def test_files_keep_the_results(tmp_path):
    anndata = pytest.importorskip("anndata")
    adata = real(sp.csr_matrix(X), obsp={"connectivities": sp.csr_matrix(EDGES)})
    graph = GraphNMF(4, graph=EDGES, graph_strength=[1.0, 10.0], random_state=0, max_iter=5).fit(adata)
    to_anndata(graph, adata, key="with graph")
    to_anndata(GroupNMF(3, random_state=0, max_iter=5).fit(adata, groups=GROUPS), adata)
    adata.write_h5ad(tmp_path / "data.h5ad")
    again = anndata.read_h5ad(tmp_path / "data.h5ad")
    np.testing.assert_array_equal(again.obsm["X_with graph"], graph.embedding_)
    assert again.uns["with graph"]["params"]["graph_strength"].tolist() == [1, 10]
    assert again.uns["partwise"]["groups"].tolist() == ["first", "second"]
    backed = anndata.read_h5ad(tmp_path / "data.h5ad", backed="r")
    assert GraphNMF(4, random_state=0, max_iter=5).fit(backed).embedding_.shape == graph.embedding_.shape


def test_some_of_the_genes_or_samples():
    whole = Duck(X)
    model = NMF(3, random_state=0, max_iter=5, tol=0).fit(Duck(X[:, 3:9], genes=GENES[3:9]))
    to_anndata(model, whole)
    np.testing.assert_array_equal(whole.varm["partwise"][3:9], model.components_.T)
    assert not np.delete(whole.varm["partwise"], range(3, 9), axis=0).any()
    with pytest.raises(ValueError, match=r"codes of shape \(70, 3\) and 5 observations; they must agree"):
        to_anndata(model, whole[:5])
    some = Duck(X[:5, 3:9], genes=GENES[3:9])
    to_anndata(model, some, codes=model.transform(some))
    np.testing.assert_array_equal(some.obsm["X_partwise"], model.transform(some))


def test_what_cannot_be_written():
    model = NMF(3, random_state=0, max_iter=5, tol=0).fit(Duck(X))
    with pytest.raises(ValueError, match="1 features of the model, such as 'gene14', are not among the variables"):
        to_anndata(model, Duck(X[:, :14], genes=GENES[:14]))
    with pytest.raises(ValueError, match="not unique"):
        to_anndata(model, Duck(X, genes=["gene0", *GENES[:-1]]))
    with pytest.raises(ValueError, match="15 features without names, and adata has 14 variables"):
        to_anndata(NMF(3, max_iter=5, tol=0).fit(X), Duck(X[:, :14], genes=GENES[:14]))
    with pytest.raises(ValueError, match="There are 2 codes of every sample, but the model has 3"):
        to_anndata(model, Duck(X), codes=np.ones((len(X), 2)))
    for key in ("one/two", "", 3, None):
        with pytest.raises(ValueError, match=f"key={key!r} was given"):
            to_anndata(model, Duck(X), key=key)
    for write in (lambda: to_anndata(model, X), lambda: from_anndata(X, layer="counts")):
        with pytest.raises(TypeError, match="adata is ndarray; give an AnnData"):
            write()


def test_models_keep_the_names(tmp_path):
    model = NMF(3, random_state=0, max_iter=5, tol=0).fit(Duck(X))
    model.save(tmp_path / "model.npz")
    assert load(tmp_path / "model.npz").feature_names_in_.tolist() == GENES

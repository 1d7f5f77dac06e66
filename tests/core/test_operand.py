"""Dense and sparse data behind one door."""

import numpy as np
import pytest
import scipy.sparse as sp

from partwise import NMF, GraphNMF
from partwise.core import operand as operands
from partwise.core.storage import as_operand, group_means
from partwise.core.together import CodePass

RNG = np.random.RandomState(0)
X = np.where(RNG.uniform(size=(30, 17)) < 0.6, 0, RNG.uniform(size=(30, 17)))


def memmap(X, path):
    np.save(path / "X.npy", X)
    return np.load(path / "X.npy", mmap_mode="r")


def with_int64(X):
    X = sp.csr_array(X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


FORMS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "csr": sp.csr_matrix,
    "csc": sp.csc_array,
    "int64": with_int64,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_and_norms(form, dtype, monkeypatch):
    monkeypatch.setattr(operands, "ENTRIES_BYTES", 256)
    data = X.astype(dtype)
    operand = as_operand(FORMS[form](data))
    W, Ht = RNG.uniform(size=(30, 3)).astype(dtype), RNG.uniform(size=(17, 3)).astype(dtype)
    close = {"rtol": 1e-5 if dtype == np.float32 else 1e-12}
    np.testing.assert_allclose(operand.dot(Ht), data @ Ht, **close)
    np.testing.assert_allclose(operand.t_dot(W), data.T @ W, **close)
    np.testing.assert_allclose(operand.row_squared_norms(), (data.astype(float) ** 2).sum(axis=1))
    np.testing.assert_allclose(operand.column_squared_norms(), (data.astype(float) ** 2).sum(axis=0))
    np.testing.assert_allclose(operand.squared_norm, (data.astype(float) ** 2).sum())
    np.testing.assert_allclose(operand.mean(), data.mean(), rtol=1e-6)
    blocks = list(operand.row_blocks())
    assert len(blocks) > 1
    stacked = np.vstack([block.toarray() if sp.issparse(block) else block for _, block in blocks])
    assert np.array_equal(stacked, data)
    assert np.array_equal(_dense(operand.take(np.array([4, 2])).array), data[[4, 2]])


def _dense(X):
    return X.toarray() if sp.issparse(X) else X


def test_means_of_what_is_known():
    holes = np.where(X > 0.5, np.nan, X)
    assert as_operand(holes, "nan").mean() == pytest.approx(np.nanmean(holes))
    assert as_operand(sp.csr_array(X), "unstored").mean() == pytest.approx(X[X > 0].mean())


@pytest.mark.parametrize("form", ["C", "csr"])
def test_group_means(form):
    groups, weight = np.arange(30) % 4, RNG.uniform(size=30)
    weight[groups == 3] = 0
    means = _dense(group_means(as_operand(FORMS[form](X)), groups, 4, weight).array)
    for group in range(3):
        rows = groups == group
        np.testing.assert_allclose(means[group], np.average(X[rows], axis=0, weights=weight[rows]))
    np.testing.assert_allclose(means[3], X[groups == 3].mean(axis=0))


@pytest.mark.parametrize("estimator", [NMF, GraphNMF])
def test_every_container_gives_the_same_model(estimator, tmp_path):
    def fit(data):
        return estimator(4, init="nndsvda", max_iter=20, tol=0, random_state=0).fit(data)

    expected = fit(X)
    containers = {name: make(X) for name, make in FORMS.items()}
    containers |= {name: sp.coo_array(X).asformat(name) for name in ("coo", "lil", "dok", "bsr", "dia")}
    containers |= {"list": X.tolist(), "memmap": memmap(X, tmp_path)}
    for name, data in containers.items():
        model = fit(data)
        np.testing.assert_allclose(model.embedding_, expected.embedding_, atol=1e-8, err_msg=name)
        np.testing.assert_allclose(model.components_, expected.components_, atol=1e-8, err_msg=name)
        codes = model.transform(data)
        np.testing.assert_allclose(codes, expected.transform(X), atol=1e-6, err_msg=name)


def test_duplicates_and_order_are_mended_on_a_copy():
    messy = sp.csr_matrix((2, 3))
    messy.indptr, messy.indices, messy.data = np.array([0, 3, 5]), np.array([2, 0, 2, 1, 0]), np.arange(1.0, 6.0)
    before = messy.copy()
    model = NMF(1, max_iter=10, tol=0, random_state=0).fit(messy)
    assert np.array_equal(messy.indices, before.indices)
    assert np.array_equal(messy.data, before.data)
    clean = NMF(1, max_iter=10, tol=0, random_state=0).fit(messy.toarray())
    np.testing.assert_allclose(model.components_, clean.components_)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_input_is_never_changed(form, loss):
    data = FORMS[form](X)
    data_before = data.copy()
    GraphNMF(3, graph_strength=10.0, loss=loss, max_iter=10, random_state=0).fit(data).transform(data)
    assert np.array_equal(_dense(data), _dense(data_before))


@pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_matrix])
def test_magnitude_and_smallest_entry(make):
    rng = np.random.RandomState(0)
    X = rng.standard_normal((30, 8)) * (rng.uniform(size=(30, 8)) < 0.6)
    F, H = rng.standard_normal((30, 3)), rng.standard_normal((8, 3))
    operand = as_operand(make(X))
    assert operand.smallest() == X.min()
    assert as_operand(make(np.abs(X))).smallest() == 0
    np.testing.assert_allclose(operand.magnitude().dot(H), np.abs(X) @ H, atol=1e-12)
    np.testing.assert_allclose(operand.magnitude().t_dot(F), np.abs(X).T @ F, atol=1e-12)
    np.testing.assert_allclose(operand.dot(H), X @ H, atol=1e-12)


@pytest.mark.parametrize("form", ["C", "csr"])
@pytest.mark.parametrize("widths", [[9], [9, 2], [3, 3, 8]])
@pytest.mark.parametrize("method", ["code_together", "code_alike"])
def test_products_of_several_fits_are_their_own(form, widths, method):
    """What a fit is given is right, and remains so when others are given theirs."""
    if method == "code_alike":
        widths = [9] * len(widths)
    operand = as_operand(FORMS[form](X))

    def passes(scale):
        parts = [scale * np.random.RandomState(k).uniform(size=(17, k)) for k in widths]
        return [CodePass(Ht, lambda rows, product: product**2) for Ht in parts]

    given = passes(1.0)
    found = getattr(operand, method)(given)
    getattr(operand, method)(passes(2.0))
    for each, (pull, gram) in zip(given, found, strict=True):
        codes = (X @ each.Ht) ** 2
        np.testing.assert_allclose(pull, X.T @ codes)
        np.testing.assert_allclose(gram, codes.T @ codes)

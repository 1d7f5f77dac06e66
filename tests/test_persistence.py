"""Models on disk: what is saved is what is loaded; what was not saved by us is refused."""

import io
import json
import pickle
import re
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from cases import CASES, SPARSE, X, assert_same, fit, small
from sklearn.base import clone
from sklearn.exceptions import InconsistentVersionWarning, NotFittedError

import partwise
from partwise import (
    NMF,
    ConstrainedNMF,
    Factorization,
    GraphNMF,
    LatentSemanticKMeans,
    LocalLearningClustering,
    LocalSimilarityNMF,
    NormalizedCut,
    load,
)
from partwise.files.archive import ReadError, read_arrays, write_arrays
from partwise.files.described import as_text, from_text
from partwise.persistence import ROOMS, known_classes
from partwise.terms import L1, Frobenius, NeighborGraph
from partwise.testing import all_estimators

CLUSTERINGS = [LatentSemanticKMeans, LocalLearningClustering, NormalizedCut]


def refuse(path, sentence, **options):
    with pytest.raises(ReadError, match=sentence) as caught:
        load(path, **options)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


# Coding new samples by divergences takes thousands of steps.
NEW = {name: data[: 1 if "Kullback" in name else 9] for name, (_, data) in CASES.items()}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore:The codes give")
def test_a_loaded_model_is_the_saved_one(name, tmp_path):
    (estimator, data), new = CASES[name], NEW[name]
    model = fit(
        small(estimator, max_iter=10, assign="argmax" if getattr(estimator, "solver", "auto") == "auto" else "kmeans"),
        data,
    )
    model.save(tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    assert type(again) is type(model)
    assert_same(again, model)
    assert again.history_ == model.history_
    np.testing.assert_array_equal(again.transform(new), model.transform(new), strict=True)
    np.testing.assert_array_equal(again.predict(new), model.predict(new), strict=True)
    params, expected = again.get_params(), model.get_params()
    assert params.keys() == expected.keys()
    assert all(type(params[name]) is type(expected[name]) for name in params)
    # A model that was saved once more is the same file.
    again.save(tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "model.npz").read_bytes()
    # It holds by what new samples are coded, and nothing else of the fit.
    header = from_text(read_arrays(tmp_path / "model.npz", "a model")["header"])
    made = set(re.findall(r'"object": "(\w+)"', json.dumps(header)))
    assert not {name for name in made if name.startswith("Bound") or name.endswith(("Operand", "State", "Links"))}


def test_every_estimator_has_a_case():
    covered = {type(estimator) for estimator, _ in CASES.values()} | set(CLUSTERINGS)
    assert covered == set(all_estimators().values())


@pytest.mark.parametrize("kind", CLUSTERINGS)
@pytest.mark.filterwarnings("ignore:The graph of the samples falls")
def test_clusterings_without_sweeps(kind, tmp_path):
    model = kind(3, random_state=0).fit(X)
    model.save(tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.labels_, model.labels_, strict=True)
    np.testing.assert_array_equal(again.embedding_, model.embedding_, strict=True)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_parameters_of_every_kind(tmp_path):
    graph = sp.csr_array(np.eye(70)[::-1] + np.eye(70)[::-1].T)
    start = np.random.RandomState(0).uniform(size=(70, 3)), np.random.RandomState(1).uniform(size=(3, 15))
    terms = [Frobenius(weights=np.ones_like(X)), L1(0.5), NeighborGraph(2.0, graph=graph)]
    model = fit(Factorization(3, terms=terms, init=start, random_state=np.random.RandomState(4), max_iter=5), X)
    model.save(tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    assert [type(term) for term in again.terms] == [type(term) for term in terms]
    assert again.terms[1] == terms[1]
    assert (again.terms[2].graph != graph).nnz == 0
    for F, given in zip(again.init, start, strict=True):
        np.testing.assert_array_equal(F, given)
    assert again.random_state.randint(1000) == model.random_state.randint(1000)
    assert_same(clone(again).set_params(random_state=0).fit(X), clone(model).set_params(random_state=0).fit(X))
    infinite = fit(LocalSimilarityNMF(3, outlier_strength=np.inf, max_iter=5, random_state=0), X)
    infinite.save(tmp_path / "model.npz")
    assert load(tmp_path / "model.npz").outlier_strength == np.inf


def test_feature_names_are_kept(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=[f"größe {j}" for j in range(15)])
    model = fit(NMF(3, max_iter=5, random_state=0), frame)
    model.set_output(transform="pandas").save(tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    pd.testing.assert_frame_equal(again.transform(frame[:5]), model.transform(frame[:5]))
    with pytest.raises(ValueError, match="feature names"):
        again.transform(frame[frame.columns[::-1]])


# --- what cannot be saved ---------------------------------------------------------------------------------------------


def linear(A, B):
    return A @ B.T


class OwnTerm(L1):
    """Of a class that no file may name."""


@pytest.mark.parametrize(
    ("estimator", "named"),
    [
        (LocalSimilarityNMF(kernel=linear), "kernel is 'linear', a function"),
        (GraphNMF(graph_strength=10.0, graph=lambda X: sp.csr_array((70, 70))), "graph is '<lambda>', a function"),
        (Factorization(terms=[Frobenius(), OwnTerm(0.1)]), r"terms\[1\] is 'OwnTerm'"),
        (NMF(callbacks=print), "callbacks cannot be saved"),
    ],
)
def test_only_data_are_saved(estimator, named, tmp_path, capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = clone(estimator).set_params(n_components=3, max_iter=3, random_state=0).fit(X)
    with pytest.raises(ValueError, match=named):
        model.save(tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())


def test_unfitted_and_foreign_estimators(tmp_path):
    with pytest.raises(NotFittedError):
        NMF().save(tmp_path / "model.npz")

    class Own(NMF):
        """A user's own."""

    with pytest.raises(ValueError, match="Own is not an estimator of partwise"):
        fit(Own(3, max_iter=3), X).save(tmp_path / "model.npz")


def test_class_names_are_unique():
    """A file names classes without their modules."""
    package = Path(partwise.__file__).parent
    names = []
    for room in ROOMS:
        for path in (package / room).glob("*.py"):
            names += re.findall(r"^class (\w+)", path.read_text(), re.M)
    assert len(names) == len(set(names))
    assert set(known_classes()) <= {*names, "Array"}


# --- files that are not what they say ---------------------------------------------------------------------------------


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.npz"
    fit(GraphNMF(3, graph_strength=10.0, max_iter=5, random_state=0), SPARSE).save(path)
    return path


def rewrite(path, change):
    """The model with its description, or its arrays, changed."""
    arrays = read_arrays(path, "a model")
    header = from_text(arrays["header"])
    change(header, arrays)
    write_arrays(path, {**arrays, "header": as_text(header)})


@pytest.mark.parametrize(
    "content",
    [b"", b"PK", b"text", b"\x93NUMPY", b"\x00" * 400, np.random.RandomState(0).bytes(999)],
    ids=["empty", "zip", "text", "npy", "zeros", "random"],
)
def test_no_archive(tmp_path, content):
    (tmp_path / "model.npz").write_bytes(content)
    refuse(tmp_path / "model.npz", r"model\.npz cannot be read as a model of partwise: it is damaged")


def test_absent_and_folder(tmp_path):
    refuse(tmp_path / "none.npz", "no such file")
    refuse(tmp_path, "it is a folder")


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_truncated(model, share):
    whole = model.read_bytes()
    model.write_bytes(whole[: int(share * len(whole))])
    refuse(model, "damaged")


class Bomb:
    """Leaves a trace where it is unpickled."""

    def __reduce__(self):
        return open, ("exploded", "w")


def test_pickles_are_not_opened(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez(tmp_path / "model.npz", header=np.array([Bomb()], object))
    refuse(tmp_path / "model.npz", "pickled objects, which could run any code and are never opened")
    (tmp_path / "model.npz").write_bytes(pickle.dumps(Bomb()))
    refuse(tmp_path / "model.npz", "damaged")
    assert [path.name for path in tmp_path.iterdir()] == ["model.npz"]


def header_of(shape, dtype="<f8"):
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": dtype, "fortran_order": False, "shape": shape})
    return stream.getvalue()


@pytest.mark.parametrize(
    ("shape", "dtype", "sentence"),
    [
        ((10**12,), "<f8", "declares an array of 8000000000000 bytes but holds 0"),
        ((10**12, 10**12, 10**12), "<f8", "bytes but holds 0"),
        ((10**12,), "<U0", "dtype"),
        ((-1,), "<f8", "declares an array of shape"),
        ((3,), "|V8", "dtype"),
        ((0,), "|O", "pickled objects"),
        ((0,), "<c16", "dtype"),
    ],
)
def test_lying_headers(tmp_path, shape, dtype, sentence):
    with zipfile.ZipFile(tmp_path / "model.npz", "w") as file:
        file.writestr("header.npy", header_of(shape, dtype))
    refuse(tmp_path / "model.npz", sentence)


def test_bombs_are_refused_by_what_they_declare(tmp_path):
    path = tmp_path / "model.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file, file.open("header.npy", "w") as member:
        member.write(header_of((2**24,), "|u1"))
        for _ in range(16):
            member.write(bytes(2**20))
    assert path.stat().st_size < 2**15
    refuse(path, "declares 0.0156 GiB of arrays, but only 0.000977 GiB are allowed", max_bytes=2**20)
    refuse(path, "damaged")  # 16 MB of nothing is not a description


def test_other_things_in_a_zip(tmp_path):
    for name in ("../../evil.npy.txt", "script.py"):
        with zipfile.ZipFile(tmp_path / "model.npz", "w") as file:
            file.writestr(name, b"x")
        refuse(tmp_path / "model.npz", "which is not an array")
    with zipfile.ZipFile(tmp_path / "model.npz", "w", zipfile.ZIP_BZIP2) as file:
        file.writestr("header.npy", header_of((0,)))
    refuse(tmp_path / "model.npz", "compression")
    np.savez(tmp_path / "model.npz", X=X)
    refuse(tmp_path / "model.npz", "damaged or something else")


def at(*path):
    """Sets a place of the description to what the test says."""

    def change(value):
        def apply(header, arrays):
            place = header
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = value

        return apply

    return change


DEEP = json.loads('{"tuple":[' * 80 + "1" + "]}" * 80)
LIES = {
    "another format": (at("format")("something"), "it is something else"),
    "a later version": (at("format_version")(3), "its format is 3 .*reads formats up to 2"),
    "a version that is not a number": (at("format_version")([1]), r"its format is \[1\]"),
    "a class of scikit-learn": (at("class")("KMeans"), "'KMeans', which is not an estimator"),
    "a class that is not an estimator": (at("class")("Links"), "which is not an estimator"),
    "a class that is not text": (at("class")(["NMF"]), "damaged"),
    "an abstract class": (at("class")("BaseFactorization"), "damaged"),
    "another class": (at("class")("NMF"), "damaged"),
    "a parameter too many": (at("parameters", "shell")("rm"), "damaged"),
    "an object of the system": (
        at("fitted", "scale_")({"object": "Popen", "attributes": {}}),
        "'Popen', which this version does not know",
    ),
    "an array that is not there": (at("fitted", "scale_")({"array": "999"}), "'999', which is missing"),
    "an object array": (at("fitted", "scale_")({"dtype": "|O"}), "dtype"),
    "something unknown": (at("fitted", "scale_")({"eval": "1"}), "something unknown"),
    "brackets": (at("fitted", "scale_")(DEEP), "nested too deeply"),
    "no fitted attributes": (at("fitted")({}), "damaged"),
    "features as text": (at("fitted", "n_features_in_")("15"), "not what they should be"),
    "other features": (at("fitted", "n_features_in_")(14), "does not fit 14 features"),
    "components as text": (at("fitted", "components_")("none"), "damaged"),
}


@pytest.mark.parametrize(("change", "sentence"), LIES.values(), ids=LIES)
def test_lying_descriptions(model, change, sentence):
    rewrite(model, change)
    refuse(model, sentence)


@pytest.mark.parametrize("wrong", [99, -1])
def test_hostile_sparse_matrices(model, wrong):
    """Training samples whose indices point outside would crash compiled code."""

    def change(header, arrays):
        for array in arrays.values():
            if array.dtype == np.int32 and len(array) > 71:
                array[0] = wrong

    rewrite(model, change)
    refuse(model, "sparse matrix is broken")


# --- pickle, skops ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore:The codes give")
def test_pickle(name):
    estimator, data = CASES[name]
    model = fit(small(estimator, max_iter=3), data)
    again = pickle.loads(pickle.dumps(model))
    assert_same(again, model)
    np.testing.assert_array_equal(again.transform(data[:1]), model.transform(data[:1]))
    assert not hasattr(again, "_partwise_version")


def test_a_pickle_of_another_version_warns_with_both(monkeypatch):
    model = fit(NMF(3, max_iter=3, random_state=0), X)
    monkeypatch.setattr(partwise, "__version__", "0.0.7")
    written = pickle.dumps(model)
    monkeypatch.setattr(partwise, "__version__", "3.2.1")
    with pytest.warns(InconsistentVersionWarning, match=r"NMF from version partwise 0\.0\.7 .*partwise 3\.2\.1"):
        pickle.loads(written)


@pytest.mark.parametrize("estimator", [NMF(), GraphNMF(graph_strength=10.0), ConstrainedNMF(), LocalSimilarityNMF()])
@pytest.mark.filterwarnings("ignore:The codes give")
def test_skops(estimator):
    sio = pytest.importorskip("skops.io")
    model = fit(small(estimator, max_iter=6), SPARSE)
    written = sio.dumps(model)
    with pytest.raises(Exception, match=r"partwise\.estimators"):
        sio.loads(written)
    trusted = sio.get_untrusted_types(data=written)
    assert all(name.startswith(("partwise.", "scipy.sparse.", "numpy.dtype")) for name in trusted)
    again = sio.loads(written, trusted=trusted)
    np.testing.assert_array_equal(again.transform(SPARSE[:5]), model.transform(SPARSE[:5]))
    np.testing.assert_array_equal(again.predict(SPARSE[:5]), model.predict(SPARSE[:5]))

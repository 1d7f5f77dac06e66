"""Models of earlier formats code new samples as they did."""

import re
from pathlib import Path

import numpy as np
import pytest

from partwise import GraphNMF, load
from partwise.earlier_formats import CODING, from_format_1
from partwise.files.archive import ReadError, read_arrays, write_arrays
from partwise.files.described import as_text, from_text
from partwise.persistence import known_classes

GOLDEN = Path(__file__).parent / "golden"


def cauchy_loss(model, X, W):
    squares = ((X - W @ model.components_) / model.cauchy_scale_) ** 2
    return np.log1p(np.minimum(squares, model.truncation**2)).sum()


@pytest.mark.parametrize(
    "file", sorted(GOLDEN.glob("format-*/*.npz")), ids=lambda file: f"{file.parent.name} {file.stem}"
)
def test_golden_files(file, tmp_path):
    """Models of every format code new samples as they did, and so they do once they are saved in the present one."""
    model = load(file)
    model.save(tmp_path / "again.npz")
    expected = np.load(file.parent / "expected" / file.name)
    for again in (model, load(tmp_path / "again.npz")):
        if "refusal" in expected:
            with pytest.raises(ValueError, match=re.escape(str(expected["refusal"]))):
                again.transform(expected["X"])
            continue
        codes = again.transform(expected["X"])
        if file.stem == "outliers":
            # Its narrow loss has many minima for a sample: others may be found, which together must be as good.
            found, before = (cauchy_loss(again, expected["X"], W) for W in (codes, expected["codes"]))
            assert found <= before
            continue
        # Format 1 coded by multiplicative steps, which stop millionths from the minimum.
        atol = {"holes": 2e-6, "beta-divergence": 1e-5}.get(file.stem, 1e-9) * np.abs(expected["codes"]).max()
        np.testing.assert_allclose(codes, expected["codes"], rtol=1e-6, atol=atol, strict=True)
        np.testing.assert_array_equal(again.predict(expected["X"]), expected["labels"])


def test_a_golden_file_in_full():
    model = load(GOLDEN / "format-1" / "graph.npz")
    assert type(model) is GraphNMF
    assert model.get_params()["graph_strength"] == 3.5
    assert model.graph_method_ == "products"
    assert not {"_bound_terms", "_codes"} & vars(model).keys()


def bound(kind, **attributes):
    return {"object": kind, "attributes": attributes}


def coding(*terms, kind="Factorization"):
    """The terms that a model of format 1 codes new samples by."""
    fitted = {"_bound_terms": list(terms), "embedding_": {"array": "0"}}
    return from_format_1({"class": kind, "fitted": fitted}, {})["fitted"]["_coding"]


FROBENIUS = bound("Frobenius", weights=None)
# Bound terms that no golden file holds, and what became of them.
OTHERS = [
    (bound("BoundOrthogonalFit"), FROBENIUS),
    (bound("BoundKnownCoordinates", strength=0.5, _squares={"array": "1"}), bound("LocalCoordinates", strength=0.5)),
    (bound("BoundOrthogonality", orthogonality=0.5), None),
]


def described(tree):
    """Names of all objects in a description."""
    return set(re.findall(r"'object': '(\w+)'", str(tree)))


def test_every_bound_term_of_format_1_is_tried():
    fitted = [from_text(read_arrays(file, "a model")["header"])["fitted"] for file in GOLDEN.glob("format-1/*.npz")]
    in_files = set().union(*(described(each.get("_bound_terms", [])) for each in fitted))
    assert CODING.keys() <= in_files | {tree["object"] for tree, _ in OTHERS}


@pytest.mark.parametrize(("tree", "expected"), OTHERS, ids=[tree["object"] for tree, _ in OTHERS])
def test_bound_terms_that_no_golden_file_holds(tree, expected):
    assert coding(bound("BoundFrobenius"), tree) == [FROBENIUS, *([] if expected is None else [expected])]
    assert described(coding(tree)) <= known_classes().keys()


def test_a_bound_term_that_format_1_never_had(tmp_path):
    arrays = read_arrays(GOLDEN / "format-1" / "graph.npz", "a model")
    header = from_text(arrays["header"])
    header["fitted"]["_bound_terms"][0]["object"] = "Popen"
    write_arrays(tmp_path / "model.npz", {**arrays, "header": as_text(header)})
    with pytest.raises(ReadError, match="names a class 'Popen', which this version does not know"):
        load(tmp_path / "model.npz")

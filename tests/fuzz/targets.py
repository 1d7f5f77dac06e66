"""What is fuzzed: everything that reads bytes, or index arrays, of unknown origin.

A target takes a piece of damaged input and fails if anything but the promised happens: a result, or the one error that
the reader names. A crash of the process fails everything. `EXECUTIONS` counts.
"""

import contextlib
import io
import random
import tempfile
import warnings
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st
from scipy.io import mmwrite, savemat

from partwise import NMF, GraphNMF, load
from partwise.callbacks import Checkpoint
from partwise.callbacks.checkpoint import read_checkpoint
from partwise.cli import main
from partwise.files import read
from partwise.files.archive import ReadError, read_arrays, write_arrays
from partwise.files.described import as_text, from_text
from partwise.graphs import check_graph

EXECUTIONS = Counter()
FOLDER = Path(tempfile.mkdtemp(prefix="partwise-fuzz-"))
X = np.round(np.random.RandomState(0).uniform(0, 5, size=(12, 4)), 1)
SPARSE = sp.csr_array(np.where(X > 2, X, 0))

# --- inputs -----------------------------------------------------------------------------------------------------------


def seeds():
    """Small valid files of every kind."""
    files = {name: FOLDER / name for name in ("a.npz", "b.npz", "c.npy", "d.mat", "e.mat", "f.mtx", "g.mtx")}
    np.savez(files["a.npz"], X=X, y=np.arange(12) % 3, image_shape=[2, 2], terms=list("abcd"))
    parts = {"data": SPARSE.data, "indices": SPARSE.indices, "indptr": SPARSE.indptr, "shape": SPARSE.shape}
    np.savez_compressed(files["b.npz"], **parts)
    formats = [sp.csc_array, sp.coo_array, sp.bsr_array, sp.dia_array]
    for form in formats:
        sp.save_npz(FOLDER / f"{form.__name__}.npz", form(SPARSE))
    np.save(files["c.npy"], X)
    savemat(files["d.mat"], {"fea": SPARSE, "gnd": np.arange(12)})
    savemat(files["e.mat"], {"X": X}, do_compression=True)
    mmwrite(files["f.mtx"], SPARSE)
    mmwrite(files["g.mtx"], X)
    tables = [
        ",0,1\n0,1.5,2\n1,3,4\n",
        "n;a;b\nx;1,5;2\ny;;3\n",
        "1,2\n3,4\n",
        "a,b,label\n1,2,x\n3,,y\n",
        'text,class\n"fox, owl",a\nowl,b\n',
    ]
    (FOLDER / "model.npz").unlink(missing_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        GraphNMF(2, graph_strength=10.0, n_neighbors=2, max_iter=3, random_state=0).fit(SPARSE).save(
            FOLDER / "model.npz"
        )
        NMF(2, tol=0, max_iter=4, random_state=0, callbacks=Checkpoint(FOLDER / "fit.npz", every=1)).fit(X)
    return {
        ".npz": [
            path.read_bytes()
            for path in (files["a.npz"], files["b.npz"], *(FOLDER / f"{form.__name__}.npz" for form in formats))
        ],
        ".npy": [files["c.npy"].read_bytes()],
        ".mat": [files["d.mat"].read_bytes(), files["e.mat"].read_bytes()],
        ".mtx": [files["f.mtx"].read_bytes(), files["g.mtx"].read_bytes()],
        ".csv": [table.encode() for table in tables],
        "model": [(FOLDER / "model.npz").read_bytes()],
        "checkpoint": [(FOLDER / "fit.npz").read_bytes()],
    }


SEEDS = seeds()
NUMBERS = [b"\x00", b"\xff" * 4, b"\xff" * 8, b"\x7f\xff\xff\xff", b"99999999999", b"-1", b"nan", b"{", b'"', b"\n"]


def damage(content, source):
    """A valid file, cut, changed, repeated or interrupted in a few places; sometimes just bytes."""
    if source.random() < 0.05:
        return source.randbytes(source.randrange(300))
    content = bytearray(content)
    for _ in range(source.randint(1, 4)):
        place, length = source.randint(0, len(content)), source.randint(1, 16)
        kind = source.choice(["change", "insert", "cut", "end", "number", "repeat"])
        if kind == "change" and place < len(content):
            content[place] = source.randrange(256)
        elif kind == "insert":
            content[place:place] = source.randbytes(length)
        elif kind == "cut":
            del content[place : place + length]
        elif kind == "end":
            del content[place:]
        elif kind == "number":
            number = source.choice(NUMBERS)
            content[place : place + len(number)] = number
        elif kind == "repeat":
            content[place:place] = content[place : place + length]
    return bytes(content)


def damage_member(content, source):
    """An npz whose checksums are right and one of whose arrays is damaged."""
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        members = {name: file.read(name) for name in file.namelist()}
    name = source.choice(sorted(members))
    members[name] = damage(members[name], source)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        for name, inside in members.items():
            file.writestr(name, inside)
    return stream.getvalue()


def from_seeds(function, originals):
    """Damage by the number that hypothesis draws: a draw for every byte would take most of the time."""

    def make(number):
        source = random.Random(number)
        return function(source.choice(originals), source)

    return st.integers(0, 2**64 - 1).map(make)


def damaged(originals):
    return from_seeds(damage, originals)


def damaged_members(originals):
    return from_seeds(damage_member, originals)


TAGS = ["array", "scalar", "float", "tuple", "dict", "object", "attributes", "sparse", "parts", "shape", "dtype"]
TAGS += ["words", "objects", "range", "random_state"]
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["NMF", "csr_array"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(TAGS),
            inner,
            max_size=3,
        )
    ),
    max_leaves=6,
)


@st.composite
def damaged_descriptions(draw, originals):
    """An npz whose arrays are right and whose description has something else in a few places."""
    (FOLDER / "original.npz").write_bytes(draw(st.sampled_from(originals)))
    arrays = read_arrays(FOLDER / "original.npz", "arrays")
    header = from_text(arrays["header"])
    for _ in range(draw(st.integers(1, 3))):
        place, key = None, None
        inside = header
        for _ in range(draw(st.integers(1, 9))):
            if not isinstance(inside, dict | list) or not inside:
                break
            place, key = (
                inside,
                draw(st.sampled_from(sorted(inside) if isinstance(inside, dict) else range(len(inside)))),
            )
            inside = place[key]
        if place is not None:
            place[key] = draw(JSON | st.sampled_from([{"array": name} for name in sorted(arrays)]))
    write_arrays(FOLDER / "changed.npz", {**arrays, "header": as_text(header)})
    return (FOLDER / "changed.npz").read_bytes()


@st.composite
def graphs(draw):
    """Sparse matrices as an adversary would build them."""
    n = draw(st.integers(0, 5))
    numbers = st.lists(st.integers(-3, 9), max_size=8)
    dtype = draw(st.sampled_from([np.int32, np.int64]))
    data = np.array(draw(st.lists(st.sampled_from([0.0, 1.0, 2.5, -1.0, np.nan, np.inf, 1e308]), max_size=8)))
    indices, indptr = (np.array(draw(numbers), dtype) for _ in range(2))
    matrix = draw(st.sampled_from([sp.csr_array, sp.csc_array, sp.csr_matrix]))((n, n))
    if draw(st.booleans()):
        matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
        return matrix, n
    return draw(st.sampled_from([data, indices, np.tile(data, (len(data), 1)), np.eye(n), data.tolist()])), n


# --- targets ----------------------------------------------------------------------------------------------------------


def reads(content, suffix):
    """`partwise.files.read` gives a data set or a ReadError."""
    EXECUTIONS[f"read {suffix}"] += 1
    path = FOLDER / f"input{suffix}"
    path.write_bytes(content)
    with contextlib.suppress(ReadError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = read(path)
        assert data.X.ndim == 2
        assert data.y.shape == (data.X.shape[0],)
        assert data.y.max(initial=-1) < max(len(data.class_names), 1)


def loads(content):
    """`partwise.load` gives a model or a ReadError; whatever the model does, it does not crash."""
    EXECUTIONS["load a model"] += 1
    path = FOLDER / "input-model.npz"
    path.write_bytes(content)
    try:
        model = load(path)
    except ReadError:
        return
    with contextlib.suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.transform(X[:2])
        model.predict(SPARSE[:2])


def resumes(content):
    """A checkpoint is read or a ReadError; a fit given it resumes or ends with an error, and does not crash."""
    EXECUTIONS["read a checkpoint"] += 1
    path = FOLDER / "input-fit.npz"
    path.write_bytes(content)
    try:
        read_checkpoint(path)
    except ReadError:
        return
    with contextlib.suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        NMF(2, tol=0, max_iter=4, random_state=0, callbacks=Checkpoint(path, every=1)).fit(X)


def applies(content, suffix):
    """`partwise apply` codes a file or says in one line why not."""
    EXECUTIONS["partwise apply"] += 1
    path = FOLDER / f"cli{suffix}"
    path.write_bytes(content)
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        code = main(["apply", str(FOLDER / "model.npz"), str(path), "--output", str(FOLDER / "codes.csv")])
    assert code in (0, 2)
    assert said.getvalue().count("\n") == (0 if code == 0 else 1)


def builds(case):
    """`check_graph` gives a valid graph or a ValueError."""
    EXECUTIONS["check a graph"] += 1
    graph, n = case
    try:
        edges = check_graph(graph, n)
    except ValueError:
        return
    assert (edges != edges.T).nnz == 0
    assert (edges.data > 0).all()
    assert np.isfinite(edges.data).all()
    assert not edges.diagonal().any()


TARGETS = {
    **{
        f"read {suffix}": (lambda content, suffix=suffix: reads(content, suffix), damaged(SEEDS[suffix]))
        for suffix in (".npz", ".npy", ".mat", ".mtx", ".csv")
    },
    "read members of .npz": (lambda content: reads(content, ".npz"), damaged_members(SEEDS[".npz"])),
    "load": (loads, damaged(SEEDS["model"]) | damaged_members(SEEDS["model"])),
    "load descriptions": (loads, damaged_descriptions(SEEDS["model"])),
    "resume": (resumes, damaged(SEEDS["checkpoint"]) | damaged_members(SEEDS["checkpoint"])),
    "resume descriptions": (resumes, damaged_descriptions(SEEDS["checkpoint"])),
    "apply": (lambda content: applies(content, ".csv"), damaged(SEEDS[".csv"])),
    "graphs": (builds, graphs()),
}

"""I. Files from anywhere, and what is written of them: cases that concern no estimator."""

import contextlib
import csv
import io
import os
import pickle
import tarfile
import zipfile
from html.parser import HTMLParser
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
from case import Answered, Case, Refused, X
from scipy.io import savemat

import partwise
from partwise import datasets
from partwise.cli import main
from partwise.datasets import CATALOGUE, DataSetError, catalogue, remote
from partwise.files import read
from partwise.files.archive import ReadError

IMAGE = '"><img src=x onerror=alert(1)>'
SCRIPT = "</script><script>alert(2)</script>"
FORMULAS = ("=cmd|'/c calc'!A0", "+1+1", "-2", "@SUM(A1)", " =1", "\t=1", "x\r=1", "＝1")
# What evaluating it would leave behind.
RAN = []


class Bomb:
    def __reduce__(self):
        return RAN.append, (1,)


def member(value):
    stream = io.BytesIO()
    np.save(stream, value)
    return stream.getvalue()


def header(shape, dtype="<f8"):
    """An array's header without the array."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"shape": shape, "fortran_order": False, "descr": dtype})
    return stream.getvalue()


def zipped(**members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return stream.getvalue()


def packed(name, link=None):
    """A tar archive with one member of any name, or a link that leads anywhere."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as file:
        entry = tarfile.TarInfo(name)
        if link is not None:
            entry.type, entry.linkname = tarfile.SYMTYPE, link
            file.addfile(entry)
        else:
            entry.size = 1
            file.addfile(entry, io.BytesIO(b"x"))
    return stream.getvalue()


def objects():
    array = np.empty(1, object)
    array[0] = Bomb()
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


def matlab():
    stream = io.BytesIO()
    savemat(stream, {"X": X})
    return stream.getvalue()


MARKET = b"%%MatrixMarket matrix coordinate real general\n9 9 2\n1 1 1.0\n2 2"
NOISE = np.random.RandomState(0).bytes(3000)
FILES = {
    "npz with a pickled object": ("a.npz", zipped(**{"X.npy": objects()})),
    "npy with a pickled object": ("a.npy", objects()),
    "a pickle under the name of an npz": ("a.npz", pickle.dumps(Bomb())),
    "npy that declares 8 TB": ("a.npy", header((2**20, 2**20)) + b"x" * 100),
    "npz that declares 8 TB": ("a.npz", zipped(**{"X.npy": header((2**20, 2**20))})),
    "npy that declares a negative size": ("a.npy", header((-1, 3))),
    "npz member ../X.npy": ("a.npz", zipped(**{"../X.npy": member(X)})),
    "npz member with an absolute name": ("a.npz", zipped(**{"/escaped.npy": member(X)})),
    "npz member that is not an array": ("a.npz", zipped(**{"X.npy": member(X), "run.py": b"boom"})),
    "tar member ../escaped, as npz": ("a.npz", packed("../escaped")),
    "tar member ../escaped": ("a.tar", packed("../escaped")),
    "tar with a link outside": ("a.tar", packed("escaped", "/etc/passwd")),
    "MATLAB file, cut": ("a.mat", matlab()[:200]),
    "Matrix Market file, cut": ("a.mtx", MARKET),
    "safetensors": ("a.safetensors", b"\x08\x00\x00\x00\x00\x00\x00\x00{}      "),
    **{f"no bytes, {kind}": (f"a.{kind}", b"") for kind in ("npz", "npy", "mat", "mtx", "csv")},
    **{f"random bytes, {kind}": (f"a.{kind}", NOISE) for kind in ("npz", "npy", "mat", "mtx", "csv")},
    **{f"cut in half, {kind}": (f"a.{kind}", content[: len(content) // 2])
       for kind, content in {"npz": zipped(**{"X.npy": member(X)}), "npy": member(X)}.items()},
}  # fmt: skip


def reading(name, content, reader=read):
    """Nothing is run, and nothing is written beside the file or outside its folder."""

    def act(folder):
        inside = folder / "inside"
        inside.mkdir()
        (inside / name).write_bytes(content)
        try:
            reader(inside / name)
        finally:
            assert not RAN
            assert [path.name for path in folder.rglob("*")] == ["inside", name]
            assert not os.path.exists("/escaped.npy")

    return act


def bomb(folder):
    """64 MB of zeros in 64 kB."""
    path = folder / "bomb.npz"
    np.savez_compressed(path, X=np.zeros((2**13, 2**10)))
    with patch("partwise.files.archive.MOST_BYTES", 2**20):
        read(path)


def link_out_of_a_folder(folder):
    (folder / "secret.txt").write_text("words that nobody asked for")
    (folder / "data").mkdir()
    (folder / "data" / "a.txt").symlink_to(folder / "secret.txt")
    read(folder / "data")


def pipe(folder):
    os.mkfifo(folder / "a.npz")
    read(folder / "a.npz")


# --- downloads --------------------------------------------------------------------------------------------------------


def downloading(content, **changes):
    """A download that holds this; afterwards neither it nor a data set is in the cache."""

    def act(folder):
        (folder / "a.mat").write_bytes(content)
        retrieve = SimpleNamespace(retrieve=lambda *_, **__: str(folder / "a.mat"))
        entry = catalogue.Entry("small", "", X.shape, 3, catalogue.Matlab("a/b", "c0ffee", "a.mat"), "", **changes)
        with (
            patch.dict("sys.modules", pooch=retrieve),
            patch.dict(os.environ, XDG_CACHE_HOME=str(folder)),
            patch.dict(CATALOGUE, small=entry),
        ):
            try:
                remote.fetch(entry)
            finally:
                assert not [path for path in folder.rglob("*") if path.is_file()]

    return act


def labelled():
    stream = io.BytesIO()
    savemat(stream, {"X": X, "Y": np.arange(len(X)) % 3})
    return stream.getvalue()


DOWNLOADS = {
    "download with another checksum": (downloading(labelled(), digest="0" * 64), "no longer holds the expected"),
    "download that is not a MATLAB file": (downloading(NOISE), "the download failed"),
    "download without labels": (downloading(matlab()), "the download failed"),
    "download that is cut": (downloading(labelled()[:-100]), "the download failed"),
}
NAMES = ("../../x", "/etc/passwd", "", "x\0y", "digits/../digits", "C:\\x")


def by_name(name):
    def act(folder):
        with patch("partwise.datasets.files.find", side_effect=AssertionError("it was looked for")):
            datasets.load(name, folder)

    return act


# --- pages and tables -------------------------------------------------------------------------------------------------


class Reader(HTMLParser):
    """Everything of a page that a browser would act on."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes

    def handle_data(self, data):
        self.text.append(data)


def on_the_command_line(*arguments):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
        assert main([str(argument) for argument in arguments]) == 0, said.getvalue()


def hostile_names(folder):
    """Classes, features and the file itself have names that are markup: they are shown, and do nothing."""
    source, page = folder / "<img src=x onerror=alert(3)>.npz", folder / "page.html"
    names = np.array([IMAGE, SCRIPT, "' onload='alert(4)"])
    np.savez(source, X=np.tile(X, (2, 1)), y=np.arange(30) % 15 // 5, classes=names, terms=names.repeat(3))
    on_the_command_line("compare", source, "--output", page)
    reader = Reader()
    reader.feed(page.read_text("utf-8"))
    assert reader.tags.count("script") == 1
    assert not [name for name, _ in reader.attributes if name.startswith("on")]
    assert not [value for name, value in reader.attributes if name == "src" and not value.startswith("data:image/png")]
    shown = "".join(reader.text) + "".join(value or "" for _, value in reader.attributes)
    assert all(name in shown for name in (*names, "<img src=x onerror=alert(3)>"))


def formulas(folder):
    """Names of classes that a spreadsheet would evaluate get an apostrophe."""
    np.savez(folder / "a.npz", X=X[:8], y=np.array(FORMULAS))
    model, codes = folder / "model.npz", folder / "codes.csv"
    on_the_command_line("fit", "NMF", folder / "a.npz", "--components", 2, "--set", "max_iter=2", "--output", model)
    on_the_command_line("apply", model, folder / "a.npz", "--output", codes)
    with open(codes, newline="", encoding="utf-8") as file:
        cells = [row[1] for row in csv.reader(file)][1:]
    assert cells == [name.replace("\r", " ") if name[0] == "x" else f"'{name}" for name in FORMULAS]


UNREADABLE = Refused(ReadError, "cannot be read")
CASES = [
    *(Case("I", name, act=reading(*file), expected=UNREADABLE, alone=True) for name, file in FILES.items()),
    *(
        Case("I", f"model: {name}", act=reading(*FILES[name], partwise.load), expected=UNREADABLE, alone=True)
        for name in list(FILES)[:11]
    ),
    Case("I", "zip bomb", act=bomb, expected=Refused(ReadError, "declares"), alone=True),
    Case("I", "link out of a folder", act=link_out_of_a_folder, expected=UNREADABLE, alone=True),
    Case("I", "pipe in a file's place", act=pipe, expected=Refused(ReadError, "not an ordinary file"), alone=True),
    *(
        Case("I", name, act=act, expected=Refused(DataSetError, text), alone=True)
        for name, (act, text) in DOWNLOADS.items()
    ),
    *(
        Case("I", f"data set {name!r}", act=by_name(name), expected=Refused(ValueError, "There is no"), alone=True)
        for name in NAMES
    ),
    Case("I", "names that are markup, in a page", act=hostile_names, expected=Answered(says="escaped"), alone=True),
    Case("I", "names that are formulas, in a table", act=formulas, expected=Answered(says="disarmed"), alone=True),
]

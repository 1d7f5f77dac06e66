"""The papers' data sets: what they are, who may use them, and where they come from. A new one is a line here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

RESEARCH = "research use only; ask the owners for anything else"


@dataclass(frozen=True)
class Matlab:
    """A Matlab file in a public repository, pinned to a commit.

    Attributes
    ----------
    repository, commit, path : str
    samples, labels : str
        Names of the variables inside.
    """

    repository: str
    commit: str
    path: str
    samples: str = "X"
    labels: str = "Y"

    @property
    def address(self) -> str:
        """Where the file is."""
        return f"https://raw.githubusercontent.com/{self.repository}/{self.commit}/{self.path}"

    def __str__(self) -> str:
        return f"{self.repository} @ {self.commit}, {self.path}"


@dataclass(frozen=True)
class Fetcher:
    """A data set that scikit-learn fetches.

    Attributes
    ----------
    function : {"fetch_olivetti_faces", "fetch_openml"}
    name : str
        Of the set at OpenML.
    last : int, optional
        Only this many samples, from the end.
    """

    function: Literal["fetch_olivetti_faces", "fetch_openml"]
    name: str = ""
    last: int | None = None

    def __str__(self) -> str:
        return f"scikit-learn's {self.function}({self.name!r})" if self.name else f"scikit-learn's {self.function}()"


@dataclass(frozen=True)
class Manual:
    """A data set that the user has to provide, and how to make it."""

    how: str

    def __str__(self) -> str:
        return self.how


@dataclass(frozen=True)
class Entry:
    """A known data set.

    Attributes
    ----------
    name : str
    what : str
        In a few words.
    shape : tuple of (int, int)
        Samples × features.
    classes : int
    image_shape : tuple of (int, int), optional
    source : Matlab, Fetcher or Manual
    licence, citation : str
    digest : str, optional
        Checksum of the numbers (`files.content_digest`), verified after a download.
    """

    name: str
    what: str
    shape: tuple[int, int]
    classes: int
    source: Matlab | Fetcher | Manual
    citation: str
    licence: str = RESEARCH
    image_shape: tuple[int, int] | None = None
    digest: str | None = None


_FEATURE = ("jundongl/scikit-feature", "48cffad4")
_CAI = "D. Cai, X. He & J. Han, Document clustering using locality preserving indexing, IEEE TKDE 17, 2005."
_ORL = "F. Samaria & A. Harter, Parameterisation of a stochastic model for human face identification, WACV 1994."
_BELHUMEUR = "P. Belhumeur, J. Hespanha & D. Kriegman, Eigenfaces vs. Fisherfaces, IEEE PAMI 19, 1997."
_WEBACE = "E.-H. Han et al., WebACE: a web agent for document categorization and exploration, Agents 1998."
_WEBKB = "M. Craven et al., Learning to extract symbolic knowledge from the World Wide Web, AAAI 1998."
_NEWS = "K. Lang, NewsWeeder: learning to filter netnews, ICML 1995."
_TOP = "the 1,000 terms of highest mutual information with the class"


def _text(source: str) -> Manual:
    return Manual(f"make it from {source}")


_ENTRIES = [
    Entry(
        "coil20",
        "20 objects, turned",
        (1440, 1024),
        20,
        Matlab(*_FEATURE, "skfeature/data/COIL20.mat"),
        "S. Nene, S. Nayar & H. Murase, Columbia Object Image Library (COIL-20), CUCS-005-96, 1996.",
        image_shape=(32, 32),
        digest="f890cf75c3597ef80028cd0b786643db45ff7ab120fa5152eb1075f22ab8a934",
    ),
    Entry(
        "coil100",
        "100 objects, turned, in grey",
        (7200, 1024),
        100,
        Manual("make it from the 128 × 128 colour images of Columbia University: grey, means of 4 × 4 pixels"),
        "S. Nene, S. Nayar & H. Murase, Columbia Object Image Library (COIL-100), CUCS-006-96, 1996.",
        image_shape=(32, 32),
        digest="e5255b548775f888be1fa6548819ad434d62b337b8af5c1ceda14b5f3c5d5fa1",
    ),
    Entry(
        "orl32",
        "AT&T (ORL) faces, 32 × 32",
        (400, 1024),
        40,
        Matlab(*_FEATURE, "skfeature/data/ORL.mat"),
        _ORL,
        image_shape=(32, 32),
        digest="88b9b5de96f75182f8ad7b19d540577bad049e94dea1cff6acf670ec4f58273a",
    ),
    Entry(
        "orl64",
        "AT&T (ORL) faces, 64 × 64",
        (400, 4096),
        40,
        Fetcher("fetch_olivetti_faces"),
        _ORL,
        image_shape=(64, 64),
    ),
    Entry(
        "yale32",
        "Yale faces",
        (165, 1024),
        15,
        Matlab(*_FEATURE, "skfeature/data/Yale.mat"),
        _BELHUMEUR,
        image_shape=(32, 32),
        digest="388365dbeab147bc1dcd7c264969dcdc268341898946d2cc76bc8c8a5f48b8df",
    ),
    Entry(
        "pix",
        "faces of 10 people (PIX, pixraw10P)",
        (100, 10000),
        10,
        Matlab(*_FEATURE, "skfeature/data/pixraw10P.mat"),
        "D. Hond & L. Spacek, Distinctive descriptions for face processing, BMVC 1997.",
        image_shape=(100, 100),
        digest="738aff6c65d1c2fc15bd58ac48ff85eea2be52575ed3d1e3182c0e390c944734",
    ),
    Entry(
        "mnist10k",
        "handwritten digits, the test part of MNIST",
        (10000, 784),
        10,
        Fetcher("fetch_openml", "mnist_784", 10000),
        "Y. LeCun, L. Bottou, Y. Bengio & P. Haffner, Gradient-based learning applied to document recognition, 1998.",
        licence="CC BY-SA 3.0",
        image_shape=(28, 28),
    ),
    Entry(
        "semeion",
        "handwritten digits, black and white",
        (1593, 256),
        10,
        Fetcher("fetch_openml", "semeion"),
        "Semeion Research Center, Semeion Handwritten Digit, UCI, 1994.",
        licence="CC BY 4.0",
        image_shape=(16, 16),
    ),
    Entry(
        "tdt2",
        "news, the 30 largest topics of TDT2",
        (9394, 36771),
        30,
        Matlab("hiroyuki-kasai/NMFLibrary", "ed44132d", "data/TDT2.mat", "fea", "gnd"),
        _CAI,
        licence="term counts only; the texts belong to the Linguistic Data Consortium (LDC2001T57)",
        digest="4c6a7e27e589eae15a9ea3a5b1abb08470430a1d9744af82764224cbb92ea55e",
    ),
    Entry(
        "reuters",
        "news, the 30 largest categories of Reuters-21578",
        (8067, 18933),
        30,
        _text("Deng Cai's Reuters21578.mat: documents of the categories 1 to 30"),
        _CAI,
    ),
    Entry(
        "cstr",
        "abstracts of technical reports, 4 areas",
        (475, 1000),
        4,
        _text("franrole/cclust_package @ d301cf8d, datasets/cstr.mat"),
        "C. Ding, T. Li, W. Peng & H. Park, Orthogonal nonnegative matrix tri-factorizations for clustering, KDD 2006.",
    ),
    Entry(
        "webace",
        "news, 20 classes (k1a)",
        (2340, 21839),
        20,
        _text("ntyaan/some-datasets @ ac28270c, CLUTO's k1a"),
        _WEBACE,
    ),
    Entry("webace_1000", f"webace, {_TOP}", (2340, 1000), 20, _text("webace"), _WEBACE),
    Entry(
        "webkb4",
        "web pages of universities, 4 classes",
        (4199, 7770),
        4,
        _text("johnsonj561/LibSVM-Text-Classification @ a014ba51, data/webkb-*-stemmed.txt"),
        _WEBKB,
    ),
    Entry("webkb4_1000", f"webkb4, {_TOP}", (4199, 1000), 4, _text("webkb4"), _WEBKB),
    Entry(
        "newsgroup4",
        "20 newsgroups, the four groups rec.*",
        (3978, 18555),
        4,
        _text("scikit-learn's fetch_20newsgroups"),
        _NEWS,
    ),
    Entry("newsgroup4_1000", f"newsgroup4, {_TOP}", (3978, 1000), 4, _text("newsgroup4"), _NEWS),
    Entry(
        "jaffe",
        "Japanese female facial expressions, 10 people",
        (213, 676),
        10,
        Manual("ask for it at zenodo.org/records/3451524 and scale the faces to 26 × 26 pixels"),
        "M. Lyons, S. Akamatsu, M. Kamachi & J. Gyoba, Coding facial expressions with Gabor wavelets, 1998.",
        image_shape=(26, 26),
    ),
    Entry(
        "pie",
        "CMU PIE faces, 68 people, 21 images of each",
        (1428, 1024),
        68,
        Manual("ask Carnegie Mellon University for it and scale the faces to 32 × 32 pixels"),
        "T. Sim, S. Baker & M. Bsat, The CMU pose, illumination, and expression database, IEEE PAMI 25, 2003.",
        image_shape=(32, 32),
    ),
]
CATALOGUE: dict[str, Entry] = {entry.name: entry for entry in _ENTRIES}

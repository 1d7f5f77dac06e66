"""Alternative readings of the papers, beside those that the protocols follow: the numbers in ``findings.md``.

Those of the LLNMF paper's start and labels are in ``readings_llnmf.py``, those of the CNMF paper's graphs in
``readings_cnmf.py``.

python -m docs.reproduction.readings
"""

import warnings
from dataclasses import replace

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import normalize

from partwise import NMF, LocalCoordinateNMF, datasets
from partwise.experiments import load_protocol
from partwise.experiments.paper_starts import STARTS
from partwise.experiments.plan import Place, Plan
from partwise.experiments.preparation import draw_classes, occurrence, prepare, seed, tf_idf
from partwise.experiments.runs import execute
from partwise.metrics import clustering_accuracy, normalized_mutual_information


def draws(paper, dataset, k, count, steps=None):
    """The samples of the first draws of a protocol."""
    protocol = load_protocol(paper)
    plan = protocol.datasets[dataset]
    sample = prepare(plan, plan.prepare if steps is None else steps)
    for draw in range(count):
        yield draw_classes(sample, k, seed(protocol.paper, dataset, k, draw, "classes")), draw


def scale_on_pix():
    """RLS-NMF paper, NMF on PIX with 6 classes: samples as they are and at unit length."""
    protocol = load_protocol("rls-nmf")
    for steps in (("unit maximum",), ("unit norm", "unit maximum")):
        data = replace(protocol.datasets["PIX"], prepare=steps)
        plan = Plan(replace(protocol, datasets={**protocol.datasets, "PIX": data}))
        method = protocol.methods["NMF"]
        runs = [plan.run(Place("PIX", 6), method, method.settings("PIX")[0], draw) for draw in range(10)]
        print(f"NMF on PIX, {' and '.join(steps)}: accuracy {np.mean([execute(run)['accuracy'] for run in runs]):.1f}")


def start_of_nlcf():
    """NLCF paper, Yale with 7 and 15 classes: objective and accuracy from uniform numbers and from samples."""
    for k in (7, 15):
        for start in ("random", "samples"):
            found = []
            for sample, draw in draws("nlcf", "Yale", k, 10):
                init = start if start == "random" else STARTS[start](sample.X, k, draw)
                model = LocalCoordinateNMF(k, coordinate_strength=0.3, solver="coordinate", max_iter=200, init=init)
                labels = model.set_params(assign="argmax", random_state=draw).fit(sample.X).labels_
                found.append((model.objective_ / 1e6, 100 * clustering_accuracy(sample.y, labels)))
            (objective, accuracy), deviation = np.mean(found, axis=0), np.std(found, axis=0)[1]
            print(
                f"NLCF, Yale, {k}, {start}: objective {objective:.1f}e6, accuracy {accuracy:.1f}, std {deviation:.1f}"
            )


def subspace_of_lsi():
    """GNMF paper, LSI + k-means on Reuters with 6 classes: ways to see the singular vectors."""
    ways = {
        "codes": lambda codes: codes,
        "codes at unit length": normalize,
        "left singular vectors": lambda codes: codes / np.linalg.norm(codes, axis=0),
    }
    for steps in (("tf-idf", "unit norm"), ("tf-idf",)):
        found = {way: [] for way in ways}
        for sample, draw in draws("gnmf", "Reuters", 6, 20, steps):
            codes = TruncatedSVD(6, random_state=0).fit_transform(sample.X)
            for way, see in ways.items():
                labels = KMeans(6, n_init=10, random_state=draw).fit(see(codes)).labels_
                scores = clustering_accuracy(sample.y, labels), normalized_mutual_information(sample.y, labels)
                found[way].append(scores)
        for way, scores in found.items():
            accuracy, nmi = 100 * np.mean(scores, axis=0)
            print(f"LSI on Reuters, {' and '.join(steps)}, {way}: accuracy {accuracy:.1f}, NMI {nmi:.1f}")


def terms_of_llnmf():
    """LLNMF paper, k-means and NMF on the texts, at unit length: what an entry of a document says."""
    ways = {
        "counts": lambda counts: counts,
        "logarithms": lambda counts: _entries(counts, 1 + np.log(counts.data)),
        "occurrence": occurrence,
        "logarithms and idf": tf_idf,
        "occurrence and idf": lambda counts: tf_idf(occurrence(counts)),
    }
    for name in ("CSTR", "WebACE", "WebKB4"):
        sample = prepare(load_protocol("llnmf").datasets[name], ())
        k = int(sample.y.max()) + 1
        for way, weigh in ways.items():
            X = normalize(weigh(sample.X))
            kmeans = [KMeans(k, n_init=1, init="random", random_state=start).fit(X).labels_ for start in range(8)]
            nmf = NMF(k, solver="multiplicative", init="random", max_iter=200, tol=0, assign="argmax", scale=None)
            largest = [nmf.set_params(random_state=start).fit(X).labels_ for start in range(4)]
            print(f"{name}, {way}: k-means {_scores(sample.y, *kmeans)}, NMF {_scores(sample.y, *largest)}")


def selection_of_llnmf():
    """LLNMF paper, k-means on the texts at unit length: which 1,000 of the terms, by classes or without them."""
    for name in ("webkb4", "newsgroup4", "webace"):
        whole, y = datasets.load(name).X, datasets.load(name).y
        k = int(y.max()) + 1
        worth = {
            "in most documents": np.bincount(whole.indices, minlength=whole.shape[1]),
            "most frequent": np.asarray(whole.sum(axis=0)).ravel(),
            "of the largest weight": np.asarray(normalize(tf_idf(whole)).power(2).sum(axis=0)).ravel(),
        }
        chosen = {way: whole[:, np.sort(np.argsort(-worth[way], kind="stable")[:1000])] for way in worth}
        for way, counts in {"by mutual information": datasets.load(f"{name}_1000").X, **chosen}.items():
            for title, weigh in {"occurrence": occurrence, "logarithms": lambda counts: counts}.items():
                X = normalize(tf_idf(weigh(counts)))
                kmeans = [KMeans(k, n_init=1, init="random", random_state=start).fit(X).labels_ for start in range(6)]
                print(f"{name}, terms {way}, {title} and idf: k-means {_scores(y, *kmeans)}")


def _entries(counts, values):
    weighed = counts.copy()
    weighed.data = values
    return weighed


def _scores(y, *labellings):
    """Mean accuracy / NMI, in per cent."""
    scores = [
        (clustering_accuracy(y, labels), normalized_mutual_information(y, labels, average="sqrt"))
        for labels in labellings
    ]
    return "{:.1f} / {:.1f}".format(*100 * np.mean(scores, axis=0))


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scale_on_pix()
        start_of_nlcf()
        subspace_of_lsi()
        terms_of_llnmf()
        selection_of_llnmf()

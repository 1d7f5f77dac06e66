"""`partwise compare` on files and folders of users."""

import pickle
import re

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from partwise.cli import main


@pytest.fixture(autouse=True)
def here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


def data(n=30):
    """Three groups of samples over twelve features."""
    y = np.arange(n) % 3
    return np.random.RandomState(0).uniform(size=(n, 12)) + 3 * np.repeat(np.eye(3), 4, axis=1)[y], y


def write_csv(path, X, y=None, names=None):
    head = [*(names or [f"f{j}" for j in range(X.shape[1])]), *(["label"] if y is not None else [])]
    rows = [[*map(str, x), *([f"class {y[i]}"] if y is not None else [])] for i, x in enumerate(X.tolist())]
    path.write_text("\n".join(",".join(row) for row in [head, *rows]))


def test_a_table_with_labels(capsys, tmp_path):
    X, y = data()
    write_csv(tmp_path / "mine.csv", X, y, ["<b>bold</b>", *(f"f{j}" for j in range(11))])
    assert main(["compare", "mine.csv"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[-1] == "report written to partwise-mine.html"
    text = (tmp_path / "partwise-mine.html").read_text("utf-8")
    assert "&lt;b&gt;bold&lt;/b&gt;" in text
    assert "<b>bold" not in text
    assert "class 2" in text
    assert "accuracy" in text


def test_without_labels_scores_say_how_clusters_sit_in_the_data(capsys, tmp_path):
    np.save("mine.npy", data()[0])
    assert main(["compare", "mine.npy", "--components", "3"]) == 0
    out = capsys.readouterr().out
    head = next(line for line in out.splitlines() if line.startswith("method"))
    assert head.split() == ["method", "connectedness", "modularity", "information", "silhouette", "time"]
    assert "no labels, so ConstrainedNMF is left out" in out
    assert "ConstrainedNMF: " not in out
    text = (tmp_path / "partwise-mine.html").read_text("utf-8")
    assert "The data have no labels, so scores say how well the clusters fit the data" in text
    assert "Without labels: " in text
    assert 'id="confusion"' not in text
    assert 'id="map"' in text


def test_texts_and_partly_known_labels(capsys, tmp_path):
    words = ["apple pear plum", "wheel road car", "cloud rain wind"]
    for i in range(24):
        folder = tmp_path / "texts" / f"topic {i % 3}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{i}.txt").write_text(f"{words[i % 3]} {words[i % 3].split()[i % 2]} thing{i % 5}")
    assert main(["compare", "texts", "--output", "texts.html"]) == 0
    text = (tmp_path / "texts.html").read_text("utf-8")
    assert "Counts weighted by tf-idf" in text
    assert all(word in text for word in ("apple", "wheel", "cloud"))
    X, y = data()
    np.savez("partly.npz", X=X, y=np.where(np.arange(30) < 6, -1, y))
    assert main(["compare", "partly.npz"]) == 0
    capsys.readouterr()


def test_the_data_choose_the_number_of_components(capsys):
    np.save("mine.npy", data(60)[0])
    assert main(["compare", "mine.npy", "--components", "auto", "--output", "a.html"]) == 0
    out = capsys.readouterr().out
    k = re.search(r"^number of components: (\d+), as NMF chooses it$", out, re.MULTILINE)[1]
    assert f"{k} components, no labels" in out


def test_classes_too_small_for_labels_leave_constrained_nmf_out(capsys):
    X, y = data()
    y[0] = 3
    np.savez("mine.npz", X=X, y=y)
    assert main(["compare", "mine.npz", "--output", "a.html"]) == 0
    assert "no labels, so ConstrainedNMF is left out" in capsys.readouterr().out


def hostile(tmp_path):
    """Files that cannot be compared."""
    X, y = data()
    (tmp_path / "garbage.npz").write_bytes(b"PK\x03\x04 nothing of the kind")
    np.save("pickled.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    (tmp_path / "pickle.npy").write_bytes(pickle.dumps([1, 2]))
    (tmp_path / "words.csv").write_text("a,b\n1,2\n3,four\n")
    np.savez("short.npz", X=X, y=y[:-1])
    np.save("negative.npy", X - 2)
    np.save("zeros.npy", np.zeros((9, 3)))
    np.savez("holes.npz", X=np.where(X > 3.5, np.nan, X), y=y)
    np.save("unlabelled.npy", X)
    np.savez("table.npz", X=X, y=y)
    np.savez("few.npz", X=X[:4], y=[0, 0, 1, 1])
    scipy.io.mmwrite("negative.mtx", sp.csr_array(X - 2))
    (tmp_path / "page.txt").write_text("text")
    (tmp_path / "gone.csv").symlink_to("nowhere.csv")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nothing.csv"], "there is no data set 'nothing.csv'"),
        (["garbage.npz"], "garbage.npz cannot be read"),
        (["pickled.npy"], "pickled.npy cannot be read"),
        (["pickle.npy"], "pickle.npy cannot be read"),
        (["words.csv"], "words.csv cannot be read"),
        (["short.npz"], "it has 29 labels for 30 samples"),
        (["negative.npy", "--components", "2"], "negative.npy has negative entries"),
        (["negative.mtx", "--components", "2"], "negative.mtx has negative entries"),
        (["zeros.npy", "--components", "2"], "zeros.npy has only zeros"),
        (["holes.npz"], "holes.npz has missing or infinite entries"),
        (["unlabelled.npy"], "--components K"),
        (["unlabelled.npy", "--components", "2", "--labels-per-class", "2"], "smallest class of unlabelled has 0"),
        (["table.npz", "--output", "table.png"], "holds no images"),
        (["table.npz", "--label-column", "y"], "only tables have a column 'y'"),
        (["page.txt"], "page.txt cannot be read"),
        (["gone.csv"], "gone.csv cannot be read"),
    ],
)
def test_bad_input_is_one_sentence(capsys, tmp_path, arguments, sentence):
    hostile(tmp_path)
    before = sorted(tmp_path.iterdir())
    assert main(["compare", *arguments]) == 2 if sentence[:8] != "there is" else _leaves(arguments)
    out, err = capsys.readouterr()
    assert out == ""
    assert sentence in err
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert sorted(tmp_path.iterdir()) == before


def _leaves(arguments):
    with pytest.raises(SystemExit) as leaving:
        main(["compare", *arguments])
    return leaving.value.code == 2


def test_what_a_method_cannot_do_is_one_sentence(capsys, tmp_path):
    hostile(tmp_path)
    assert main(["compare", "few.npz"]) in (0, 2)
    err = capsys.readouterr().err
    assert err == "" or (err.startswith("partwise compare: GraphNMF: ") and err.count("\n") == 1)


def test_unknown_methods_are_one_sentence(capsys):
    np.save("x.npy", data()[0])
    with pytest.raises(SystemExit) as leaving:
        main(["fit", "FrobNMF", "x.npy", "--output", "model.npz"])
    assert leaving.value.code == 2
    err = capsys.readouterr().err
    assert "FrobNMF" in err
    assert err.count("\n") == 1

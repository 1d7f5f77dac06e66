"""`partwise fit` and `partwise apply`: models from files, codes of files."""

import csv
import signal
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_digits

from partwise import NMF, load
from partwise.cli import main
from partwise.cli.apply import safe_cells
from partwise.cli.fit import methods

X, Y = (part[:120] for part in load_digits(return_X_y=True))


@pytest.fixture(autouse=True)
def here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    np.savez("digits.npz", X=X, y=Y)
    return tmp_path


def run(capsys, *arguments):
    """Exit code, standard output and standard error."""
    try:
        code = main(arguments)
    except SystemExit as leaving:
        code = leaving.code
    return (code, *capsys.readouterr())


def table(path):
    with open(path, newline="", encoding="utf-8") as stream:
        return list(csv.reader(stream))


def test_fit_then_apply(capsys):
    code, out, err = run(
        capsys, "fit", "NMF", "digits.npz", "--components", "4", "--set", "max_iter=20", "--set", "tol=0",
        "--set", "assign=argmax", "--output", "model.npz", "--seed", "5",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert "digits: 120 samples, 64 features, 10 classes" in out
    assert "NMF: 20 sweeps" in out
    assert out.splitlines()[-1] == "model written to model.npz"
    expected = NMF(4, max_iter=20, tol=0, assign="argmax", random_state=5).fit(X)
    np.testing.assert_array_equal(load("model.npz").components_, expected.components_)

    np.save("new.npy", X[:7])
    assert run(capsys, "apply", "model.npz", "new.npy", "--output", "codes.csv") == (
        0, "7 codes written to codes.csv\n", "",
    )  # fmt: skip
    header, *rows = table("codes.csv")
    assert header == ["sample", "class", "label", "code 0", "code 1", "code 2", "code 3"]
    np.testing.assert_array_equal(np.array([row[3:] for row in rows], float), expected.transform(X[:7]))
    assert [int(row[2]) for row in rows] == expected.predict(X[:7]).tolist()
    assert {row[1] for row in rows} == {""}
    run(capsys, "apply", "model.npz", "digits.npz", "--output", "codes.csv")
    assert [row[1] for row in table("codes.csv")[1:]] == [str(label) for label in Y]


def test_labels_of_the_file_are_used(capsys):
    assert run(capsys, "fit", "ConstrainedNMF", "digits.npz", "--components", "3", "--output", "m.npz")[0] == 0
    codes = load("m.npz").embedding_
    assert len(np.unique(codes, axis=0)) == 10


def test_labels_of_a_table_are_used(capsys, here):
    """Unlabelled samples have their own codes, however they are marked."""
    unknown = ["-1", "-1.0", "nan", "", "NaN", "-1"]
    labels = ["1", "1.0", "2", "2.0", *unknown]
    rows = [f"{i},{','.join(map(str, x[20:30]))},{label}" for i, (x, label) in enumerate(zip(X, labels, strict=False))]
    (here / "a.csv").write_text("\n".join([f",{','.join(f'f{j}' for j in range(10))},target", *rows]))
    code, out, err = run(capsys, "fit", "ConstrainedNMF", "a.csv", "--components", "2", "--output", "m.npz")
    assert (code, err) == (0, "")
    assert "a: 10 samples, 10 features, 2 classes, 6 samples without label" in out
    assert "note: column 'target' holds the classes" in out
    assert "note: the first column holds the names of the samples" in out
    codes = load("m.npz").embedding_
    np.testing.assert_array_equal(codes[0], codes[1])
    np.testing.assert_array_equal(codes[2], codes[3])
    assert len(np.unique(codes, axis=0)) == 2 + len(unknown)


def test_columns_of_a_table(capsys, here):
    (here / "a.csv").write_text("city,p,q,y\nRome,1,2,0.5\nRome,3,1,1.5\nOslo,2,2,2.5\nOslo,1,1,3.5\n")
    arguments = ["fit", "NMF", "a.csv", "--components", "1", "--output", "m.npz"]
    code, _, err = run(capsys, *arguments)
    assert (code, "--label-column none" in err) == (2, True)
    code, _, err = run(capsys, *arguments, "--label-column", "none")
    assert (code, "--label-column 'city'" in err, "--drop-column 'city'" in err) == (2, True, True)
    assert run(capsys, *arguments, "--label-column", "city", "--drop-column", "p")[0] == 0
    assert load("m.npz").feature_names_in_.tolist() == ["q", "y"]
    assert run(capsys, *arguments, "--label-column", "none", "--drop-column", "city", "--header", "yes")[0] == 0
    assert load("m.npz").feature_names_in_.tolist() == ["p", "q", "y"]


def test_auto_says_what_it_has_chosen(capsys):
    arguments = ["fit", "GraphNMF", "digits.npz", "--output", "m.npz"]
    code, out, err = run(capsys, *arguments, "--components", "auto", "--set", "graph_strength=1")
    assert (code, err) == (0, "")
    k = len(load("m.npz").components_)
    assert f"chosen: n_components = {k}, by connectedness and modularity, on 120 of 120 samples" in out
    code, out, _ = run(capsys, *arguments, "--components", "3", "--set", "graph_strength=auto")
    assert "chosen: graph_strength = " in out
    code, _, err = run(capsys, *arguments, "--components", "many")
    assert (code, "whole number, 1 or more, not 'many'" in err) == (2, True)


def test_notes_of_a_fit_are_shown(capsys):
    _, out, _ = run(capsys, "fit", "NMF", "digits.npz", "--set", "max_iter=2", "--output", "m.npz")
    assert "note: The fit has not converged" in out


def test_settings_are_data(capsys):
    settings = ["scale=None", "solver=multiplicative", "warm_start=true", "l1_codes=0.5", "max_iter=2"]
    arguments = [part for setting in settings for part in ("--set", setting)]
    assert run(capsys, "fit", "NMF", "digits.npz", "--output", "m.npz", *arguments)[0] == 0
    params = load("m.npz").get_params()
    assert (params["scale"], params["solver"], params["warm_start"], params["l1_codes"]) == (
        None, "multiplicative", True, 0.5,
    )  # fmt: skip


def test_texts_are_matched_by_words(capsys, here):
    for number, text in enumerate(["fox owl", "owl owl", "fox fox", "fox owl owl"]):
        (here / "a").mkdir(exist_ok=True)
        (here / "a" / f"{number}.txt").write_text(text)
    code, out, _ = run(capsys, "fit", "NMF", "a", "--components", "2", "--set", "max_iter=9", "--output", "m.npz")
    assert code == 0
    words = [line for line in out.splitlines() if line.startswith("component ")]
    assert sorted(line.split(": ")[1].split(", ")[0] for line in words) == ["fox", "owl"]
    (here / "new.csv").write_text("text\nzebra fox\n")
    assert run(capsys, "apply", "m.npz", "new.csv", "--output", "codes.csv")[0] == 0
    expected = load("m.npz")
    del expected.feature_names_in_
    assert [float(cell) for cell in table("codes.csv")[1][3:]] == expected.transform([[1.0, 0.0]])[0].tolist()


def test_topics_of_a_table_of_reviews(capsys, here):
    """What is counted, what is not used and which texts are empty is said; stop words are no topics."""
    texts = [
        "the red fox runs on",
        "an owl sleeps in the tree",
        "the fox and the red deer",
        "",
        "a tree for the owl",
    ] * 3
    rows = "".join(f'{i},"{text} {i}",{i % 5}\n' if text else f'{i},"",0\n' for i, text in enumerate(texts))
    (here / "reviews.csv").write_text("id,review,stars\n" + rows)
    fit = ["fit", "NMF", "reviews.csv", "--components", "2", "--set", "max_iter=9", "--output", "m.npz"]
    code, out, _ = run(capsys, *fit)
    assert code == 0
    assert "note: the words of column 'review' are counted; 'stars' is not used\n" in out
    assert "English stop words are not counted, such as the, " in out
    assert "note: 3 samples have no words that are counted (the first: 3)" in out
    topics = [line.split(": ")[1].split(", ") for line in out.splitlines() if line.startswith("component ")]
    assert not {"the", "an", "and", "on", "in"} & {word for words in topics for word in words}
    (here / "mine.txt").write_text("fox deer")
    own = run(capsys, *fit, "--stop-words", "mine.txt")[1]
    assert "2 stop words are not counted, such as fox, deer" in own
    assert "the" in run(capsys, *fit, "--stop-words", "none")[1].split("component 0: ")[1].split(", ")
    code, out, _ = run(capsys, "apply", "m.npz", "reviews.csv", "--text-column", "review", "--output", "codes.csv")
    assert code == 0
    assert "note: 3 samples have no words" in out


def test_tables_are_matched_by_columns(capsys, here):
    rows = "".join(f"{i},{i % 3},{i % 2}\n" for i in range(1, 9))
    (here / "a.csv").write_text("p,q,kind\n" + rows)
    arguments = ["fit", "NMF", "a.csv", "--label-column", "kind", "--components", "2", "--set", "max_iter=9"]
    assert run(capsys, *arguments, "--output", "m.npz")[0] == 0
    (here / "b.csv").write_text("q,p\n1,5\n")
    (here / "c.csv").write_text("p,q\n5,1\n")
    for name in ("b", "c"):
        assert run(capsys, "apply", "m.npz", f"{name}.csv", "--output", f"{name}-codes.csv")[0] == 0
    assert table("b-codes.csv") == table("c-codes.csv")
    (here / "d.csv").write_text("p,r\n5,1\n")
    code, _, err = run(capsys, "apply", "m.npz", "d.csv", "--output", "codes.csv")
    assert (code, err) == (2, "partwise apply: d has no column 'q', which the model was fitted with.\n")


def test_components_of_a_table_are_shown_by_columns(capsys, here):
    """Columns named like stop words are shown; empty cells are unknown if one says so."""
    rows = "".join(f"{i},{10 * (i % 2)},{10 - 10 * (i % 2)},\n" for i in range(12))
    (here / "plots.csv").write_text("place,oak,the,yew\n" + rows + "x,10,0,2\n")
    fit = ["fit", "NMF", "plots.csv", "--components", "2", "--output", "m.npz"]
    assert "--set missing=nan" in run(capsys, *fit)[2]
    assert "--set missing=nan" in run(capsys, "compare", "plots.csv", "--components", "2")[2]
    out = run(capsys, *fit, "--set", "missing=nan")[1]
    leading = {line.split(": ")[1].split(",")[0] for line in out.splitlines() if line.startswith("component ")}
    assert leading == {"oak", "the"}


def test_names_of_samples_are_kept(capsys, here):
    for name in ("b/1.txt", "b/2.txt", "c/=1.txt"):
        (here / "texts" / name).parent.mkdir(parents=True, exist_ok=True)
        (here / "texts" / name).write_text(f"fox owl {name}")
    (here / "table.csv").write_text("name,p,q\nfirst,1,2\n+second,3,1\nthird,2,2\n")
    expected = {"texts": ["b/1.txt", "b/2.txt", "c/=1.txt"], "table.csv": ["first", "'+second", "third"]}
    for source, names in expected.items():
        assert run(capsys, "fit", "NMF", source, "--components", "1", "--output", "m.npz")[0] == 0
        assert run(capsys, "apply", "m.npz", source, "--output", "codes.csv")[0] == 0
        assert [row[0] for row in table("codes.csv")] == ["sample", *names]


def test_codes_on_standard_output(here):
    """Nothing but the table is there, to be read by the next program."""
    NMF(2, max_iter=2, tol=0, random_state=0).fit(X).save("m.npz")
    command = [sys.executable, "-m", "partwise.cli", "apply", "m.npz", "digits.npz", "--output", "/dev/stdout"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr, ended.stdout.count("\n")) == (0, "", 121)


def test_formulas_are_disarmed(capsys, here):
    evil = ["=cmd|'/c calc'!A0", "+1+1", "-2", "@SUM(A1)", " =1", "\t=1", "plain", "a=b"]
    np.savez("evil.npz", X=X[:8], y=np.array(evil))
    run(capsys, "fit", "NMF", "evil.npz", "--components", "2", "--set", "max_iter=2", "--output", "m.npz")
    assert run(capsys, "apply", "m.npz", "evil.npz", "--output", "codes.csv")[0] == 0
    written = [row[1] for row in table("codes.csv")[1:]]
    assert written == [*(f"'{cell}" for cell in evil[:6]), "plain", "a=b"]
    assert list(safe_cells(["", "x"])) == ["", "x"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["fit", "KMeans", "digits.npz", "--output", "m.npz"], "invalid choice: 'KMeans'"),
        (["fit", "NMF", "digits.npz"], "required: --output"),
        (["fit", "NMF", "none.npz", "--output", "m.npz"], "none.npz cannot be read as data: no such file"),
        (["fit", "NMF", "digits.npz", "--output", "no/m.npz"], "there is no folder no"),
        (["fit", "NMF", "digits.npz", "--output", "."], "is a folder"),
        (["fit", "NMF", "digits.npz", "--output", "./digits.npz"], "digits.npz is an input and would be"),
        (["fit", "NMF", "digits.npz", "--output", "link.npz"], "link.npz is an input and would be"),
        (
            ["apply", "model.npz", "digits.npz", "--output", "model.npz"],
            "model.npz is an input and would be",
        ),
        (["apply", "model.npz", "digits.npz", "--output", "link.npz"], "link.npz is an input and would be"),
        (["fit", "NMF", "digits.npz", "--output", "m.npz", "--set", "tol"], "not of the form NAME=VALUE"),
        (["fit", "NMF", "digits.npz", "--output", "m.npz", "--set", "tool=1"], "no parameter 'tool' to set"),
        (["fit", "NMF", "digits.npz", "--output", "m.npz", "--set", "callbacks=1"], "no parameter 'callbacks'"),
        (["fit", "NMF", "digits.npz", "--output", "m.npz", "--set", "tol=-1"], "'tol' parameter"),
        (["fit", "NMF", "digits.npz", "--output", "m.npz", "--set", "init=[1,2]"], "takes a number"),
        (["fit", "NMF", "digits.npz", "--output", "m.npz", "--set", "tol=__import__('os')"], "'tol' parameter"),
        (["fit", "NMF", "holes.csv", "--output", "m.npz"], "use --set missing=nan, which leaves them out"),
        (["fit", "NMF", "text.csv", "--stop-words", "no.txt", "--output", "m.npz"], "neither english, nor none, nor"),
        (["fit", "NMF", "text.csv", "--text-column", "no", "--output", "m.npz"], "no column named 'no'"),
        (["fit", "NMF", "negative.npy", "--output", "m.npz"], "Negative values in data passed to NMF"),
        (["apply", "digits.npz", "digits.npz", "--output", "c.csv"], "cannot be read as a model of partwise"),
        (["apply", "model.npz", "text.csv", "--output", "c.csv"], "text where numbers should be"),
        (["apply", "model.npz", "narrow.npy", "--output", "c.csv"], "the model cannot code narrow: X has 3 features"),
        (["apply", "clusters.npz", "digits.npz", "--output", "c.csv"], "cannot code others"),
    ],
)
def test_mistakes_are_one_sentence(capsys, here, arguments, sentence):
    np.save("negative.npy", -X)
    np.save("narrow.npy", X[:, :3])
    (here / "text.csv").write_text("1,2\n3,four\n")
    (here / "holes.csv").write_text("a,b\n1,2\n3,\n4,5\n")
    (here / "link.npz").symlink_to("digits.npz")
    before = (here / "digits.npz").read_bytes()
    if arguments[0] == "apply":
        method = "LocalLearningClustering" if arguments[1] == "clusters.npz" else "NMF"
        settings = [] if method != "NMF" else ["--set", "max_iter=2"]
        run(capsys, "fit", method, "digits.npz", "--components", "2", "--output", arguments[1], *settings) if (
            arguments[1] != "digits.npz"
        ) else None
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert sentence in err
    assert err.startswith("partwise")
    assert err.count("\n") == 1
    assert (here / "digits.npz").read_bytes() == before
    assert not {"m.npz", "c.csv"} & {path.name for path in here.iterdir()}


def test_interruption_writes_no_model(capsys, monkeypatch, here):
    monkeypatch.setattr(
        "partwise.solvers.coordinate.Coordinate.steps", lambda self, point: signal.raise_signal(signal.SIGINT)
    )
    code, _, err = run(capsys, "fit", "NMF", "digits.npz", "--output", "m.npz")
    assert (code, err) == (130, "partwise fit: interrupted before the end, no model was written.\n")
    assert not (here / "m.npz").exists()


def test_all_methods_are_there(capsys):
    assert "NMF" in methods()
    for command in ("fit", "apply"):
        code, out, _ = run(capsys, command, "--help")
        assert code == 0
        assert max(map(len, out.splitlines())) <= 80

"""`partwise fit` and `partwise apply`: models from files, codes of files."""

import csv
import signal

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
    assert run(capsys, "fit", "NMF", "a", "--components", "2", "--set", "max_iter=9", "--output", "m.npz")[0] == 0
    (here / "new.csv").write_text("text\nzebra fox\n")
    assert run(capsys, "apply", "m.npz", "new.csv", "--output", "codes.csv")[0] == 0
    expected = load("m.npz")
    del expected.feature_names_in_
    assert [float(cell) for cell in table("codes.csv")[1][3:]] == expected.transform([[1.0, 0.0]])[0].tolist()


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
        (["fit", "NMF", "digits.npz", "--output", "m.npz", "--set", "tol"], "not of the form NAME=VALUE"),
        (["fit", "NMF", "digits.npz", "--output", "m.npz", "--set", "tool=1"], "no parameter 'tool' to set"),
        (["fit", "NMF", "digits.npz", "--output", "m.npz", "--set", "callbacks=1"], "no parameter 'callbacks'"),
        (["fit", "NMF", "digits.npz", "--output", "m.npz", "--set", "tol=-1"], "'tol' parameter"),
        (["fit", "NMF", "digits.npz", "--output", "m.npz", "--set", "init=[1,2]"], "takes a number"),
        (["fit", "NMF", "digits.npz", "--output", "m.npz", "--set", "tol=__import__('os')"], "'tol' parameter"),
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
    assert not {"m.npz", "c.csv"} & {path.name for path in here.iterdir()}


def test_interruption_writes_no_model(capsys, monkeypatch, here):
    monkeypatch.setattr(
        "partwise.solvers.coordinate.Coordinate.sweep", lambda self, point: signal.raise_signal(signal.SIGINT)
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

"""`partwise data` and `partwise reproduce`."""

import gzip
import sys
from pathlib import Path

import pytest

from partwise.cli import main, reproduce

sys.path.insert(0, str(Path(__file__).parents[1] / "experiments"))
from tiny import PROTOCOL


@pytest.fixture
def tiny(monkeypatch, tmp_path):
    monkeypatch.setattr(reproduce, "load_protocol", lambda name: PROTOCOL)
    monkeypatch.chdir(tmp_path)


def test_data_lists_what_is_known(capsys, no_data, tmp_path):
    (tmp_path / "yale32.npz").touch()
    assert main(["data", "--folder", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert f"yale32: 165 x 1024, 15 classes; Yale faces\n  here: {tmp_path / 'yale32.npz'}" in out
    assert "not here; source: jundongl/scikit-feature @ 48cffad4, skfeature/data/COIL20.mat" in out
    assert "terms of use: CC BY 4.0" in out


def test_data_in_a_folder_that_is_not_there(capsys, tmp_path):
    assert main(["data", "--folder", str(tmp_path / "nowhere")]) == 2
    assert capsys.readouterr().err.startswith("partwise data: There is no folder")


def test_reproduce_quick(capsys, tiny, tmp_path):
    assert main(["reproduce", "tiny", "--quick"]) == 0
    out, err = capsys.readouterr()
    assert "Table 1, Digits, nmi_max, 2 runs per cell" in out
    assert out.splitlines()[-2] == "with 2 repeats, where the paper has 5"
    assert out.splitlines()[-1] == "page written to results/tiny.html"
    assert " runs, about " in err
    assert (tmp_path / "results" / "runs" / "tiny.csv.gz").is_file()
    assert (tmp_path / "results" / "tiny.csv").read_text().count("\n") == 1 + 24 + 6 + 3


def test_fresh_draws_have_files_of_their_own(capsys, tiny, tmp_path):
    command = ["reproduce", "tiny", "--method", "Kmeans", "--repeats", "1"]
    assert main([*command, "--draws-from", "1000"]) == 0
    capsys.readouterr()
    runs = tmp_path / "results" / "runs"
    assert [path.name for path in runs.iterdir()] == ["tiny-from-1000.csv.gz"]
    lines = gzip.decompress((runs / "tiny-from-1000.csv.gz").read_bytes()).decode().splitlines()
    assert {line.split(",")[4] for line in lines[1:]} == {"1000"}


def test_one_in_some_cells(capsys, tiny, tmp_path):
    """Fewer runs, no averages, and no file of the whole table."""
    assert main(["reproduce", "tiny", "--repeats", "1", "--one-in", "2"]) == 0
    out = capsys.readouterr().out
    lines = gzip.decompress((tmp_path / "results" / "runs" / "tiny.csv.gz").read_bytes()).decode().splitlines()
    cells = {tuple(line.split(",")[1:3]) for line in lines[1:]}
    assert 0 < len(cells) < 8
    assert "Avg" not in out
    assert not (tmp_path / "results" / "tiny.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nobody"], "there is no protocol of a paper 'nobody', the known ones are: cnmf, gnmf, llnmf, nlcf, rls-nmf."),
        (["gnmf", "--method", "XNMF"], "GNMF has no method 'XNMF', it has: Kmeans, LSI+Kmeans, NMF, GNMF, partwise."),
        (["gnmf", "--table", "9"], "GNMF has no table '9', it has: 2, 3."),
    ],
)
def test_what_is_not_known(capsys, arguments, sentence):
    assert main(["reproduce", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"partwise reproduce: {sentence}\n"


def test_show_runs_nothing(capsys, tiny, tmp_path):
    assert main(["reproduce", "tiny", "--show"]) == 0
    out, err = capsys.readouterr()
    assert "80 / not run" in out
    assert err == ""
    assert not (tmp_path / "results" / "runs").exists()


def test_interrupted(capsys, tiny, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(reproduce, "reproduce", interrupt)
    assert main(["reproduce", "tiny"]) == 130
    expected = (
        "partwise reproduce: interrupted before the end, finished runs are kept and the same command continues.\n"
    )
    assert capsys.readouterr().err == expected


def test_bar_on_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    bar = reproduce._Lines()
    bar(1, 2, 200.0)
    bar(2, 2, 0.0)
    bars = capsys.readouterr().err.split("\r\x1b[K")
    assert bars[1:] == [
        f"[{'#' * 15}{'.' * 15}] 1 of 2 runs, about 3 min left",
        f"[{'#' * 30}] 2 of 2 runs, about 0 s left\n",
    ]


@pytest.mark.parametrize("taken", ["results", "results/runs", "results/tiny.html/x", "results/tiny.csv/x"])
def test_what_cannot_be_written_is_said_before_any_run(capsys, tiny, tmp_path, monkeypatch, taken):
    """A file stands where a folder is needed, or a folder where a file is."""
    monkeypatch.setattr(reproduce, "reproduce", lambda *_: pytest.fail("a run was begun"))
    (tmp_path / taken).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / taken).write_text("")
    assert main(["reproduce", "tiny", "--quick"]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert str(taken).removesuffix("/x") in err


@pytest.mark.parametrize(
    "content",
    [b"no gzip", b"\x1f\x8b\x08\x00torn", gzip.compress(b"a,b\n" * 99, mtime=0)[:-12]],
    ids=["no gzip", "torn at the start", "torn at the end"],
)
def test_damaged_runs_are_not_overwritten(capsys, tiny, tmp_path, content):
    runs = tmp_path / "results" / "runs" / "tiny.csv.gz"
    runs.parent.mkdir(parents=True)
    runs.write_bytes(content)
    assert main(["reproduce", "tiny", "--quick"]) == 2
    expected = "partwise reproduce: results/runs/tiny.csv.gz is damaged; remove it to repeat its runs.\n"
    assert capsys.readouterr() == ("", expected)
    assert runs.read_bytes() == content

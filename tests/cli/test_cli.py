"""The command line, on a few digits so that every run is short."""

import os
import signal
import subprocess
import sys

import pytest

from partwise import __version__
from partwise.cli import main
from partwise.datasets import DataSet, registry
from partwise.experiments import comparison
from partwise.experiments.preparation import draw_labels

PNG = b"\x89PNG\r\n"


@pytest.fixture(autouse=True)
def few_digits(monkeypatch, tmp_path):
    digits = registry.load("digits")
    small = DataSet(
        **{**vars(digits), "X": digits.X[:150], "y": digits.y[:150]},
    )
    monkeypatch.setitem(registry.LOADERS, "digits", lambda: small)
    monkeypatch.chdir(tmp_path)
    # Whatever the terminal that the tests run in.
    monkeypatch.setenv("COLUMNS", "80")


def run(capsys, *arguments):
    """Exit code, standard output and standard error."""
    try:
        code = main(arguments)
    except SystemExit as leaving:
        code = leaving.code
    return (code, *capsys.readouterr())


def test_compare_prints_plain_lines_and_draws_the_parts(capsys, tmp_path):
    code, out, err = run(
        capsys, "compare", "digits", "--components", "4", "--labels-per-class", "2", "--output", "parts.png"
    )
    assert code == 0
    assert err == ""
    assert out.isascii()
    assert out.replace("\n", "").isprintable()
    assert "labels of 20 samples (2 per class)" in out
    assert out.splitlines()[-1] == "learned parts drawn in parts.png"
    assert (tmp_path / "parts.png").read_bytes().startswith(PNG)


def test_table_has_every_method_and_marks_the_best(capsys):
    _, out, _ = run(capsys, "compare", "digits", "--labels-per-class", "2", "--output", "a.png")
    lines = out.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("method"))
    assert lines[start].split() == ["method", "accuracy", "unlabelled", "NMI", "purity", "time"]
    table = {line.split()[0]: line.split()[1:] for line in lines[start + 2 : start + 6]}
    assert list(table) == ["k-means", "NMF", "GraphNMF", "ConstrainedNMF"]
    for column in range(4):
        numbers = {name: float(cells[column].rstrip("*")) for name, cells in table.items()}
        marked = {name for name, cells in table.items() if cells[column].endswith("*")}
        assert marked == {name for name, number in numbers.items() if number == max(numbers.values())}
        assert all(0 < number <= 1 for number in numbers.values())


def test_the_seed_decides_everything_but_the_time(capsys, tmp_path):
    arguments = ["compare", "digits", "--components", "3", "--seed", "7", "--output"]
    for name in ("a.png", "b.png"):
        assert run(capsys, *arguments, name)[0] == 0
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


@pytest.mark.parametrize(("name", "start"), [("parts.pdf", b"%PDF"), ("parts.SVG", b"<?xml")])
def test_other_formats(capsys, tmp_path, name, start):
    assert run(capsys, "compare", "digits", "--components", "2", "--output", name)[0] == 0
    assert (tmp_path / name).read_bytes().startswith(start)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["compare"], "required: DATA"),
        (["compare", "faces"], "there is no data set 'faces', the known ones are: coil100"),
        (["compare", "jaffe"], "The data set 'jaffe' is not here"),
        (["frobnicate"], "invalid choice: 'frobnicate'"),
        (["compare", "digits", "--seed", "-1"], "whole number, from 0 to 4294967295, not '-1'"),
        (["compare", "digits", "--seed", "4294967296"], "not '4294967296'"),
        (["compare", "digits", "--components", "many"], "whole number, 1 or more, not 'many'"),
        (["compare", "digits", "--components", "0"], "not '0'"),
        (["compare", "digits", "--components", "65"], "--components is 65; digits allows at most 64"),
        (["compare", "digits", "--labels-per-class", "0"], "not '0'"),
        (["compare", "digits", "--labels-per-class", "99"], "some must stay unlabelled"),
        (["compare", "digits", "--output", "no/such/folder.png"], "there is no folder no/such"),
        (["compare", "digits", "--output", "parts.bmp"], "parts.bmp does not end in .png, .pdf or .svg, nor in .html"),
        (["compare", "digits", "--output", "here.png"], "here.png is a folder"),
        (["compare", "digits", "--wrong"], "unrecognized arguments: --wrong"),
    ],
)
def test_mistakes_are_one_sentence(capsys, tmp_path, no_data, arguments, sentence):
    (tmp_path / "here.png").mkdir()
    code, out, err = run(capsys, *arguments)
    assert code == 2
    assert out == ""
    assert sentence in err
    assert err.startswith("partwise")
    assert err.endswith(".\n")
    assert err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["here.png"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_disk_is_one_sentence(capsys, tmp_path):
    (tmp_path / "full.png").symlink_to("/dev/full")
    code, _, err = run(capsys, "compare", "digits", "--components", "2", "--output", "full.png")
    assert code == 2
    assert err == "partwise compare: full.png cannot be written: No space left on device.\n"


def test_missing_matplotlib(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, out, err = run(capsys, "compare", "digits", "--output", "parts.png")
    assert (code, out) == (2, "")
    assert "needs matplotlib" in err
    assert "pip install 'partwise[cli]'" in err


def test_dumb_terminals_get_plain_lines(capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "dumb")
    code, out, _ = run(capsys, "compare", "digits", "--components", "2", "--output", "a.png")
    assert code == 0
    assert "\x1b" not in out


def test_terminals_get_bars(capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    code, out, _ = run(capsys, "compare", "digits", "--components", "3", "--output", "a.png")
    assert code == 0
    assert "\x1b[" in out
    assert "converged after" in out
    assert "GraphNMF" in out


def test_version_and_help(capsys):
    assert run(capsys, "--version") == (0, f"partwise {__version__}\n", "")
    for arguments in ([], ["--help"]):
        code, out, _ = run(capsys, *arguments)
        assert code == 0
        assert "compare" in out
    code, out, _ = run(capsys, "compare", "--help")
    assert code == 0
    assert "compilation happens beforehand" in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize("step", ["warm_up", "fit"])
def test_interruption(capsys, monkeypatch, tmp_path, step):
    def press_ctrl_c(*_):
        os.kill(os.getpid(), signal.SIGINT)

    if step == "fit":
        # The estimator itself keeps what it has when interrupted; the command must stop all the same.
        monkeypatch.setattr("partwise.cli.display._Lines.on_sweep", press_ctrl_c)
    else:
        monkeypatch.setattr(comparison, "fit_whole", press_ctrl_c)
    code, _, err = run(capsys, "compare", "digits", "--components", "2")
    assert code == 130
    assert err == "partwise compare: interrupted before the end, nothing was written.\n"
    assert not list(tmp_path.iterdir())


def test_notes_of_a_fit_are_shown(capsys, monkeypatch):
    def few_sweeps(methods, n_components, seed, image_shape):
        return [comparison.Method("NMF", comparison.NMF(n_components, max_iter=2, random_state=seed))]

    monkeypatch.setattr(comparison, "chosen_methods", few_sweeps)
    code, out, _ = run(capsys, "compare", "digits")
    assert code == 0
    assert "NMF: stopped at the limit of 2 sweeps" in out
    assert "NMF: note: The fit has not converged" in out


def test_long_fits_report_their_sweeps(capsys, monkeypatch):
    monkeypatch.setattr("partwise.cli.display.SWEEPS_PER_LINE", 5)
    _, out, _ = run(capsys, "compare", "digits", "--components", "2", "--output", "a.png")
    assert "NMF: sweep 5, objective " in out


def test_a_reader_that_leaves_is_no_error(tmp_path):
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "partwise.cli", "compare", "digits", "--components", "2"]
    ended = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, cwd=tmp_path, check=False)
    os.close(write)
    assert ended.returncode == 1
    assert ended.stderr == b""


def test_importing_partwise_stays_light():
    code = "import sys, partwise, partwise.cli; print([m for m in ('rich', 'matplotlib', 'numba') if m in sys.modules])"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"


def test_labels_are_drawn_per_class():
    y = registry.load("digits").y
    known = draw_labels(y, 3, 1)
    drawn = known >= 0
    assert (known[drawn] == y[drawn]).all()
    assert [int((known == label).sum()) for label in range(10)] == [3] * 10


def test_data_sets_by_name():
    data = registry.load("digits")
    assert "digits" in registry.names()
    assert data.image_shape == (8, 8)
    assert data.X.min() >= 0
    with pytest.raises(ValueError, match="There is no data set 'faces'; the known ones are: coil100"):
        registry.load("faces")

"""What the command prints: on terminals, without rich, into pipes that close and devices that are full."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios

import numpy as np
import pytest

from partwise import NMF
from partwise.cli import main

COMMAND = [sys.executable, "-m", "partwise.cli"]
COMPARE = ["compare", "mine.csv", "--output", "page.html"]
# Several commands in one process, which is much faster, on a computer that has all of the modules or not.
DRIVER = """
import sys
from json import loads
absent, commands = map(loads, sys.argv[1:])
sys.modules.update(dict.fromkeys(absent))
from partwise.cli import main
sys.exit(max(main(arguments) for arguments in commands))
"""


@pytest.fixture(autouse=True)
def here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    groups = np.arange(30) % 3
    X = np.random.RandomState(0).uniform(size=(30, 6)) + 3 * np.repeat(np.eye(3), 2, axis=1)[groups]
    lines = [",".join([*map(str, x), f"class {y}"]) for x, y in zip(X.round(2), groups, strict=True)]
    (tmp_path / "mine.csv").write_text("\n".join(["a,b,c,d,e,f,label", *lines]))
    return tmp_path


def on_a_terminal(command, columns=80):
    """Exit code and what a terminal of some width has been sent."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    sent = b""
    while True:
        try:
            part = os.read(ours, 2**16)
        except OSError:  # how Linux tells that the other side has closed
            break
        if not part:
            break
        sent += part
    os.close(ours)
    return process.wait(), sent.decode()


def lines_of(sent):
    """Lines as they are seen, without colours and movements."""
    return [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line) for line in re.split(r"[\r\n]+", sent)]


def driven(commands, absent=()):
    return [sys.executable, "-c", DRIVER, json.dumps(list(absent)), json.dumps(commands)]


def test_without_extras_terminals_get_what_pipes_get(capsys, monkeypatch):
    extras = ["rich", "rich.console", "matplotlib"]
    code, sent = on_a_terminal(driven([COMPARE], extras))
    for module in extras:
        monkeypatch.setitem(sys.modules, module, None)
    assert (code, main(COMPARE)) == (0, 0)
    out, err = capsys.readouterr()
    assert "\x1b" not in sent
    assert max(map(len, lines_of(sent))) <= 80
    assert err == ""
    for said in ("GraphNMF", "accuracy", "report written to page.html"):
        assert said in sent
        assert said in out


def test_terminals_of_80_columns(here, monkeypatch):
    monkeypatch.setenv("PARTWISE_DATA", str(here))
    texts = here / "a folder of texts with a long name"
    texts.mkdir()
    for number, text in enumerate(["fox owl badger " * 9, "owl lion tiger", "fox wolf wolf", "lion wolf mouse"]):
        (texts / f"{number}.txt").write_text(" ".join(f"{word}{'x' * 12}" for word in text.split()))
    fit = ["fit", "NMF", texts.name, "--components", "2", "--output", "m.npz"]
    code, sent = on_a_terminal(driven([COMPARE, fit, ["data"], ["reproduce", "llnmf", "--show"]]))
    assert code == 0, sent
    lines = lines_of(sent)
    assert [line for line in lines if len(line) > 80] == []
    assert "\x1b[" in sent
    heads = [line.split() for line in lines if line.split()[:2] == ["method", "accuracy"]]
    assert heads == [["method", "accuracy", "unlabelled", "NMI", "purity", "time"]]
    assert len([line for line in lines if line.startswith("component ")]) == 2


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
@pytest.mark.parametrize("arguments", [["data"], ["--help"]])
def test_a_full_device_is_one_sentence(arguments):
    with open("/dev/full", "w") as full:
        ended = subprocess.run([*COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == 1
    name = "partwise" if arguments[0] == "--help" else f"partwise {arguments[0]}"
    assert ended.stderr == f"{name}: standard output cannot be written: No space left on device.\n"


def in_a_shell(arguments):
    """Exit code, standard output and standard error."""
    ended = subprocess.run(
        f'"{sys.executable}" -m partwise.cli {arguments}', shell=True, capture_output=True, text=True, check=False
    )
    return ended.returncode, ended.stdout, ended.stderr


def test_streams_that_are_closed(here):
    NMF(2, max_iter=2, tol=0, random_state=0).fit(np.eye(6)).save("m.npz")
    assert in_a_shell("data >&-") == (0, "", "")
    assert in_a_shell("apply m.npz mine.csv --output codes.csv >&- 2>&- <&-") == (0, "", "")
    assert (here / "codes.csv").read_text().count("\n") == 31
    _, out, err = in_a_shell("data | head -1")
    assert (out, err) == ("digits: 1797 x 64, 10 classes; handwritten digits\n", "")

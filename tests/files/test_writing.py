"""Files are written whole or not at all, whoever else writes them, and stay what they were: links, modes, devices."""

import contextlib
import gzip
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np
import pytest

from partwise.files.archive import read_arrays, write_arrays
from partwise.files.writing import PREFIX, SUFFIX, WriteError, check_writable, whole_file, write_compressed, write_whole

WRITER = """
import sys, time
import numpy as np
from partwise.files.archive import write_arrays
end = time.monotonic() + 1.5
while time.monotonic() < end:
    write_arrays(sys.argv[1], {"a": np.full(20_000, int(sys.argv[2])), "b": np.full(10, int(sys.argv[2]))})
"""

posix = pytest.mark.skipif(os.name != "posix", reason="needs links, modes and pipes")


@pytest.fixture
def unprivileged():
    """The folder of a user who is not allowed everything: root is, whatever the modes say."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        # Not in tmp_path, which only the user who runs the tests may enter.
        folder = Path(tempfile.mkdtemp())
        yield folder
        folder.chmod(0o700)
        shutil.rmtree(folder)
    finally:
        if root:
            os.seteuid(0)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_two_writers_and_a_reader(tmp_path):
    """Processes and threads write one path; whatever a reader finds is whole."""
    path = tmp_path / "model.npz"
    write_arrays(path, {"a": np.zeros(20_000), "b": np.zeros(10)})
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, path, str(i)]) for i in (1, 2)]
    stop = threading.Event()

    def write():
        while not stop.is_set():
            write_arrays(path, {"a": np.full(20_000, 3), "b": np.full(10, 3)})

    thread = threading.Thread(target=write)
    thread.start()
    loads = 0
    try:
        while any(writer.poll() is None for writer in writers):
            arrays = read_arrays(path, "a model")
            assert len(set(arrays["a"]) | set(arrays["b"])) == 1
            loads += 1
    finally:
        stop.set()
        thread.join()
    assert [writer.wait() for writer in writers] == [0, 0]
    assert loads > 20
    assert names(tmp_path) == ["model.npz"]


def test_an_error_leaves_the_old_file(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def fail_halfway():
        with whole_file(path) as stream:
            stream.write(b"half")
            raise KeyError

    with pytest.raises(KeyError):
        fail_halfway()
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["a"]


@posix
def test_what_killed_writers_leave_is_removed(tmp_path):
    code = f"""
import os, signal
from partwise.files.writing import whole_file
with whole_file({str(tmp_path / "a")!r}) as stream:
    stream.write(b"half")
    stream.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == -9
    assert len(names(tmp_path)) == 1
    with whole_file(tmp_path / "b") as first:
        # Neither of two living writers takes the other's file for an abandoned one.
        write_whole(tmp_path / "a", b"a")
        first.write(b"b")
    assert names(tmp_path) == ["a", "b"]


@posix
def test_modes(tmp_path):
    old = os.umask(0o027)
    try:
        write_whole(tmp_path / "new", b"")
        (tmp_path / "old").touch()
        (tmp_path / "old").chmod(0o604)
        write_whole(tmp_path / "old", b"x")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    assert stat.S_IMODE((tmp_path / "old").stat().st_mode) == 0o604


@posix
@pytest.mark.parametrize("there", [True, False])
def test_links_stay(tmp_path, there):
    (tmp_path / "elsewhere").mkdir()
    target, link, chain = tmp_path / "elsewhere" / "target", tmp_path / "link", tmp_path / "chain"
    if there:
        target.write_bytes(b"old")
    link.symlink_to("elsewhere/target")
    chain.symlink_to(link)
    check_writable(chain)
    write_whole(chain, b"new")
    assert link.is_symlink()
    assert chain.is_symlink()
    assert target.read_bytes() == b"new"
    assert names(tmp_path / "elsewhere") == ["target"]


@posix
def test_pipes_and_devices_are_written_to(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    check_writable(pipe)  # without waiting for a reader
    received = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    reader.start()
    write_arrays(pipe, {"a": np.arange(5)}, compress=True)
    reader.join()
    (tmp_path / "copy.npz").write_bytes(received[0])
    np.testing.assert_array_equal(read_arrays(tmp_path / "copy.npz", "arrays")["a"], np.arange(5))
    (tmp_path / "null").symlink_to("/dev/null")
    for device in (tmp_path / "null", Path("/dev/null")):
        check_writable(device)
        write_arrays(device, {"a": np.arange(5)})
        assert stat.S_ISCHR(device.stat().st_mode)
    code = (
        "from partwise.files.writing import write_whole as w, check_writable as c; p = '/dev/stdout'; c(p); w(p, b'x')"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout == b"x"


def test_compressed_files_depend_on_their_content_alone(tmp_path, monkeypatch):
    content = b"a,b\n1,2\n" * 1000
    write_compressed(tmp_path / "one.csv.gz", content)
    monkeypatch.setattr("time.time", lambda: 1e9)
    write_compressed(tmp_path / "other.csv.gz", content)
    first = (tmp_path / "one.csv.gz").read_bytes()
    assert first == (tmp_path / "other.csv.gz").read_bytes()
    assert len(first) < 0.1 * len(content)
    assert gzip.decompress(first) == content


def refuse(path, sentence):
    for act in (check_writable, lambda path: write_whole(path, b"new")):
        with pytest.raises(WriteError, match=sentence) as caught:
            act(path)
        assert str(caught.value).endswith(".")


def test_what_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    refuse(tmp_path, "is a folder; give the name of a file")
    refuse("", "is a folder")
    refuse(tmp_path / "no" / "file", r"cannot be written: there is no folder .*no\.")
    refuse(tmp_path / "file" / "x", r"cannot be written: there is no folder .*file\.")
    refuse(tmp_path / ("x" * 300), "cannot be written: File name too long")
    with contextlib.suppress(OSError, NotImplementedError):
        (tmp_path / "link").symlink_to(tmp_path / "no" / "file")
        (tmp_path / "loop").symlink_to(tmp_path / "loop")
        refuse(tmp_path / "link", "there is no folder .*no")
        refuse(tmp_path / "loop", "cannot be written: ")
    assert not [name for name in names(tmp_path) if name.endswith(SUFFIX) or name.startswith(PREFIX)]


@posix
def test_permissions(unprivileged):
    protected = unprivileged / "protected"
    protected.write_bytes(b"old")
    protected.chmod(0o444)
    refuse(protected, "protected cannot be written: Permission denied")
    protected.chmod(0o644)
    check_writable(protected)
    unprivileged.chmod(0o555)
    refuse(unprivileged / "new", "new cannot be written: Permission denied")
    # The file could be changed, but not replaced as a whole.
    refuse(protected, "protected cannot be written: Permission denied")
    assert protected.read_bytes() == b"old"

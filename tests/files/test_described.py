"""Arrays with a description: what is written is read, and only by whom it is meant for."""

import numpy as np
import pytest

from partwise import __version__
from partwise.files.archive import ReadError, read_arrays, write_arrays
from partwise.files.described import Format, as_text, from_text

FRUIT = Format("partwise fruit", "a fruit of partwise", 2)


@pytest.mark.parametrize("compress", [False, True])
def test_what_is_written_is_read(tmp_path, compress):
    FRUIT.write(tmp_path / "a.npz", {"colour": "grün"}, {"0": np.arange(3)}, compress=compress)
    with FRUIT.read(tmp_path / "a.npz") as (description, arrays):
        assert description == {
            "format": "partwise fruit",
            "format_version": 2,
            "partwise": __version__,
            "colour": "grün",
        }
        assert list(arrays) == ["0"]
        np.testing.assert_array_equal(arrays["0"], [0, 1, 2])


def test_earlier_versions_are_read_and_later_ones_are_not(tmp_path):
    Format("partwise fruit", "", 1).write(tmp_path / "old.npz", {}, {})
    with FRUIT.read(tmp_path / "old.npz") as (description, _):
        assert description["format_version"] == 1
    Format("partwise fruit", "", 3).write(tmp_path / "new.npz", {}, {})
    with (
        pytest.raises(ReadError, match=r"its format is 3 \(partwise .*reads formats up to 2\.$"),
        FRUIT.read(tmp_path / "new.npz"),
    ):
        pass


@pytest.mark.parametrize("version", [0, -1, 1.0, True, None, "1", [1]])
def test_versions_are_whole_numbers_from_one(tmp_path, version):
    write_arrays(tmp_path / "a.npz", {"header": as_text({"format": "partwise fruit", "format_version": version})})
    with (
        pytest.raises(ReadError, match="cannot be read as a fruit of partwise: its format is"),
        FRUIT.read(tmp_path / "a.npz"),
    ):
        pass


@pytest.mark.parametrize(
    ("header", "sentence"),
    [
        (as_text({"format": "partwise model", "format_version": 1}), "it is something else"),
        (as_text(["partwise fruit"]), "it is something else"),
        (as_text({"format": "partwise fruit"}), "it is damaged or something else"),
        (np.arange(3.0), "its description is not text"),
        (np.frombuffer(b"{", np.uint8), "it is damaged or something else"),
    ],
)
def test_other_files_are_refused(tmp_path, header, sentence):
    write_arrays(tmp_path / "a.npz", {"header": header})
    with (
        pytest.raises(ReadError, match=f"cannot be read as a fruit of partwise: {sentence}"),
        FRUIT.read(tmp_path / "a.npz"),
    ):
        pass


def test_a_file_whose_content_cannot_be_used_is_damaged(tmp_path):
    FRUIT.write(tmp_path / "a.npz", {}, {})
    with (
        pytest.raises(ReadError, match="it is damaged or something else"),
        FRUIT.read(tmp_path / "a.npz") as (found, _),
    ):
        found["colour"]


def test_the_description_is_an_array_like_any_other(tmp_path):
    FRUIT.write(tmp_path / "a.npz", {"size": 4}, {"x": np.ones(2)})
    arrays = read_arrays(tmp_path / "a.npz", "anything")
    assert set(arrays) == {"header", "x"}
    assert from_text(arrays["header"])["size"] == 4

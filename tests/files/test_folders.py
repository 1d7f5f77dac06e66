"""Data from folders of images and texts: what is read, and what is refused in one sentence."""

import numpy as np
import pytest
from reading import refuse, write

from partwise.files import read


@pytest.fixture
def image():
    Image = pytest.importorskip("PIL.Image")

    def save(path, shape=(3, 2), value=7):
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.full(shape, value, np.uint8)).save(path)

    return save


def test_a_folder_of_images(tmp_path, image):
    image(tmp_path / "owl" / "1.png", value=9)
    image(tmp_path / "owl" / "2.bmp", value=8)
    image(tmp_path / "fox" / "1.PNG")
    (tmp_path / ".hidden").write_text("x")
    (tmp_path / "notes.md").write_text("x")
    data = read(tmp_path)
    assert data.image_shape == (3, 2)
    assert data.class_names == ("fox", "owl")
    assert data.X[:, 0].tolist() == [7, 9, 8]
    assert data.y.tolist() == [0, 1, 1]


def test_a_folder_of_texts(tmp_path):
    (tmp_path / "a").mkdir()
    write(tmp_path / "a" / "1.txt", "Fox fox")
    write(tmp_path / "2.txt", "owl")
    data = read(tmp_path)
    assert data.terms == ("fox", "owl")
    np.testing.assert_array_equal(data.X.toarray(), [[0, 1], [2, 0]])
    assert (data.y.tolist(), data.class_names) == ([-1, 0], ("a",))


def test_folders_that_are_not_data(tmp_path, image):
    folder = tmp_path / "set"
    folder.mkdir()
    refuse(folder, "should hold images")
    write(folder / "a.txt", "word")
    image(folder / "b.png")
    refuse(folder, "but not both")
    (folder / "a.txt").unlink()
    image(folder / "c.png", shape=(2, 3))
    refuse(folder, r"c\.png has \(2, 3\) pixels")
    (folder / "c.png").write_bytes((folder / "b.png").read_bytes()[:40])
    refuse(folder, r"c\.png is not an image, or is damaged")
    (folder / "c.png").unlink()
    (folder / "c.png").symlink_to("/etc/hostname")
    refuse(folder, r"c\.png leads outside")
    (folder / "c.png").unlink()
    (tmp_path / "other").mkdir()
    (folder / "sub").symlink_to(tmp_path / "other")
    refuse(folder, "sub leads outside")
    (folder / "sub").unlink()
    (folder / "sub").mkdir()
    (folder / "sub" / "d.png").symlink_to("/etc/hostname")
    refuse(folder, r"sub/d\.png leads outside")


def test_images_that_declare_too_much(tmp_path):
    (tmp_path / "a.pgm").write_bytes(b"P5 999999 999999 255\n\x00")
    refuse(tmp_path, r"a\.pgm")
    (tmp_path / "a.pgm").write_bytes(b"P5 9000 9000 255\n\x00")
    refuse(tmp_path, r"a\.pgm declares 9000 × 9000 pixels")


def test_texts_that_are_none(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"\xff\xfe\x00")
    refuse(tmp_path, r"a\.txt is not text in UTF-8")

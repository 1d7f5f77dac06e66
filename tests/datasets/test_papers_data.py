"""The papers' data sets themselves, where they are here."""

import pytest

from partwise.datasets import CATALOGUE, files, find, load

# Larger ones take their time.
SMALL = ["coil20", "cstr", "orl32", "orl64", "pix", "semeion", "webace_1000", "yale32"]


@pytest.mark.parametrize("name", SMALL)
def test_they_are_what_the_catalogue_says(name):
    if find(name) is None:
        pytest.skip(f"{name} is absent; set PARTWISE_DATA to the folder of the papers' data")
    data, entry = load(name), CATALOGUE[name]
    assert data.X.shape == entry.shape
    assert data.image_shape == entry.image_shape
    assert len(data.class_names) == entry.classes
    assert data.X.min() >= 0
    if entry.digest is not None:
        assert files.content_digest(data.X, data.y) == entry.digest

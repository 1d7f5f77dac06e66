"""The picture of learned parts."""

import struct

import numpy as np
import pytest

from partwise.plots import PartsRow, draw_parts, picture_bytes
from partwise.plots.canvas import mosaic

RNG = np.random.RandomState(0)


def rows(k=4, m=12, n=3):
    return [
        PartsRow(
            name,
            RNG.uniform(size=(k, m)),
            "two\nlines",
            [str(j) for j in range(k)],
            RNG.uniform(size=(n, m)),
        )
        for name in ("one $x^", "two")
    ]


def size_of(png):
    """Width and height in pixels, from the file's header."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    return struct.unpack(">II", png[16:24])


def pixels_of(figure):
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())


def texts(figure):
    return [text.get_text() for text in figure.texts]


def test_picture_has_everything():
    figure = draw_parts(rows(), (3, 4), samples=RNG.uniform(size=(3, 12)), title="A title", subtitle="Under it")
    shown = texts(figure)
    assert {"A title", "Under it", "one $x^", "two", "samples", "0", "3"} <= set(shown)
    # Two bands of components, the samples, and two bands of reconstructions.
    assert len(figure.axes) == 5
    width, height = size_of(picture_bytes(figure))
    assert width == figure.get_figwidth() * figure.dpi
    assert height == figure.get_figheight() * figure.dpi


def test_the_same_picture_twice_is_the_same_file():
    row = rows()
    assert picture_bytes(draw_parts(row, (3, 4))) == picture_bytes(draw_parts(row, (3, 4)))


def test_images_stand_upright():
    component = np.zeros((1, 64))
    component[0, :8] = 1  # the top line
    pixels = pixels_of(draw_parts([PartsRow("m", component)], (8, 8)))
    dark = np.flatnonzero((pixels[:, -60, :3] == [29, 43, 79]).all(axis=1))
    light = np.flatnonzero((pixels[:, -60, :3] == [240, 241, 245]).all(axis=1))
    assert len(dark) * 7 == len(light)
    assert dark.max() < light.min()


def test_many_components_wrap_and_are_thinned_out():
    figure = draw_parts([PartsRow("m", RNG.uniform(size=(50, 12)), captions=list(map(str, range(50))))], (3, 4))
    assert len(figure.axes) == 3
    assert "36 of 50 shown" in texts(figure)
    assert {"0", "49"} <= set(texts(figure))


def test_a_dead_component_and_an_odd_shape_are_drawn():
    figure = draw_parts([PartsRow("m", np.zeros((1, 200)))], (100, 2), samples=np.zeros((2, 200)))
    assert picture_bytes(figure)


def test_user_settings_do_not_leak_into_the_picture():
    import matplotlib

    row = rows()
    plain = picture_bytes(draw_parts(row, (3, 4)))
    with matplotlib.rc_context({"figure.facecolor": "red", "font.family": "serif", "savefig.dpi": 30}):
        assert picture_bytes(draw_parts(row, (3, 4))) == plain


def test_mosaic_shades_each_image_up_to_its_own_value():
    strip = mosaic(np.array([[[1.0, 2.0]], [[3.0, -1.0]]]), np.array([2.0, 2.0]), gap=1)
    np.testing.assert_array_equal(strip, [[0.5, 1.0, np.nan, 1.0, 0.0]])


def test_wrong_input_is_refused():
    with pytest.raises(ValueError, match="rows is empty"):
        draw_parts([], (8, 8))
    with pytest.raises(ValueError, match="images of 8 × 8 need 64 columns"):
        draw_parts(rows(), (8, 8))

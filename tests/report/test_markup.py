"""Markup, charts, pictures and tables of the page."""

import io
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from partwise.plots.markup import Markup, element, join
from partwise.report.axes import axis, name
from partwise.report.charts import Series, area_chart, line_chart, scatter
from partwise.report.images import picture, png
from partwise.report.page import Section, page
from partwise.report.tables import Entry, shaded, sortable

HOSTILE = "</td><script>alert(1)</script>\"' onload=alert(2) &amp;"


def test_text_and_attributes_are_escaped():
    made = element("p", HOSTILE, element("b", "x"), None, title=HOSTILE, class_="a", hidden=True, lang=None)
    read = ElementTree.fromstring(made.replace(" hidden", ' hidden=""'))
    assert read.text == read.get("title") == HOSTILE
    assert [child.tag for child in read] == ["b"]
    assert read.get("lang") is None


def test_markup_is_not_escaped_twice():
    assert join([element("b", "&"), "&", None]) == "<b>&amp;</b>&amp;"
    assert isinstance(join([]), Markup)


def test_half_characters_are_spelled_out():
    element("p", "a\udcff").encode("utf-8")


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("numbers", [[0.013, 0.9], [5.0], [3.0, 3.0], [1e-9, 1e4], [], [0.0, 1.0, float("inf")]])
def test_axes_end_at_or_beyond_their_numbers(numbers, log):
    found = axis(numbers, 0.0, 100.0, log=log)
    for number in numbers:
        if np.isfinite(number) and (number > 0 or not log):
            assert found.low <= number * (1 + 1e-12)
            assert found.high >= number * (1 - 1e-12)
    places = [found.place(tick) for tick in found.ticks]
    assert places == sorted(set(places))
    assert places[0] == 0
    assert places[-1] <= 100
    assert 2 <= len(places) <= 9


def test_names_of_numbers():
    assert [name(x) for x in (0, 0.5, -2, 1000, 1e-4, 1e6, 2e-7)] == ["0", "0.5", "−2", "1000", "10⁻⁴", "10⁶", "2·10⁻⁷"]


def test_lines_go_through_their_points():
    chart = line_chart([Series(HOSTILE, [1, 10, 100], [0.0, np.nan, 1.0], 3)], "x", "y", title="t", log_x=True)
    read = ElementTree.fromstring(chart)
    dots = read.findall(".//circle")
    assert len(dots) == 2
    assert float(dots[0].get("cx")) < float(dots[1].get("cx"))
    assert float(dots[0].get("cy")) > float(dots[1].get("cy"))
    assert read.find(".//li").find("svg").tail == HOSTILE


def test_areas_and_maps_are_well_formed():
    areas = ElementTree.fromstring(area_chart(["a", "b"], [0, 1, 2], np.ones((2, 3)), "x", "y", "t"))
    assert len(areas.findall("svg/path[@class='area c0']") + areas.findall("svg/path[@class='area c1']")) == 2
    points = np.random.RandomState(0).normal(size=(30, 2))
    dots = ElementTree.fromstring(scatter(points, np.arange(30) % 3 - 1, ["a", "b"], "t")).findall("svg/path")
    assert [dot.find("title").text for dot in dots] == ["unknown", "a", "b"]
    assert sum(dot.get("d").count("M") for dot in dots) == 30


def test_pictures_are_read_by_others():
    image = pytest.importorskip("PIL.Image")
    shades = np.array([[0.0, 0.5, 1.0], [2.0, -1.0, 0.25]])
    read = np.asarray(image.open(io.BytesIO(png(shades))).convert("RGB"))
    assert read.shape == (2, 3, 3)
    assert read[0, 0].tolist() == read[1, 1].tolist() == [244, 244, 244]
    assert read[0, 2].tolist() == read[1, 0].tolist() == [22, 22, 22]
    assert np.abs(read[0, 1].astype(int) - [133, 133, 133]).max() <= 1
    assert 'src="data:image/png;base64,' in picture(shades, HOSTILE)


def test_tables():
    read = ElementTree.fromstring(sortable(["a", "b"], [[Entry("x"), Entry("1.5 s", 1.5, best=True)]], HOSTILE))
    assert read.find("table/caption").text == HOSTILE
    assert [th.get("aria-sort") for th in read.findall("table/thead/tr/th")] == ["none", "none"]
    assert read.find("table/tbody/tr/td").get("data-value") == "1.5"
    values = np.array([[0.0, np.nan], [5.0, 10.0]])
    cells = ElementTree.fromstring(shaded(values, "ab", "cd", "corner", "caption")).findall(".//td")
    assert [(cell.text, cell.get("class")) for cell in cells] == [("0", "h0"), (None, "h0"), ("5", "h5"), ("10", "h10")]
    assert shaded(np.ones((30, 30)), "a" * 30, "b" * 30, "corner", "caption").count("<img") == 1


def test_page_forbids_everything_from_elsewhere():
    text = page(HOSTILE, "s", [Section("a", HOSTILE, ("x",)), Section("b", "empty", ())])
    assert "default-src &#x27;none&#x27;" in text
    assert "http://" not in text
    assert "https://" not in text
    assert "empty" not in text
    assert text.count("<script>") == 1

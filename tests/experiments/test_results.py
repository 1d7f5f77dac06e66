"""The committed results: tables come from the runs, pages from the tables."""

import shutil
import sys
from pathlib import Path

import pytest

from partwise.experiments import Journal, compare, load_protocol, paper_names, read_cells
from partwise.experiments.plan import Plan
from partwise.report import reproduction_page

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("paper", list(paper_names()))
def test_tables_come_from_runs(paper, tmp_path, no_data):
    shutil.copy(ROOT / "results" / "runs" / f"{paper}.csv", tmp_path / "runs.csv")
    assert compare(Plan(load_protocol(paper)), Journal(tmp_path / "runs.csv")) == read_cells(
        ROOT / "results" / f"{paper}.csv"
    )


@pytest.mark.parametrize("paper", list(paper_names()))
def test_there_is_a_page_to_look_at(paper):
    """Among the committed cells are some without data, some not run, and some of a single run."""
    cells = read_cells(ROOT / "results" / f"{paper}.csv")
    page = reproduction_page(load_protocol(paper), cells, [], {"results": "those committed"})
    single = next((cell for cell in cells if cell.mean is not None and cell.std is None), None)
    assert page.count("<table") > len({(cell.dataset, cell.metric) for cell in cells}) / 2
    assert single is None or f"{single.mean:.1f}" in page


def test_pages_come_from_tables(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs" / "reproduction")
    import make

    everything = []
    for name in paper_names():
        cells = read_cells(ROOT / "results" / f"{name}.csv")
        everything += cells
        page = (make.HERE / f"{name}.md").read_text("utf-8")
        assert page == make.paper_page(name, cells).rstrip() + "\n"
    assert (make.HERE / "README.md").read_text("utf-8") == make.summary_page(everything).rstrip() + "\n"
    sys.modules.pop("make")
    sys.modules.pop("headline")


def test_headline_numbers(monkeypatch):
    """CNMF on Yale, from the committed table by hand."""
    monkeypatch.syspath_prepend(ROOT / "docs" / "reproduction")
    import headline

    cells = [c for c in read_cells(ROOT / "results" / "cnmf.csv") if (c.dataset, c.metric) == ("Yale", "accuracy")]
    single = {(c.method, c.n_clusters): c for c in cells if c.n_clusters != "Avg"}
    ks = [k for method, k in single if method == "CNMF"]
    printed = sum(single["CNMF", k].printed_mean for k in ks) / len(ks)
    means = [sum(single[method, k].mean for k in ks) / len(ks) for method in ("CNMF", "partwise")]
    assert headline.accuracies("cnmf")["CNMF", "Yale"] == pytest.approx((printed, *means))
    assert {"CNMF", "GNMF", "NLCF"} <= set(headline.all_accuracies())
    sys.modules.pop("headline")

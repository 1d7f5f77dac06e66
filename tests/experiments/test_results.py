"""The committed results: tables come from the runs."""

import shutil
from pathlib import Path

import pytest

from partwise.experiments import Journal, compare, load_protocol, paper_names, read_cells
from partwise.experiments.plan import Plan
from partwise.report import reproduction_page

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("paper", list(paper_names()))
def test_tables_come_from_runs(paper, tmp_path, no_data):
    shutil.copy(ROOT / "results" / "runs" / f"{paper}.csv.gz", tmp_path / "runs.csv.gz")
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

"""The committed results: tables come from the runs, and runs from the code."""

import shutil
from pathlib import Path

import pytest

from partwise.experiments import Journal, compare, load_protocol, paper_names, read_cells
from partwise.experiments.plan import Place, Plan
from partwise.experiments.runs import execute
from partwise.report import reproduction_page

ROOT = Path(__file__).parents[2]
# Short runs, one of every method that has some, also with the defaults, where clusters are not obvious: paper, method,
# data set, number of clusters, draw. Their scores stay the same when the data change in the tenth digit, so they do not
# depend on the processor.
SAMPLE = (
    ("cnmf", "NMF", "Yale", 6, 0),
    ("cnmf", "GNMF", "ORL", 6, 0),
    ("cnmf", "NTF", "Yale", 6, 0),
    ("cnmf", "SemiGNMF", "ORL", 6, 0),
    ("cnmf", "CNMF", "Yale", 6, 0),
    ("cnmf", "partwise", "Yale", 6, 0),
    ("gnmf", "Kmeans", "Reuters", 2, 1),
    ("gnmf", "LSI+Kmeans", "Reuters", 2, 2),
    ("gnmf", "NMF", "Reuters", 3, 1),
    ("gnmf", "GNMF", "Reuters", 2, 2),
    ("gnmf", "partwise", "Reuters", 3, 0),
    ("llnmf", "Kmeans", "CSTR", 4, 0),
    ("llnmf", "NC", "CSTR", 4, 0),
    ("llnmf", "LLC", "CSTR", 4, 0),
    ("llnmf", "NMF", "CSTR", 4, 0),
    ("llnmf", "ONMTF", "CSTR", 4, 0),
    ("llnmf", "GNMF", "CSTR", 4, 0),
    ("llnmf", "LLNMF", "CSTR", 4, 0),
    ("nlcf", "NMF", "Yale", 6, 0),
    ("nlcf", "NLCF", "Yale", 6, 0),
    ("nlcf", "NLCF-G", "Yale", 6, 0),
    ("nlcf", "Kmeans", "Yale", 6, 0),
    ("nlcf", "NMF-SC", "Yale", 6, 0),
    ("nlcf", "partwise", "Yale", 6, 0),
    ("rls-nmf", "NMF", "Semeion", 6, 0),
    ("rls-nmf", "Convex-NMF", "Semeion", 6, 0),
    ("rls-nmf", "ONMF", "Semeion", 6, 0),
    ("rls-nmf", "WNMF", "Semeion", 6, 0),
    ("rls-nmf", "Semi-NMF", "Semeion", 6, 0),
    ("rls-nmf", "TCNMF", "Semeion", 6, 0),
    ("rls-nmf", "KOGNMF", "Semeion", 6, 0),
    ("rls-nmf", "RLS-NMF", "Semeion", 6, 0),
    ("rls-nmf", "partwise", "Semeion", 6, 0),
)
# The tables show tenths of a point.
ROUNDING = 0.1


@pytest.mark.parametrize("paper", list(paper_names()))
def test_tables_come_from_runs(paper, tmp_path, no_data):
    shutil.copy(ROOT / "results" / "runs" / f"{paper}.csv.gz", tmp_path / "runs.csv.gz")
    assert compare(Plan(load_protocol(paper)), Journal(tmp_path / "runs.csv")) == read_cells(
        ROOT / "results" / f"{paper}.csv"
    )


@pytest.mark.parametrize(("paper", "method", "dataset", "k", "draw"), SAMPLE)
def test_runs_come_from_the_code(paper, method, dataset, k, draw):
    """A method that now gives other scores needs a higher `version` in its protocol; then its runs are made again."""
    plan, journal = Plan(load_protocol(paper)), Journal(ROOT / "results" / "runs" / f"{paper}.csv")
    if not plan.is_here(dataset):
        pytest.skip(f"{dataset} is not here")
    steps = plan.protocol.methods[method]
    runs = [plan.run(Place(dataset, k), steps, setting, draw) for setting in steps.settings(dataset)]
    run = next(run for run in runs if run in journal)
    assert execute(run) == pytest.approx(journal.scores(run), abs=ROUNDING)


@pytest.mark.parametrize("paper", list(paper_names()))
def test_there_is_a_page_to_look_at(paper):
    """Of all committed cells; those of the defaults that nobody has run are empty."""
    cells = read_cells(ROOT / "results" / f"{paper}.csv")
    page = reproduction_page(load_protocol(paper), cells, [], {"results": "those committed"})
    single = next((cell for cell in cells if cell.mean is not None and cell.std is None), None)
    assert page.count("<table") > len({(cell.dataset, cell.metric) for cell in cells}) / 2
    assert single is None or f"{single.mean:.1f}" in page

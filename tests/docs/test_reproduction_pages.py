"""The pages of the papers come from the committed tables."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from partwise.experiments import paper_names, read_cells

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)


def test_pages_are_up_to_date():
    from docs.reproduction import pages

    everything = []
    for name in paper_names():
        cells = read_cells(ROOT / "results" / f"{name}.csv")
        everything += cells
        page = (pages.HERE / f"{name}.md").read_text("utf-8")
        assert page == pages.paper_page(name, cells).rstrip() + "\n", "Run python -m docs.reproduction."
    assert (pages.HERE / "README.md").read_text("utf-8") == pages.summary_page(everything).rstrip() + "\n"


def test_headline_numbers():
    """CNMF on Yale, from the committed table by hand."""
    from docs.reproduction import headline

    cells = [c for c in read_cells(ROOT / "results" / "cnmf.csv") if (c.dataset, c.metric) == ("Yale", "accuracy")]
    single = {(c.method, c.n_clusters): c for c in cells if c.n_clusters != "Avg"}
    ks = [k for method, k in single if method == "CNMF"]
    printed = sum(single["CNMF", k].printed_mean for k in ks) / len(ks)
    means = [sum(single[method, k].mean for k in ks) / len(ks) for method in ("CNMF", "partwise")]
    assert headline.accuracies("cnmf")["CNMF", "Yale"] == pytest.approx((printed, *means))
    assert {"CNMF", "GNMF", "NLCF"} <= set(headline.all_accuracies())


def test_every_short_cell_has_a_reason():
    from docs.reproduction import closing

    short = {(m, c.dataset) for _, m, cells in closing.own_cells() for c in cells if c.verdict == "short"}
    assert short <= set(closing.REASONS)
    assert set(closing.shares([])) == {"0", "–", "0 of 0"}


def test_fresh_draws_agree_within_two_errors():
    from docs.reproduction import fresh

    one, other, far = (SimpleNamespace(mean=mean, error=3.0) for mean in (50.0, 58.0, 59.0))
    assert fresh.agrees(one, other)
    assert not fresh.agrees(one, far)
    for name in paper_names():
        assert all(c.repeats >= 5 and f.repeats >= 5 and c.metric == f.metric for c, f in fresh.pairs(name))

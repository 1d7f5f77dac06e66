"""The registry of the papers' methods."""

import csv
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans

import partwise
from partwise import methods
from partwise.experiments import load_protocol, paper_names

TABLES = Path(__file__).parents[3] / "shared" / "papers" / "tables.csv"


@pytest.mark.skipif(not TABLES.exists(), reason="the papers' tables are not here")
def test_every_method_of_the_tables_is_there():
    with TABLES.open() as file:
        pairs = {(row["paper"], row["method"]) for row in csv.DictReader(file)}
    assert pairs
    for paper, name in pairs:
        assert methods.method(name, paper).paper == paper


@pytest.mark.parametrize("entry", methods.METHODS, ids=lambda entry: f"{entry.paper}-{entry.name}")
def test_entries_make_estimators(entry):
    if entry.estimator != "KMeans" and not hasattr(partwise, entry.estimator):
        pytest.skip(f"partwise.{entry.estimator} does not exist yet")
    model = entry(3, random_state=0)
    assert isinstance(model, BaseEstimator)
    # Wrong names and values of parameters would show here.
    model._validate_params()
    for name, value in entry.settings.items():
        assert getattr(model, name) == value


def test_names_that_mean_different_things():
    with pytest.raises(ValueError, match=r"(?s)ConstrainedNMF.*ConvexNMF"):
        methods.method("CNMF")
    with pytest.raises(ValueError, match=r"(?s)'GNMF' it is NMF\(weighting='ncut'\).*'LLNMF' it is NMF\(\)"):
        methods.method("NMF")
    assert methods.method("CNMF", paper="CNMF").estimator == "ConstrainedNMF"
    assert methods.method("cnmf", paper="rls nmf").estimator == "ConvexNMF"


def test_names_that_mean_the_same_need_no_paper():
    assert methods.method("GNMF").paper == "GNMF"
    assert methods.method("SNMF").estimator == methods.method("Semi-NMF").estimator == "SemiNMF"
    assert isinstance(methods.method("k-means")(4), KMeans)


@pytest.mark.parametrize("paper", paper_names())
def test_settings_are_those_with_which_the_tables_are_measured(paper):
    protocol = load_protocol(paper)
    for name in methods.names(protocol.paper):
        entry, plan = methods.method(name, protocol.paper), protocol.methods[name]
        assert (entry.estimator, entry.start) == (plan.estimator, plan.start)
        measured = [setting for dataset in protocol.datasets for setting in plan.settings(dataset)]
        assert all(setting.items() >= dict(entry.settings).items() for setting in measured)


def test_starts_that_no_estimator_has():
    X = np.random.RandomState(0).uniform(size=(20, 8))
    entry = methods.method("GNMF", paper="GNMF")
    W, H = entry.starting_point(X, 3, seed=1)
    assert W.shape == (20, 3)
    np.testing.assert_allclose(np.linalg.norm(H, axis=1), 1)
    assert entry(3, init=(W, H)).fit(X).n_iter_ == 100
    assert methods.method("CNMF", paper="CNMF").starting_point(X, 3) is None


def test_changes_and_what_cannot_be_changed():
    entry = methods.method("GNMF", paper="GNMF")
    assert entry(3, max_iter=7).max_iter == 7
    with pytest.raises(TypeError):
        entry.settings["graph_strength"] = 1.0


@pytest.mark.parametrize(
    ("name", "paper", "message"),
    [("PCA", None, "no method 'PCA' in any paper"), ("NTF", "GNMF", "there are Kmeans"), ("NMF", "SVD", "no paper")],
)
def test_unknown_names(name, paper, message):
    with pytest.raises(ValueError, match=message):
        methods.method(name, paper)


def test_semi_supervised_entry_uses_labels():
    assert methods.method("SemiGNMF")(2).use_labels
    assert methods.names("GNMF") == ["Kmeans", "LSI+Kmeans", "NMF", "GNMF"]
    assert "RLS-NMF" in methods.papers()

"""New samples linked to training samples that are not in memory: as if they were, also in a model that was saved."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import partwise
from partwise import NMF, GraphNMF
from partwise.blocks import ArrayRows, NpyFile
from partwise.graphs import neighbors, pairs

rng = np.random.default_rng(0)
X = rng.gamma(1.0, size=(400, 5)) @ rng.gamma(0.3, size=(5, 30))
NEW = rng.gamma(1.0, size=(40, 5)) @ rng.gamma(0.3, size=(5, 30))


class Rows:
    """Any rows of an array or a sparse matrix."""

    def __init__(self, data):
        self.data, self.shape, self.dtype = data, data.shape, data.dtype

    def rows(self, start, stop):
        return self.data[start:stop]

    def blocks(self):
        yield self.data


def method(**parameters):
    return GraphNMF(3, graph_strength=5.0, random_state=0, max_iter=8, tol=0, **parameters)


HEAT = {"metric": "euclidean", "edge_weights": "heat"}


@pytest.mark.parametrize("parameters", [{}, HEAT, {"edge_weights": "cosine"}])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_few_samples_are_searched_exactly(parameters, container):
    held, read = method(**parameters).fit(container(X)), method(**parameters).fit(Rows(container(X)))
    np.testing.assert_allclose(read.transform(NEW), held.transform(NEW), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(read.transform(Rows(NEW)), held.transform(NEW), rtol=1e-6, atol=1e-9)
    # The graph matters: without it codes differ.
    plain = NMF(3, random_state=0, max_iter=8, tol=0).fit(X)
    plain.components_ = held.components_
    assert np.abs(plain.transform(NEW) - held.transform(NEW)).max() > 0.01 * held.transform(NEW).max()


@pytest.mark.parametrize("parameters", [{}, HEAT])
def test_many_samples_are_searched_by_cells(parameters, monkeypatch):
    monkeypatch.setattr(neighbors, "LEAST_ROWS", 100)
    monkeypatch.setattr(neighbors, "HELD_BYTES", 10_000)
    monkeypatch.setattr(pairs, "HELD_BYTES", 10_000)
    parameters |= {"neighbors_method": "approximate"}
    held, read = method(**parameters).fit(X), method(**parameters).fit(Rows(X))
    assert read.graph_method_ == "cells"
    np.testing.assert_allclose(read.transform(NEW), held.transform(NEW), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("way", ["saved", "pickled"])
def test_a_model_that_was_saved_asks_for_its_samples(way, tmp_path):
    np.save(tmp_path / "X.npy", X)
    model = method().fit(NpyFile(tmp_path / "X.npy"))
    codes = model.transform(NEW)
    if way == "saved":
        model.save(tmp_path / "model.npz")
        again = partwise.load(tmp_path / "model.npz")
    else:
        again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.labels_, model.labels_)
    with pytest.raises(ValueError, match=r"Give them again, .* model\.attach\(X\)"):
        again.transform(NEW)
    with pytest.raises(ValueError, match="These are not the samples"):
        again.attach(ArrayRows(2 * X))
    with pytest.raises(TypeError, match="attach takes data that are not in memory"):
        again.attach(X)
    # The same samples from another place; attached models can be saved again.
    np.testing.assert_array_equal(again.attach(Rows(X)).transform(NEW), codes)
    again.save(tmp_path / "again.npz")
    np.testing.assert_array_equal(partwise.load(tmp_path / "again.npz").attach(Rows(X)).transform(NEW), codes)


def test_other_units_and_models_that_need_nothing(tmp_path):
    large = method().fit(Rows(X * 2.0**400))
    large.save(tmp_path / "large.npz")
    again = partwise.load(tmp_path / "large.npz").attach(Rows(X * 2.0**400))
    np.testing.assert_array_equal(again.transform(NEW * 2.0**400), large.transform(NEW * 2.0**400))
    with pytest.raises(ValueError, match="has all that it needs"):
        method().fit(X).attach(Rows(X))

"""Estimators that learn from batches."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits

import partwise
from partwise import NMF, ConstrainedNMF, GraphNMF, LocalCoordinateNMF
from partwise.blocks import ArrayRows
from partwise.callbacks import Checkpoint
from partwise.testing import all_estimators

RNG = np.random.RandomState(0)
X = RNG.gamma(1.0, size=(240, 3)) @ RNG.gamma(0.5, size=(3, 12)) + 0.2 * RNG.uniform(size=(240, 12))
Y = np.where(RNG.uniform(size=240) < 0.3, RNG.randint(3, size=240), -1)
HOLES = np.where(RNG.uniform(size=X.shape) < 0.1, np.nan, X)
SPARSE = sp.csr_array(np.where(X > 0.5, X, 0))
KNOWN = RNG.gamma(0.5, size=(1, 12))

CASES = {
    "squared error": (NMF(), X),
    "float32": (NMF(), X.astype(np.float32)),
    "sparse": (NMF(), SPARSE),
    "Kullback-Leibler": (NMF(loss="kullback-leibler"), SPARSE),
    "Kullback-Leibler float32": (NMF(loss="kullback-leibler"), X.astype(np.float32)),
    "Itakura-Saito": (NMF(loss="itakura-saito"), X),
    "beta 1.5": (NMF(loss=1.5), X),
    "missing": (NMF(missing="nan"), HOLES),
    "missing Kullback-Leibler": (NMF(missing="nan", loss="kullback-leibler"), HOLES),
    "l1 codes": (NMF(l1_codes=0.1), X),
    "both factors": (NMF(l1_codes=0.1, l2_components=0.1), X),
    "fixed": (NMF(fixed_components=KNOWN), X),
    "seeds": (NMF(seed_components=KNOWN), X),
    "mask": (NMF(component_mask=np.arange(36).reshape(3, 12) % 5 > 0), X),
    "multiplicative": (NMF(solver="multiplicative"), X),
    "local coordinates": (LocalCoordinateNMF(coordinate_strength=0.1), X),
    "local coordinates Kullback-Leibler": (LocalCoordinateNMF(coordinate_strength=0.1, loss="kullback-leibler"), X),
    "classes": (ConstrainedNMF(), X),
    "classes Kullback-Leibler": (ConstrainedNMF(loss="kullback-leibler"), X),
}


def new(model, **params):
    return clone(model).set_params(n_components=3, random_state=0, **params)


def batches(model, data, size, labels=Y):
    """The arguments of every call."""
    for start in range(0, data.shape[0], size):
        rows = slice(start, start + size)
        more = {"classes": [0, 1, 2]} if isinstance(model, ConstrainedNMF) else {}
        yield (data[rows], labels[rows]), more


def stream(model, data, size=40, passes=2, **params):
    model = new(model, **params)
    for _ in range(passes):
        for given, more in batches(model, data, size):
            model.partial_fit(*given, **more)
    return model


def fitted(model, data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return new(model).fit(data, Y)


@pytest.mark.parametrize("name", CASES)
def test_batches_end_near_the_fit(name):
    model, data = CASES[name]
    found, whole = stream(model, data), fitted(model, data)
    assert found.score(data) > 1.15 * whole.score(data)
    assert found.components_.dtype == data.dtype
    assert found.embedding_.shape == (40, 3)
    assert found.labels_.shape == (40,)
    assert found.transform(data).shape == (240, 3)
    assert set(found.predict(data)) <= {0, 1, 2}
    assert (found.n_samples_seen_, found.n_steps_) == (480, 12)
    assert found.scale_ == whole.scale_
    if "fixed" in name:
        np.testing.assert_array_equal(found.components_[0], KNOWN[0])
    if "mask" in name:
        assert (found.components_[~model.component_mask] == 0).all()


@pytest.mark.parametrize("name", CASES)
def test_one_batch_is_a_fit(name):
    model, data = CASES[name]
    found, whole = stream(model, data, size=240, passes=1), fitted(model, data)
    np.testing.assert_array_equal(found.components_, whole.components_, strict=True)
    np.testing.assert_array_equal(found.embedding_, whole.embedding_, strict=True)
    assert found.objective_ == whole.objective_
    assert found.reconstruction_err_ == whole.reconstruction_err_


@pytest.mark.parametrize("name", ["squared error", "l1 codes", "local coordinates", "classes"])
def test_without_forgetting_the_objective_stands_for_all_samples(name):
    model, data = CASES[name]
    # All samples are seen twice and count twice.
    found, whole = stream(model, data, forget_factor=1.0), fitted(model, data)
    assert found.objective_ == pytest.approx(2 * whole.objective_, rel=0.15)
    assert stream(model, data).objective_ == pytest.approx(2 * whole.objective_, rel=0.15)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("passes", [1, 3])
def test_a_saved_model_continues_where_it_was(name, passes, tmp_path):
    model, data = CASES[name]
    # With batches of 10, the first pass ends before or after the start is complete.
    one = stream(model, data[: 10 * passes * 3], size=10, passes=1)
    one.save(tmp_path / "model.npz")
    others = [partwise.load(tmp_path / "model.npz"), pickle.loads(pickle.dumps(one))]
    for given, more in batches(model, data[100:], 60, Y[100:]):
        one.partial_fit(*given, **more)
        for other in others:
            other.partial_fit(*given, **more)
    for other in others:
        np.testing.assert_array_equal(other.components_, one.components_, strict=True)
        assert other.n_samples_seen_ == one.n_samples_seen_
    assert not hasattr(clone(one), "_streamed")


@pytest.mark.parametrize("name", ["squared error", "Kullback-Leibler", "beta 1.5", "missing", "classes"])
@pytest.mark.parametrize("exponent", [3, -5])
def test_the_unit_of_the_data_changes_nothing(name, exponent):
    model, data = CASES[name]
    unit = 4.0**exponent
    one, other = stream(model, data), stream(model, unit * data)
    np.testing.assert_array_equal(one.components_, other.components_)
    np.testing.assert_array_equal(unit * one.embedding_, other.embedding_)


@pytest.mark.parametrize("exponent", [140, -140])
def test_data_of_any_size(exponent):
    unit = 4.0**exponent
    one, other = stream(NMF(), X), stream(NMF(), unit * X)
    np.testing.assert_array_equal(one.components_, other.components_)
    np.testing.assert_array_equal(unit * one.transform(X[:5]), other.transform(unit * X[:5]))
    with pytest.raises(ValueError, match="Scale X as those data were scaled"):
        other.partial_fit(X / unit)


def broken(kind):
    bad = X[:40].copy()
    if kind == "negative":
        bad[3, 3] = -1
    elif kind == "nan":
        bad[3, 3] = np.nan
    elif kind == "infinite":
        bad[3, 3] = np.inf
    elif kind == "narrow":
        bad = bad[:, :-1]
    elif kind == "empty":
        bad = bad[:0]
    return bad


@pytest.mark.parametrize("kind", ["negative", "nan", "infinite", "narrow", "empty"])
@pytest.mark.parametrize("seen", [0, 40, 120])
def test_a_bad_batch_leaves_the_model_as_it_was(kind, seen):
    model = new(NMF())
    if seen:
        model.partial_fit(X[:seen])
    before = dict(vars(model))
    if kind == "narrow" and not seen:
        return
    with pytest.raises(ValueError, match=r"Negative|NaN|infinity|features|0 sample"):
        model.partial_fit(broken(kind))
    assert vars(model) == before or all(vars(model)[name] is value for name, value in before.items())


def test_feature_names_are_checked():
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(12)])
    model = new(NMF()).partial_fit(frame[:100])
    assert list(model.feature_names_in_) == list(frame.columns)
    with pytest.raises(ValueError, match="feature names"):
        model.partial_fit(frame[100:][frame.columns[::-1]])
    model.partial_fit(frame[100:])
    assert model.n_steps_ == 2


@pytest.mark.parametrize("name", ["squared error", "Kullback-Leibler", "missing", "local coordinates", "classes"])
def test_batches_smaller_than_the_number_of_components(name):
    model, data = CASES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = stream(model, data[:100], size=2)
    whole = fitted(model, data)
    assert found.score(data) > 1.5 * whole.score(data)


def test_small_batches_of_counts_end_near_the_fit():
    """Ten batches of counts with rare features; if none were fitted again, they would end 0.7 % above it."""
    rng = np.random.RandomState(0)
    H = np.where(rng.uniform(size=(6, 900)) < 0.25, rng.gamma(0.5, size=(6, 900)), 0) + 0.002
    counts = rng.poisson(0.2 * rng.gamma(0.3, size=(900, 6)) @ H).astype(float)
    counts = sp.csr_array(counts[counts.sum(axis=1) > 0])
    model = NMF(6, loss="kullback-leibler", random_state=0)
    whole, found = clone(model).fit(counts), clone(model)
    for _ in range(2):
        for start in range(0, counts.shape[0], 80):
            found.partial_fit(counts[start : start + 80])
    assert found.score(counts) > 1.0056 * whole.score(counts)


def test_components_of_a_stream_of_counts_begin_without_zeros():
    """The fewer of the first samples have a feature, the more a component has of the mean sample there."""
    counts = np.random.RandomState(0).poisson(X / X.mean()).astype(float)
    counts[:, 3] = 0
    counts[:5, 3], counts[:, 4] = 1, 0
    model = new(NMF(loss="kullback-leibler", component_mask=np.arange(36).reshape(3, 12) % 5 > 0))
    model.partial_fit(counts)
    fitted, begun = model.components_, model._streamed.stream.Ht.T
    assert (fitted == 0).sum() > (begun == 0).sum()
    assert (begun[model.component_mask] > 0).all()
    assert (begun[~model.component_mask] == 0).all()
    change = np.abs(begun - fitted) / fitted.mean()
    assert change[:, 5:].max() < 0.1
    again = new(model).partial_fit(16 * counts)._streamed.stream.Ht.T
    np.testing.assert_allclose(again / again.sum(), begun / begun.sum(), rtol=1e-6)
    squares = new(NMF()).partial_fit(counts)
    np.testing.assert_allclose(squares._streamed.stream.Ht.T, squares.components_)


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler", 1.5])
@pytest.mark.parametrize("kind", [np.array, sp.csr_array])
@pytest.mark.filterwarnings("ignore:.*not used by any sample")
def test_samples_without_entries_do_not_begin_a_stream(loss, kind):
    model, other = (NMF(2, loss=loss, random_state=0) for _ in range(2))
    for _ in range(3):
        model.partial_fit(kind(np.zeros((50, X.shape[1]))))
        assert np.isfinite(model.components_).all()
    # They are not all kept.
    assert len(model._streamed.early.X.indptr if kind is sp.csr_array else model._streamed.early.X) < 100
    for start in range(0, 240, 40):
        model.partial_fit(kind(X[start : start + 40]))
        other.partial_fit(kind(X[start : start + 40]))
    assert model.score(X) == pytest.approx(other.score(X), rel=0.02)


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
@pytest.mark.filterwarnings("ignore:.*not used by any sample")
def test_few_samples_follow_samples_without_entries(loss):
    model = NMF(2, loss=loss, random_state=0)
    model.partial_fit(np.zeros((30, X.shape[1])))
    for start in range(0, 120, 5):
        model.partial_fit(X[start : start + 5])
        assert np.isfinite(model.components_).all()
    assert model.components_.sum() > 0


def test_the_latest_batches_are_fitted_again_if_they_are_small():
    """Only where what is remembered depends on the components; a copy that nobody can change is kept."""
    model, given = new(NMF(loss="kullback-leibler"), init="random"), X.copy()
    for start in range(0, 240, 40):
        model.partial_fit(given[start : start + 40])
    assert [part.X.shape[0] for part in model._streamed.held] == [40, 40, 40]
    other = clone(model)
    for start in range(0, 240, 40):
        batch = given[start : start + 40].copy()
        other.partial_fit(batch)
        batch[:] = np.nan
    np.testing.assert_array_equal(other.components_, model.components_)
    model.partial_fit(np.concatenate([X, X]))
    assert model._streamed.held == ()
    assert stream(NMF(), X)._streamed.held == ()
    assert stream(ConstrainedNMF(loss="kullback-leibler"), X)._streamed.held == ()


def test_sparse_and_dense_batches_alternate():
    dense = SPARSE.toarray()
    model, other = new(NMF()), new(NMF())
    for number, start in enumerate(range(0, 240, 20)):
        rows = slice(start, start + 20)
        model.partial_fit(SPARSE[rows] if number % 2 else dense[rows])
        other.partial_fit(dense[rows])
    np.testing.assert_allclose(model.components_, other.components_, rtol=1e-4, atol=1e-6)


def test_a_later_batch_of_another_precision_is_converted():
    model = new(NMF()).partial_fit(X[:120].astype(np.float32)).partial_fit(X[120:])
    assert model.components_.dtype == model.embedding_.dtype == np.float32


@pytest.mark.parametrize("forget_factor", [1.0, 0.9])
def test_a_weight_counts_as_repetition(forget_factor):
    weight = RNG.randint(1, 4, size=240)
    one, other = (new(NMF(), forget_factor=forget_factor) for _ in range(2))
    for start in range(0, 240, 80):
        rows = slice(start, start + 80)
        one.partial_fit(X[rows], sample_weight=weight[rows])
        other.partial_fit(np.repeat(X[rows], weight[rows], axis=0))
    # Starts from singular vectors differ in signs only where values are tied.
    assert one.score(X) == pytest.approx(other.score(X), rel=1e-2)


def test_forgetting_follows_data_that_drift():
    late = np.roll(X, 5, axis=1)
    scores = []
    for factor in (1.0, 0.3):
        model = new(NMF(), forget_factor=factor)
        for data in (X, X, X, late, late, late):
            model.partial_fit(data)
        scores.append(model.score(late))
    assert scores[1] > scores[0]


def test_a_fit_ends_the_stream_and_batches_continue_a_fit():
    model = new(NMF()).partial_fit(X[:80]).fit(X)
    np.testing.assert_array_equal(model.components_, fitted(NMF(), X).components_)
    assert not hasattr(model, "n_samples_seen_")
    near = model.components_.copy()
    model.partial_fit(X[:200])
    assert model.n_samples_seen_ == 200
    assert np.abs(model.components_ - near).max() < 0.1
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :5])


def test_what_is_open_is_chosen_with_the_first_batch():
    model = NMF("auto", random_state=0)
    for start in range(0, 240, 80):
        model.partial_fit(X[start : start + 80])
    assert model.n_components_ == model.selection_.choice["n_components"]
    assert len(model.components_) == model.n_components_
    assert LocalCoordinateNMF(3, random_state=0).partial_fit(X).partial_fit(X).n_steps_ == 2


REFUSED = {
    "cut": (NMF(weighting="ncut"), "compares every sample"),
    "Huber": (NMF(loss="huber"), "squared error or a β-divergence"),
    "start": (NMF(init=(np.ones((240, 3)), np.ones((3, 12)))), "one batch at a time"),
    "components": (NMF(l1_components=0.1), "Penalise the codes as well"),
    "graph": (LocalCoordinateNMF(coordinate_strength=0.1, graph_strength=1.0), "ties the codes"),
    "factor": (NMF(forget_factor=1.5), "forget_factor"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_learn_from_batches_says_so(name):
    model, sentence = REFUSED[name]
    model = new(model)
    with pytest.raises(ValueError, match=sentence):
        model.partial_fit(X)
    assert not hasattr(model, "components_")


def test_only_methods_that_can_have_the_attribute():
    able = {name for name, kind in all_estimators().items() if hasattr(kind(3), "partial_fit")}
    assert able == {"NMF", "LocalCoordinateNMF", "ConstrainedNMF"}
    assert not hasattr(GraphNMF(), "fit_batches")


def test_the_number_of_components_stays():
    model = new(NMF()).partial_fit(X)
    with pytest.raises(ValueError, match="began with 3"):
        model.set_params(n_components=4).partial_fit(X)


def test_classes_share_their_code_across_batches():
    digits, classes = load_digits(return_X_y=True)
    some = np.where(np.arange(len(classes)) % 4 == 0, classes, -1)
    names = np.array([f"digit {c}" for c in range(10)], object)
    model = ConstrainedNMF(10, random_state=0, forget_factor=1.0)
    given = [names[c] if c >= 0 else -1 for c in some]
    for start in range(0, 1797, 300):
        model.partial_fit(digits[start : start + 300], given[start : start + 300], classes=names)
    assert list(model.classes_) == sorted(names)
    weights = model._streamed.standing.weight
    np.testing.assert_allclose(weights, np.bincount(some[some >= 0]))
    means = model._streamed.standing.X
    for c in range(10):
        np.testing.assert_allclose(means[c], digits[some == c].mean(axis=0))
    hidden = some < 0
    assert (model.predict_classes(digits[hidden]) == names[classes[hidden]]).mean() > 0.75
    last = some[1500:]
    assert len(np.unique(model.embedding_[last == 3], axis=0)) == 1
    known = last >= 0
    np.testing.assert_array_equal(model.transduction_[known], names[last[known]])


def test_classes_are_declared_with_the_first_labels():
    with pytest.raises(ValueError, match="Give all classes with the first batch"):
        new(ConstrainedNMF()).partial_fit(X, np.where(Y == 2, -1, Y)).partial_fit(X, Y)
    model = new(ConstrainedNMF()).partial_fit(X)
    assert not hasattr(model, "classes_")
    model.partial_fit(X, Y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="not among those of the first"):
        model.partial_fit(X[:2], [7, 0])
    with pytest.raises(ValueError, match="differ from those"):
        model.partial_fit(X, Y, classes=[0, 1])
    with pytest.raises(ValueError, match="every class once"):
        new(ConstrainedNMF()).partial_fit(X, Y, classes=[0, 1, 1])


def test_a_stream_is_read_once():
    parts = (X[start : start + 60] for start in range(0, 240, 60))
    model = new(NMF()).partial_fit(X[:10]).fit_batches(parts)
    other = stream(NMF(), X, size=60, passes=1)
    np.testing.assert_array_equal(model.components_, other.components_)
    assert model.n_steps_ == 4
    named = new(ConstrainedNMF()).fit_batches(((X[i : i + 60], Y[i : i + 60]) for i in (0, 60)), classes=[0, 1, 2])
    assert named.n_samples_seen_ == 120


def test_what_was_learned_is_kept_when_the_iterator_fails():
    def failing():
        yield X[:80]
        yield X[80:160]
        raise OSError("The disk is gone.")

    model = new(NMF())
    with pytest.raises(OSError, match="disk is gone"):
        model.fit_batches(failing())
    assert model.n_samples_seen_ == 160
    assert model.transform(X).shape == (240, 3)

    with pytest.raises(ValueError, match="Negative") as error:
        new(NMF()).fit_batches([X[:80], -X[80:]])
    assert "batch 2" in error.value.__notes__[0]
    with pytest.raises(ValueError, match="There is no batch"):
        new(NMF()).fit_batches([])
    with pytest.raises(TypeError, match="read_csv"):
        new(NMF()).fit_batches("large.csv")


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, sp.csr_array, pd.DataFrame, ArrayRows])
def test_one_table_is_not_taken_for_batches(kind):
    with pytest.raises(TypeError, match=r"that holds all samples, not an iterable of batches\. Give its parts"):
        new(NMF()).fit_batches(kind(X))


def test_what_gives_no_batches_and_what_does():
    for given in (3, None):
        with pytest.raises(TypeError, match=f"batches is {given}, not an iterable of batches"):
            new(NMF()).fit_batches(given)
    parts = np.stack([X[:60], X[60:120]])

    class Source(ArrayRows):
        def __iter__(self):
            return iter(parts)

    for given in (parts, list(parts), Source(X[:120])):
        assert new(NMF()).fit_batches(given).n_steps_ == 2


def test_callbacks_hear_of_batches_and_may_end_the_stream():
    heard = []

    def listen(progress):
        heard.append((progress.sweep, progress.max_iter))
        return progress.sweep == 2

    parts = [X[:80], X[80:160], X[160:]]
    model = new(NMF(), callbacks=listen).fit_batches(parts)
    assert heard == [(1, 3), (2, 3)]
    assert model.n_steps_ == 2

    def press(progress):
        raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="learned from 1 batches"):
        model = new(NMF(), callbacks=press).fit_batches(iter(parts))
    assert model.n_samples_seen_ == 80
    with pytest.raises(ValueError, match="save the model in between"):
        new(NMF(), callbacks=Checkpoint("unused.npz")).fit_batches(parts)

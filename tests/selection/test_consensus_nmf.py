"""The components that many fits agree on, as an estimator."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

import partwise
from partwise import NMF, GraphNMF, GroupNMF, SemiNMF, terms
from partwise.estimators import intervals
from partwise.graphs import find_neighbors
from partwise.plots import StabilityDisplay
from partwise.selection import ConsensusNMF
from partwise.selection.programs import Programs, TooFewAgree
from partwise.selection.rank_stability import compared
from partwise.selection.ranks import EntryValidation

RNG = np.random.RandomState(0)
TRUTH = RNG.gamma(0.3, size=(4, 40))
TRUTH /= np.linalg.norm(TRUTH, axis=1, keepdims=True)
X = RNG.poisson(20 * RNG.gamma(0.5, size=(300, 4)) @ TRUTH).astype(float)
PLAIN = ConsensusNMF(NMF(4, tol=1e-4), n_replicates=8, random_state=0)


def found(components):
    """How well the worst of the planted components is found."""
    return (TRUTH @ components.T).max(axis=1).min()


@pytest.mark.parametrize("resample", [None, "samples", "counts"])
@pytest.mark.parametrize(
    "estimator",
    [NMF(4), NMF(4, loss="kullback-leibler"), GraphNMF(4, graph_strength=0.1)],
    ids=["squared error", "Kullback-Leibler", "graph"],
)
def test_planted_components_are_found(estimator, resample):
    model = ConsensusNMF(clone(estimator).set_params(tol=1e-4), n_replicates=8, resample=resample, random_state=0)
    for data in (X, sp.csr_array(X)):
        model.fit(data)
        assert found(model.components_) > 0.95
        assert (model.stability_ > 0.7).all()
        assert model.embedding_.shape == (300, 4)
        np.testing.assert_array_equal(model.estimator_.components_, model.components_)


def test_resampled_components_vary():
    plain, varied = (clone(PLAIN).set_params(resample=resample).fit(X) for resample in (None, "samples"))
    width = [(model.components_high_ - model.components_low_).mean() for model in (plain, varied)]
    assert width[1] > width[0]
    assert ((varied.components_low_ <= TRUTH.max()) & (varied.components_high_ >= 0)).all()


def test_the_same_seed_gives_the_same_result():
    one, other = clone(PLAIN).fit(X), clone(PLAIN).fit(X)
    np.testing.assert_array_equal(one.components_, other.components_)
    np.testing.assert_array_equal(one.embedding_, other.embedding_)


def test_the_number_of_components_is_found_and_drawn():
    model = ConsensusNMF(NMF(loss="kullback-leibler", tol=1e-4), [3, 4, 5], n_replicates=8, random_state=0).fit(X)
    assert model.n_components_ == model.rank_stability_.chosen == 4
    assert "<strong>4</strong>" in model.rank_stability_._repr_html_()
    display = StabilityDisplay.from_estimator(model)
    assert display.ax_.get_xlabel() == "number of components"
    assert len(display.figure_.axes) == 2


def test_the_number_of_unequal_components_is_found():
    """Six programs, the last a fifth as abundant as the first, and two counts per entry."""
    rng = np.random.RandomState(2)
    truth = rng.gamma(0.3, size=(6, 60))
    mean = (rng.gamma(0.5, size=(250, 6)) * np.geomspace(1, 0.2, 6)) @ (truth / truth.sum(axis=1, keepdims=True))
    counts = rng.poisson(2 * mean / mean.mean()).astype(float)
    method = NMF(loss="kullback-leibler", tol=1e-3)
    assert ConsensusNMF(method, [4, 6, 7], n_replicates=5, n_splits=3, random_state=0).fit(counts).n_components_ == 6


@pytest.mark.parametrize(
    ("stabilities", "chosen"),
    [
        ((0.99, 0.95, 0.92, 0.8, 1.0), 4),  # about as stable as three
        ((0.99, 0.95, 0.8, 0.92, 1.0), 5),
        ((0.99, 0.95, 0.8, 0.8, 1.0), 3),
        ((0.99, np.nan, 0.5, 0.4, 1.0), 4),  # fits with three do not agree
    ],
)
def test_the_largest_stable_number_that_predicts_is_taken(stabilities, chosen):
    # Three, four and five components predict about as well; two and six do not.
    splits = np.array([[9.0, 9.1, 9.0], [1.0, 1.2, 1.1], [1.1, 1.0, 1.1], [1.0, 1.3, 1.05], [3.0, 3.1, 3.0]])
    programs = {k + 2: _programs(stability) for k, stability in enumerate(stabilities)}
    assert compared(programs, EntryValidation(np.arange(2, 7), splits)).chosen == chosen


def _programs(stability):
    if np.isnan(stability):
        return TooFewAgree("The fits do not agree.")
    nothing = np.zeros((1, 1))
    ones = np.ones(1)
    return Programs(nothing, nothing, nothing, ones, np.array([stability]), 0 * ones, ones, ones, ones, ones)


def test_a_graph_is_left_out_of_predictions_and_found_once(monkeypatch):
    searches = []
    monkeypatch.setattr(terms.graph, "find_neighbors", lambda *given: searches.append(1) or find_neighbors(*given))
    graph = ConsensusNMF(GraphNMF(graph_strength=0.1, tol=1e-3), [3, 4], n_replicates=4, n_splits=2, random_state=0)
    graph.set_params(resample="samples").fit(X)
    # Once for all replicates, and once for the codes.
    assert len(searches) == 2
    plain = clone(graph).set_params(estimator=NMF(tol=1e-3)).fit(X)
    np.testing.assert_allclose(graph.rank_stability_.loss, plain.rank_stability_.loss, rtol=1e-9)


@pytest.mark.filterwarnings("ignore:.*are not used by any sample")
def test_fits_that_do_not_agree_are_reported_with_the_evidence():
    # Three components of a matrix of rank one are arbitrary.
    line = np.outer(np.linspace(1, 2, 20), np.ones(6))
    with pytest.warns(UserWarning, match=r"do not agree on .* Give several numbers of components"):
        ConsensusNMF(NMF(3, tol=1e-3), n_replicates=8, density_threshold=np.inf, random_state=0).fit(line)
    noise = RNG.uniform(size=(40, 12))
    few = ConsensusNMF(NMF(2, tol=1e-4), [2, 10], n_replicates=4, density_threshold=0.05, random_state=0).fit(noise)
    assert few.n_components_ == 2
    assert np.isnan(few.rank_stability_.stability[1])
    assert few.rank_stability_.in_words.startswith("2 components are the most stable")
    with pytest.raises(ValueError, match="Give several numbers of components"):
        clone(few).set_params(n_components=[9, 10], density_threshold=1e-6).fit(noise)


def test_a_single_number_has_nothing_to_draw():
    with pytest.raises(ValueError, match="compared no numbers"):
        StabilityDisplay.from_estimator(clone(PLAIN).fit(X))


def test_a_scikit_learn_citizen(tmp_path):
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(40)])
    pipeline = make_pipeline(MaxAbsScaler(), clone(PLAIN)).fit(frame)
    codes = pipeline.transform(frame)
    assert codes.shape == (300, 4)
    assert pipeline.get_feature_names_out().tolist() == [f"consensusnmf{j}" for j in range(4)]
    assert pipeline.predict(frame).shape == (300,)
    assert pipeline.score(frame) < 0
    model = pickle.loads(pickle.dumps(pipeline))
    np.testing.assert_array_equal(model.transform(frame), codes)
    pipeline[-1].save(tmp_path / "model.npz")
    loaded = partwise.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.components_, pipeline[-1].components_)
    np.testing.assert_array_equal(loaded.stability_, pipeline[-1].stability_)
    np.testing.assert_array_equal(loaded.labels_, pipeline[-1].labels_)
    assert "ConsensusNMF" in loaded._repr_html_()
    assert clone(PLAIN).set_params(estimator__loss="kullback-leibler").estimator.loss == "kullback-leibler"
    assert pipeline[-1].inverse_transform(codes).shape == X.shape


def test_float32_stays():
    model = clone(PLAIN).fit(X.astype(np.float32))
    assert model.components_.dtype == model.embedding_.dtype == np.float32


def test_intervals_of_codes():
    model = clone(PLAIN).fit(X)
    for data in (X[:10], sp.csr_array(X[:10])):
        low, high = model.transform_intervals(data, n_resamples=20, random_state=0)
        codes = model.transform(data)
        assert (low <= high).all()
        assert ((low <= codes) & (codes <= high)).mean() > 0.8
    counts = ConsensusNMF(NMF(4, loss="kullback-leibler", tol=1e-4), n_replicates=5, random_state=0).fit(X)
    low, high = counts.transform_intervals(X[:10], n_resamples=20, random_state=0)
    assert ((low <= counts.transform(X[:10])) & (counts.transform(X[:10]) <= high)).mean() > 0.8


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_intervals_of_many_samples_are_made_in_blocks(make, monkeypatch):
    """What is in memory does not grow with resamples times samples; every block sees the same draws."""
    holes = make(np.where(RNG.uniform(size=X.shape) < 0.05, np.nan, X))
    model = NMF(4, missing="nan", tol=1e-3, random_state=0).fit(holes)
    whole = model.transform_intervals(holes, n_resamples=7, random_state=0)
    monkeypatch.setattr(intervals, "BLOCK_BYTES", 11 * 7 * 4 * 8)
    parts = model.transform_intervals(holes, n_resamples=7, random_state=0)
    np.testing.assert_allclose(parts, whole, atol=1e-6 * whole[1].max())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_replicates": 0}, "n_replicates=0 was given"),
        ({"n_replicates": 1}, "at least 2"),
        ({"n_replicates": True}, "whole number"),
        ({"estimator": SemiNMF(4)}, r"Use NMF\(\) or GraphNMF"),
        ({"estimator": GraphNMF(4)}, "graph_strength of the estimator is to be chosen"),
        ({"estimator": NMF(4, fixed_components=X[:1])}, "The estimator has fixed_components"),
        ({"n_components": 0}, "n_components=0"),
        ({"n_components": []}, "n_components"),
        ({"resample": "rows"}, "resample='rows'"),
        ({"best_share": 0}, "best_share=0"),
        ({"best_share": 0.5, "resample": "samples"}, "cannot be compared"),
        ({"n_bagged": -1}, "n_bagged=-1"),
        ({"n_bagged": 2.5}, "n_bagged=2.5"),
        ({"n_bagged": 5, "resample": "counts"}, "cannot be compared"),
        ({"estimator": GroupNMF(4)}, "components of groups"),
        ({"estimator": NMF(component_mask=np.ones((4, 40), bool)), "n_components": [4, 3]}, "component_mask"),
        ({"estimator": NMF(seed_components=TRUTH), "n_components": [4, 3]}, "4 seed_components"),
        ({"center": "mean"}, "center='mean'"),
        ({"density_threshold": 0}, "density_threshold=0"),
        ({"neighborhood": 0}, "neighborhood=0"),
        ({"level": 1}, "level=1"),
        ({"n_splits": 1}, "n_splits=1"),
        ({"density_threshold": 1e-9, "resample": "samples"}, "the fits hardly agree"),
    ],
    ids=repr,
)
def test_bad_parameters_are_refused_in_a_sentence(changes, message):
    with pytest.raises(ValueError, match=message):
        clone(PLAIN).set_params(**changes).fit(X)


def test_only_the_best_fits_count():
    whole = clone(PLAIN).fit(X)
    half = clone(PLAIN).set_params(best_share=0.5).fit(X)
    n = PLAIN.n_replicates
    assert len(half.best_replicates_) == round(n / 2)
    assert half.density_.shape == (len(half.best_replicates_) * len(half.components_),)
    np.testing.assert_array_equal(whole.best_replicates_, np.arange(n))
    np.testing.assert_array_equal(half.replicate_objectives_, whole.replicate_objectives_)
    others = np.delete(half.replicate_objectives_, half.best_replicates_)
    assert half.replicate_objectives_[half.best_replicates_].max() <= others.min()


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_means_over_weighted_samples_follow_noise_less(loss, make):
    rng = np.random.RandomState(1)
    noisy = make(rng.poisson(0.8 * rng.gamma(0.5, size=(150, 4)) @ (TRUTH / TRUTH.mean())).astype(float))
    plain = ConsensusNMF(NMF(4, loss=loss, tol=1e-4), n_replicates=10, random_state=0)
    medians, means = (clone(plain).set_params(n_bagged=n).fit(noisy) for n in (0, 20))
    scores = [(TRUTH @ model.components_.T).max(axis=1).mean() for model in (medians, means)]
    assert scores[1] > scores[0]
    # They are those that all else is said of.
    likeness = means.components_ @ medians.components_.T
    np.testing.assert_array_equal(likeness.argmax(axis=1), np.arange(4))
    np.testing.assert_array_equal(means.stability_, medians.stability_)
    np.testing.assert_array_equal(means.estimator_.components_, means.components_)
    again = clone(plain).set_params(n_bagged=20).fit(noisy)
    np.testing.assert_array_equal(again.components_, means.components_)


@pytest.mark.parametrize(
    "known", [{"seed_components": TRUTH[:2]}, {"component_mask": TRUTH > 1e-3}, {"seed_components": TRUTH}], ids=str
)
def test_replicates_may_be_told_about_components(known):
    """What they are told guides them; the codes need no more than the components that they agree on."""
    model = ConsensusNMF(NMF(4, tol=1e-4, **known), n_replicates=6, n_bagged=4, random_state=0).fit(X)
    assert found(model.components_) > 0.95
    assert model.estimator_.get_params()[next(iter(known))] is None


def test_a_class_is_no_estimator():
    with pytest.raises(ValueError, match="it must be an estimator"):
        ConsensusNMF(NMF).fit(X)


@pytest.mark.parametrize("by", [1e14, 1e200, 1e-12, 1e-200])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_draws_of_what_cannot_be_counts_are_refused(by, make):
    """Data that are fitted in another unit would be drawn in it, as counts of ordinary size."""
    with pytest.raises(ValueError, match=r"whose means are the entries of X, but .* Give counts"):
        ConsensusNMF(NMF(4), n_replicates=4, resample="counts").fit(make(by * X))


def test_fewer_distinct_components_than_clusters_are_refused():
    """Before any warning, of single fits, that components are not used."""
    with pytest.raises(ValueError, match="are copies of 1, too few for 2 clusters"):
        ConsensusNMF(NMF(2), n_replicates=4, random_state=0).fit(0 * X)


@pytest.mark.parametrize("resample", [None, "samples", "counts"])
def test_replicates_that_have_not_converged_are_reported_once(resample):
    method = ConsensusNMF(NMF(4, max_iter=3, tol=1e-9), n_replicates=5, resample=resample, random_state=0)
    with pytest.warns(ConvergenceWarning) as caught:
        method.fit(X)
    sentences = [str(each.message) for each in caught]
    assert sum("5 of 5 fits have not converged to tol=1e-09 after 3 sweeps" in each for each in sentences) == 1


def test_bad_data_and_intervals_are_refused():
    with pytest.raises(ValueError, match="resample='counts' draws every entry"):
        ConsensusNMF(NMF(4, missing="nan"), n_replicates=4, resample="counts").fit(np.where(X == 7, np.nan, X))
    model = clone(PLAIN).fit(X)
    for n_resamples in (1, 2.5, True, None, "many"):
        with pytest.raises(ValueError, match=f"n_resamples={n_resamples!r}"):
            model.transform_intervals(X, n_resamples=n_resamples)
    for level in (2, 0, "high", None):
        with pytest.raises(ValueError, match=f"level={level!r}"):
            model.transform_intervals(X, level=level)
    graph = clone(PLAIN).set_params(estimator=GraphNMF(4, graph_strength=0.1, tol=1e-4)).fit(X)
    with pytest.raises(ValueError, match="gives no intervals"):
        graph.transform_intervals(X)
    with pytest.raises(ValueError, match="Features are drawn by scaling"):
        NMF(4, loss="itakura-saito", tol=1e-2).fit(X + 1).transform_intervals(X + 1)

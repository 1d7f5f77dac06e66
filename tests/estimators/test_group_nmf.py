"""Components that groups share are found despite effects of the groups, and samples use no other group's components."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment, nnls
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from partwise import NMF, GraphNMF, GroupNMF, load
from partwise.callbacks import Checkpoint
from partwise.estimators.grouped import GroupedCodes
from studies import groups as study

LOSSES = ["frobenius", "kullback-leibler"]
PER_GROUP = 60
NAMES = np.array(["a", "b", "c"])
GROUPS = np.repeat(NAMES, PER_GROUP)
OTHERS = GROUPS[:, None] != NAMES


def planted(effect, seed=0, n_shared=4, counts=10.0):
    """Counts of shared components with unequal abundance, and of one component of every group."""
    rng = np.random.RandomState(seed)
    H, V = (rng.gamma(0.3, size=(rows, 80)) for rows in (n_shared, len(NAMES)))
    H, V = (F / np.linalg.norm(F, axis=1, keepdims=True) for F in (H, V))
    abundance = rng.gamma(2.0, 0.5, size=(len(NAMES), n_shared)).repeat(PER_GROUP, axis=0)
    W, U = rng.gamma(0.5, size=(len(GROUPS), n_shared)) * abundance, rng.gamma(1.0, size=(len(GROUPS), len(NAMES)))
    mean = W @ H + effect * np.where(OTHERS, 0, U) @ V
    return rng.poisson(counts * mean / mean.mean()).astype(float), H


def cosines(H, found):
    """Of the true components with the found ones that match best."""
    S = H @ (found / np.linalg.norm(found, axis=1, keepdims=True)).T
    return S[linear_sum_assignment(-S)]


X, TRUTH = planted(1.0)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("effect", [0.5, 1.0, 2.0])
def test_shared_components_are_recovered(loss, effect):
    """Group effects as large as the signal: fits without groups mistake them for components."""
    data, H = planted(effect, seed=1)
    model = GroupNMF(4, loss=loss, random_state=0).fit(data, groups=GROUPS)
    assert cosines(H, model.components_[:4]).min() > 0.95
    assert cosines(H, NMF(4, loss=loss, random_state=0).fit(data).components_).min() < 0.9
    assert model.component_groups_.tolist() == [-1, -1, -1, -1, 0, 1, 2]
    assert model.groups_.tolist() == NAMES.tolist()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("sizes", "seed"), [((40, 60, 120, 200), 504), ((20, 40, 60, 80, 100), 500)])
def test_shared_components_of_groups_of_unequal_size_are_recovered(sizes, seed, loss):
    """With the first of these draws, singular vectors alone lead the squared error to a bad minimum."""
    data, groups, H = study.planted("offset", 2.0, 10.0, seed, sizes)
    model = GroupNMF(5, loss=loss, random_state=0).fit(data, groups=groups)
    assert cosines(H, model.components_[:5]).min() > 0.95


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"solver": "multiplicative"},
        {"loss": "kullback-leibler"},
        {"loss": "kullback-leibler", "l1_codes": 0.1},
        {"loss": 1.5},
        {"loss": "huber"},
        {"l2_codes": 1.0},
        {"missing": "nan"},
        {"missing": "nan", "loss": "kullback-leibler"},
        {"init": "random", "n_init": 2},
        {"init": "sampled"},
        {"n_group_components": 2},
        {"weighting": "ncut"},
        {"scale": None},
    ],
    ids=str,
)
def test_no_sample_uses_the_components_of_another_group(settings):
    data = np.where(np.arange(X.size).reshape(X.shape) % 7 == 0, np.nan, X) if "missing" in settings else X
    model = GroupNMF(4, random_state=0, max_iter=40, tol=0, **settings).fit(data, groups=GROUPS)
    others = (model.component_groups_ >= 0) & (model.component_groups_ != np.searchsorted(NAMES, GROUPS)[:, None])
    for codes in (model.embedding_, model.transform(data, groups=GROUPS)):
        assert (codes[others] == 0).all()
        assert (codes >= 0).all()
    assert (model.embedding_[~others] > 0).mean() > 0.5
    objective = np.array(model.history_["objective"])
    assert np.diff(objective).max() <= 1e-9 * objective[0]


@pytest.mark.parametrize("loss", LOSSES)
def test_it_ends_where_nothing_can_be_gained(loss):
    """The optimality conditions, of the objective by its definition."""
    model = GroupNMF(4, loss=loss, random_state=0, tol=1e-9, max_iter=3000).fit(X, groups=GROUPS)
    W, H = model.embedding_, model.components_
    Y = W @ H
    R, size = (Y - X, (X @ H.T).max()) if loss == "frobenius" else (1 - X / np.maximum(Y, 1e-300), H.sum(axis=1).max())
    allowed = ~((model.component_groups_ >= 0) & (model.component_groups_ != np.searchsorted(NAMES, GROUPS)[:, None]))
    for gradient, F in (((R @ H.T)[allowed], W[allowed]), ((W.T @ R).ravel(), H.ravel())):
        slope = size if F.size == allowed.sum() else size * W.sum() / len(W)
        assert gradient.min() >= -1e-2 * slope
        assert np.abs(gradient * F).max() <= 1e-2 * slope * F.max()


def test_codes_of_new_samples_are_the_best_by_the_components_of_their_group():
    model = GroupNMF(4, random_state=0).fit(X, groups=GROUPS)
    shared = model.component_groups_ < 0
    for group in (None, *NAMES):
        used = shared if group is None else shared | (NAMES[model.component_groups_] == group) & ~shared
        rows = np.flatnonzero(("a" if group is None else group) == GROUPS)[:8]
        codes = model.transform(X[rows], groups=None if group is None else GROUPS[rows])
        expected = np.array([nnls(model.components_[used].T, x)[0] for x in X[rows]])
        np.testing.assert_allclose(codes[:, used], expected, atol=1e-6 * expected.max())
        assert (codes[:, ~used] == 0).all()
    assert model.score(X, groups=GROUPS) > model.score(X)


def test_mixed_groups_are_coded_as_apart():
    model = GroupNMF(4, loss="kullback-leibler", random_state=0).fit(X, groups=GROUPS)
    rows = np.random.RandomState(0).permutation(len(X))[:20]
    mixed = model.transform(X[rows], groups=GROUPS[rows])
    for row, code in zip(rows, mixed, strict=True):
        np.testing.assert_allclose(model.transform(X[[row]], groups=GROUPS[[row]])[0], code, atol=1e-6 * mixed.max())


def test_clusters_are_those_of_shared_components():
    model = GroupNMF(4, random_state=0, assign="argmax").fit(X, groups=GROUPS)
    np.testing.assert_array_equal(model.labels_, model.embedding_[:, :4].argmax(axis=1))
    assert set(model.predict(X, groups=GROUPS)) <= set(range(4))
    assert (model.predict(X, groups=GROUPS) == model.labels_).mean() > 0.95


def test_without_groups_it_is_nmf():
    ours, plain = GroupNMF(4, n_group_components=0, random_state=0).fit(X), NMF(4, random_state=0).fit(X)
    np.testing.assert_array_equal(ours.components_, plain.components_)
    assert ours.groups_.size == 0
    np.testing.assert_array_equal(ours.transform(X[:5]), plain.transform(X[:5]))


def test_no_components_of_groups():
    model = GroupNMF(4, n_group_components=0, random_state=0).fit(X, groups=GROUPS)
    np.testing.assert_allclose(model.components_, NMF(4, random_state=0).fit(X).components_, rtol=1e-9)


def test_sparse_data_other_units_and_single_precision():
    model = GroupNMF(4, random_state=0).fit(X, groups=GROUPS)
    sparse = GroupNMF(4, random_state=0).fit(sp.csr_matrix(X), groups=GROUPS)
    np.testing.assert_allclose(sparse.components_, model.components_, atol=1e-3)
    scaled = GroupNMF(4, random_state=0).fit(4.0**40 * X, groups=GROUPS)
    np.testing.assert_array_equal(scaled.components_, model.components_)
    np.testing.assert_array_equal(scaled.embedding_, 4.0**40 * model.embedding_)
    single = GroupNMF(4, random_state=0).fit(X.astype(np.float32), groups=GROUPS)
    assert single.components_.dtype == single.transform(X[:3].astype(np.float32), groups=GROUPS[:3]).dtype == np.float32
    assert cosines(TRUTH, single.components_[:4].astype(float)).min() > 0.95


def test_samples_that_do_not_count_are_coded_as_new_ones_of_their_group():
    weight = np.where(np.arange(len(X)) % 3 == 0, 0.0, 1.0)
    model = GroupNMF(4, random_state=0).fit(X, sample_weight=weight, groups=GROUPS)
    unseen = weight == 0
    coded = model.transform(X[unseen], groups=GROUPS[unseen])
    np.testing.assert_allclose(model.embedding_[unseen], coded, rtol=1e-9)
    kept = GroupNMF(4, random_state=0, init="nndsvda").fit(X[~unseen], groups=GROUPS[~unseen])
    assert cosines(kept.components_[:4], model.components_[:4]).min() > 0.99


@pytest.mark.parametrize(
    "known", [{"fixed_components": 3 * TRUTH[:2]}, {"seed_components": TRUTH[:2]}, {"component_mask": TRUTH > 0.01}]
)
@pytest.mark.parametrize("loss", LOSSES)
def test_known_components_are_shared_ones(known, loss):
    model = GroupNMF(4, loss=loss, random_state=0, max_iter=100, tol=1e-5, **known).fit(X, groups=GROUPS)
    first = model.components_[:2]
    assert ((first * TRUTH[:2]).sum(axis=1) / np.linalg.norm(first, axis=1)).min() > 0.95
    if "fixed_components" in known:
        np.testing.assert_array_equal(first, known["fixed_components"])
    if "component_mask" in known:
        assert not model.components_[:4][~known["component_mask"]].any()
        assert cosines(TRUTH, model.components_[:4]).min() > 0.95


def test_groups_add_to_other_methods():
    """A graph beside groups is two lines."""

    class GroupGraphNMF(GroupedCodes, GraphNMF):
        """Both."""

    for loss in LOSSES:
        model = GroupGraphNMF(4, graph_strength=0.1, loss=loss, random_state=0, max_iter=50, tol=0)
        model.fit(X, groups=GROUPS)
        others = (model.component_groups_ >= 0) & (model.component_groups_ != np.searchsorted(NAMES, GROUPS)[:, None])
        assert (model.embedding_[others] == 0).all()
        assert cosines(TRUTH, model.components_[:4]).min() > 0.9
        assert model.transform(X[:4], groups=GROUPS[:4]).shape == (4, 7)


@pytest.mark.parametrize("groups", [GROUPS, GROUPS.astype(object), np.searchsorted(NAMES, GROUPS) * 0.5, list(GROUPS)])
def test_models_are_saved_with_their_groups(tmp_path, groups):
    model = GroupNMF(4, random_state=0, max_iter=10, tol=0).fit(X, groups=groups)
    model.save(tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.groups_, model.groups_)
    np.testing.assert_array_equal(again.transform(X, groups=groups), model.transform(X, groups=groups))


def test_a_checkpoint_belongs_to_its_groups(tmp_path):
    path = tmp_path / "fit.npz"
    model = GroupNMF(4, random_state=0, max_iter=5, tol=0)
    whole = clone(model).fit(X, groups=GROUPS)
    with_file = clone(model).set_params(callbacks=Checkpoint(path))
    with_file.fit(X, groups=GROUPS)
    np.testing.assert_array_equal(with_file.fit(X, groups=GROUPS).components_, whole.components_)
    with pytest.raises(ValueError, match="belongs to another fit: groups was"):
        with_file.fit(X, groups=GROUPS[::-1].copy())


def test_a_warm_start_continues():
    model = GroupNMF(4, random_state=0, max_iter=5, tol=0, warm_start=True).fit(X, groups=GROUPS)
    before = model.objective_
    assert model.fit(X, groups=GROUPS).objective_ < before
    assert model.history_["objective"][0] <= before * (1 + 1e-9)


def test_given_starts_have_all_components():
    rng = np.random.RandomState(0)
    start = rng.uniform(size=(len(X), 7)), rng.uniform(size=(7, 80))
    model = GroupNMF(4, init=start, max_iter=5, tol=0).fit(X, groups=GROUPS)
    assert model.components_.shape == (7, 80)
    with pytest.raises(ValueError, match=r"init: W has shape \(180, 4\); it must be \(180, 7\)"):
        GroupNMF(4, init=(start[0][:, :4], start[1][:4])).fit(X, groups=GROUPS)


def test_methods_that_fit_pass_the_groups_on():
    model = GroupNMF(4, random_state=0, max_iter=10, tol=0).fit(X, groups=GROUPS)
    np.testing.assert_array_equal(clone(model).fit_predict(X, groups=GROUPS), model.labels_)
    np.testing.assert_array_equal(clone(model).fit_transform(X, groups=GROUPS), model.transform(X, groups=GROUPS))


def test_pipelines_and_grid_searches():
    pipeline = make_pipeline(MaxAbsScaler(), GroupNMF(4, random_state=0))
    codes = pipeline.fit_transform(X, groupnmf__groups=GROUPS)
    assert codes.shape == (len(X), 7)
    with config_context(enable_metadata_routing=True):
        model = GroupNMF(4, random_state=0).set_fit_request(groups=True).set_score_request(groups=True)
        search = GridSearchCV(model, {"n_group_components": [0, 1]}, cv=[(np.arange(0, 180, 2), np.arange(1, 180, 2))])
        assert search.fit(X, groups=GROUPS).best_params_ == {"n_group_components": 1}


def test_a_problem_has_its_groups():
    model = GroupNMF(4, random_state=0)
    problem = model.problem(X, groups=GROUPS)
    assert problem.n_components == 7
    assert not hasattr(model, "components_")
    assert GroupNMF(4, n_group_components=0).problem(X).n_components == 4


@pytest.mark.parametrize("call", ["fit", "fit_transform", "fit_predict", "problem"])
def test_groups_that_are_not_given_by_name_are_missed(call):
    model = GroupNMF(4, random_state=0)
    for given in ((X,), (X, GROUPS)):
        with pytest.raises(ValueError, match=r"No groups were given.*Name them, fit\(X, groups=\.\.\.\)"):
            getattr(model, call)(*given)
    assert not hasattr(model, "components_")


ONE_SHORT = np.where(np.arange(len(X)) == 0, "z", GROUPS)
BAD = {
    "length": (GROUPS[:-1], "groups has 179 entries and X has 180 samples"),
    "one group": (np.full(len(X), "a"), "groups has one group, a: there is nothing to share"),
    "one sample": (ONE_SHORT, "Group z has 1 sample.s.; n_group_components=1 needs at least 2"),
    "NaN": (np.where(np.arange(len(X)) == 5, np.nan, 1.0), "The group of sample 5 is nan"),
    "None": (np.where(np.arange(len(X)) == 5, None, GROUPS), "The group of sample 5 is unknown"),
    "dates": (np.full(len(X), np.datetime64("2020-01-01")), "groups has dtype datetime64"),
    "two dimensions": (np.ones((len(X), 2)), r"groups has shape \(180, 2\); it must have one dimension"),
    "a name": ("batch", "groups='batch' was given; give the group of every sample itself"),
}


@pytest.mark.parametrize("name", BAD)
def test_groups_that_cannot_be(name):
    groups, message = BAD[name]
    model = GroupNMF(4, random_state=0)
    with pytest.raises(ValueError, match=message):
        model.fit(X, groups=groups)
    assert not hasattr(model, "groups_")


def test_a_refused_fit_leaves_the_model():
    model = GroupNMF(4, random_state=0, max_iter=5, tol=0).fit(X, groups=GROUPS)
    codes = model.transform(X, groups=GROUPS)
    with pytest.raises(ValueError, match="one group"):
        model.fit(X, groups=np.ones(len(X)))
    np.testing.assert_array_equal(model.transform(X, groups=GROUPS), codes)


@pytest.mark.parametrize("groups", [None, GROUPS])
def test_intervals_are_those_of_the_codes_of_a_group(groups):
    """Components that a sample cannot use have no code, whichever features are drawn."""
    model = GroupNMF(4, random_state=0, tol=1e-4).fit(X, groups=GROUPS)
    low, high = model.transform_intervals(X, groups=groups, n_resamples=15, random_state=0)
    codes = model.transform(X, groups=groups)
    of_others = np.ones_like(OTHERS) if groups is None else OTHERS
    assert not high[:, 4:][of_others].any()
    assert ((low <= codes) & (codes <= high)).mean() > 0.8


def test_unknown_groups_of_new_samples():
    model = GroupNMF(4, random_state=0, max_iter=5, tol=0).fit(X, groups=GROUPS)
    with pytest.raises(ValueError, match=r"Group .d. is not one of the fit, which had .a., .b., .c."):
        model.transform(X[:2], groups=["a", "d"])
    with pytest.raises(ValueError, match="groups has 1 entries and X has 2 samples"):
        model.predict(X[:2], groups=["a"])
    with pytest.raises(ValueError, match="which had no groups"):
        GroupNMF(4, n_group_components=0, max_iter=5, tol=0).fit(X).score(X[:2], groups=["a", "a"])


def test_an_interrupted_fit_leaves_a_model():
    def interrupt(progress):
        if progress.sweep == 3:
            raise KeyboardInterrupt

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GroupNMF(4, random_state=0, callbacks=interrupt).fit(X, groups=GROUPS)
    assert model.stop_reason_ == "interrupted"
    assert model.transform(X[:2], groups=GROUPS[:2]).shape == (2, 7)

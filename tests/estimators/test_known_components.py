"""Components that are given stay as given; what is learned beside them, and every code, is the best there is."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.optimize import nnls

from partwise import NMF, Factorization, GraphNMF
from partwise.domains import Fixed, marker_mask
from partwise.graphs import neighbor_graph
from partwise.terms import BetaDivergence, Frobenius, NeighborGraph

RNG = np.random.RandomState(0)
TRUTH = RNG.gamma(0.5, size=(4, 12))
X = RNG.gamma(1.0, size=(30, 4)) @ TRUTH + 0.05 * RNG.uniform(size=(30, 12))
KNOWN = 7.0 * TRUTH[:2]
LOSSES = ["frobenius", "kullback-leibler"]
PENALTIES = [{}, {"l1_codes": 0.2}, {"l2_codes": 0.1}, {"l1_components": 0.1}, {"l1_codes": 0.1, "l2_components": 0.1}]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_known_components_stay_to_the_last_digit(loss, penalty, dtype, make):
    model = NMF(4, loss=loss, fixed_components=KNOWN, max_iter=40, tol=0, **penalty).fit(make(X.astype(dtype)))
    np.testing.assert_array_equal(model.components_[:2], KNOWN.astype(dtype))
    assert model.components_.shape == (4, 12)
    assert (model.components_ >= 0).all()
    objective = np.array(model.history_["objective"])
    assert np.diff(objective).max() <= (1e-10 if dtype == np.float64 else 1e-5) * objective[0]
    if "l1_components" not in penalty and "l2_components" not in penalty:
        np.testing.assert_allclose(np.linalg.norm(model.components_[2:], axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_others_are_found(loss):
    """With half of the true components given, the other half fits the data as well as the truth."""
    exact = RNG.gamma(1.0, size=(40, 4)) @ TRUTH
    model = NMF(4, loss=loss, fixed_components=KNOWN, max_iter=3000, tol=1e-10).fit(exact)
    assert model.objective_ <= 1e-4 * (exact**2).sum()


def test_codes_of_new_samples_are_those_of_all_components():
    model = NMF(4, fixed_components=KNOWN, tol=1e-8, max_iter=2000).fit(X)
    expected = np.array([nnls(model.components_.T, x)[0] for x in X])
    np.testing.assert_allclose(model.transform(X), expected, atol=1e-7)
    np.testing.assert_allclose(model.embedding_, expected, atol=1e-3 * expected.max())


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    "model", [NMF(4, l1_codes=0.5), NMF(4, l2_codes=0.3), GraphNMF(4, graph_strength=1.0, n_neighbors=3)], ids=str
)
def test_the_unit_of_known_components_does_not_matter(model, loss):
    """Their codes take it up, and penalties are measured at unit norm: for new samples too."""
    model.set_params(loss=loss, tol=0, max_iter=60, random_state=0)
    one = model.set_params(fixed_components=KNOWN).fit(X)
    codes, new, objective, H = one.embedding_, one.transform(X[:5]), one.objective_, one.components_
    other = model.set_params(fixed_components=8 * KNOWN).fit(X)
    np.testing.assert_allclose(other.objective_, objective, rtol=1e-6)
    np.testing.assert_allclose(other.components_[2:], H[2:], atol=1e-4)
    np.testing.assert_allclose(other.embedding_[:, :2], codes[:, :2] / 8, atol=1e-4 * codes.max())
    np.testing.assert_allclose(other.transform(X[:5])[:, :2], new[:, :2] / 8, atol=1e-4 * codes.max())


def test_the_penalty_is_the_one_at_unit_norm():
    model = GraphNMF(4, graph_strength=2.0, n_neighbors=3, fixed_components=KNOWN, random_state=0).fit(X)
    W, H = model.embedding_, model.components_
    E = neighbor_graph(X, 3).toarray()
    L, squares = np.diag(E.sum(axis=1)) - E, (H**2).sum(axis=1)
    penalty = 2.0 * (np.diag(W.T @ L @ W) * squares).sum()
    np.testing.assert_allclose(model.objective_, ((X - W @ H) ** 2).sum() + penalty, rtol=1e-8)


def test_without_a_gauge_penalties_are_measured_as_they_stand():
    model = NMF(4, l2_codes=0.3, scale=None, fixed_components=KNOWN, tol=0, max_iter=50).fit(X)
    W, H = model.embedding_, model.components_
    np.testing.assert_allclose(model.objective_, ((X - W @ H) ** 2).sum() + 0.3 * (W**2).sum(), rtol=1e-8)


def test_all_components_may_be_known():
    model = NMF(4, fixed_components=TRUTH, tol=1e-9).fit(X)
    np.testing.assert_array_equal(model.components_, TRUTH)
    np.testing.assert_allclose(model.embedding_, [nnls(TRUTH.T, x)[0] for x in X], atol=1e-6)


@pytest.mark.parametrize("fit", [Frobenius(), BetaDivergence(1.0)], ids=["squared error", "kullback-leibler"])
def test_entries_that_must_be_zero(fit):
    """The rest is at its minimum: no other entry could lower the objective."""
    zero = RNG.uniform(size=(4, 12)) < 0.3
    components = Fixed(np.zeros((4, 12)), zero)
    model = Factorization(4, terms=[fit], components=components, max_iter=3000, tol=0).fit(X)
    W, H = model.embedding_, model.components_
    assert not H[zero].any()
    R = W @ H - X if isinstance(fit, Frobenius) else 1 - X / (W @ H)
    gradient = (W.T @ R)[~zero]
    size = (W.T @ X).max() if isinstance(fit, Frobenius) else W.sum(axis=0).max()
    assert gradient.min() >= -1e-3 * size
    assert (np.abs(gradient) * H[~zero]).max() <= 1e-3 * size * H.max()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (KNOWN[:, :5], r"have shape \(2, 5\); X has 12 features"),
        (-KNOWN, "must not be negative"),
        (np.full((1, 12), np.nan), "NaN or infinity"),
        (np.ones((5, 12)), "5 components are fixed, but n_components=4"),
        (np.vstack([KNOWN, np.zeros(12)]), "zero everywhere"),
        (1e300 * KNOWN, "so large or so small that their squares are no float64 numbers"),
        (1e-200 * KNOWN, "so large or so small that their squares are no float64 numbers"),
    ],
)
def test_what_cannot_be_fixed(given, message):
    with pytest.raises(ValueError, match=message):
        NMF(4, fixed_components=given).fit(X)


def test_the_number_of_components_must_be_known():
    with pytest.raises(ValueError, match="leaves the number of components open"):
        NMF("auto", fixed_components=KNOWN).fit(X)


def test_places_must_fit_the_values():
    with pytest.raises(ValueError, match="`where` has shape"):
        Factorization(4, components=Fixed(KNOWN, [True])).fit(X)
    with pytest.raises(ValueError, match="cannot be combined"):
        Factorization(4, components=Fixed(KNOWN, KNOWN > 1, rest=Fixed(KNOWN))).fit(X)
    terms = [Frobenius(), NeighborGraph(1.0)]
    with pytest.raises(ValueError, match="30 samples"):
        Factorization(4, terms=terms, codes=Fixed(np.ones((3, 1)))).fit(X)


NOISY = TRUTH[:2] * RNG.uniform(0.7, 1.3, size=(2, 12))


def cosines(A, B):
    return (A * B).sum(axis=1) / np.linalg.norm(A, axis=1) / np.linalg.norm(B, axis=1)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_components_stay_near_their_seeds(loss, make):
    """The stronger, the nearer: at strength 0 a start, in the end the seeds themselves."""
    near = [
        cosines(NMF(4, loss=loss, seed_components=NOISY, seed_strength=s, tol=1e-5).fit(make(X)).components_[:2], NOISY)
        for s in (0.0, 1.0, 1e4)
    ]
    assert (near[0] < near[1]).all()
    assert (near[1] < near[2]).all()
    assert near[2].min() > 0.9999


def test_seeds_say_which_component_is_which():
    """From a start of its own a fit may have the components in any order; from seeds it has theirs."""
    for order in ([0, 1, 2, 3], [3, 1, 0, 2]):
        model = NMF(4, seed_components=TRUTH[order], seed_strength=0.1).fit(X)
        assert cosines(model.components_, TRUTH[order]).min() > 0.9


@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_seeds_may_be_of_any_size(scale):
    near, far = (NMF(4, seed_components=NOISY * by, random_state=0, tol=1e-3).fit(X) for by in (1, scale))
    np.testing.assert_allclose(far.components_, near.components_, atol=1e-6)


@pytest.mark.parametrize("scaled", [1e-8, 1.0, 1e12])
def test_neither_the_scale_of_seeds_nor_that_of_data_matters(scaled):
    settings = {"seed_strength": 0.5, "max_iter": 50, "tol": 0}
    one = GraphNMF(4, graph_strength=1.0, n_neighbors=3, seed_components=NOISY, **settings).fit(X)
    other = GraphNMF(4, graph_strength=1.0, n_neighbors=3, seed_components=scaled * NOISY, **settings).fit(scaled * X)
    np.testing.assert_allclose(other.components_, one.components_, atol=1e-6)
    np.testing.assert_allclose(other.embedding_, scaled * one.embedding_, atol=1e-6 * scaled * one.embedding_.max())


def test_the_objective_with_seeds():
    model = NMF(4, seed_components=NOISY, seed_strength=0.7, tol=1e-9, max_iter=2000).fit(X)
    W, H = model.embedding_, model.components_
    S = NOISY / np.linalg.norm(NOISY, axis=1, keepdims=True)
    beside = H[:2] - (H[:2] * S).sum(axis=1, keepdims=True) * S
    penalty = 0.7 * ((W[:, :2] ** 2).sum(axis=0) * (beside**2).sum(axis=1)).sum()
    np.testing.assert_allclose(model.objective_, ((X - W @ H) ** 2).sum() + penalty, rtol=1e-8)
    # New samples are shrunk as those of the fit.
    np.testing.assert_allclose(model.transform(X), W, atol=1e-3 * W.max())


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("known", [{}, {"seed_components": NOISY}], ids=["mask", "mask and seeds"])
def test_zeros_stay_zero(loss, known):
    mask = np.median(TRUTH) < TRUTH
    model = NMF(4, loss=loss, component_mask=mask, max_iter=100, tol=0, **known).fit(X)
    assert (model.components_[~mask] == 0).all()
    assert (model.components_[mask] > 0).any()
    assert np.diff(model.history_["objective"]).max() <= 1e-10 * model.history_["objective"][0]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"seed_components": NOISY[:, :5]}, "seeds have shape .2, 5.; X has 12 features"),
        ({"seed_components": -NOISY}, "finite and not negative"),
        ({"seed_components": 0 * NOISY}, "no direction"),
        ({"seed_components": np.vstack([TRUTH, TRUTH])}, "8 seed_components, but n_components=4"),
        ({"seed_components": NOISY, "n_components": "auto"}, "leaves the number of components open"),
        ({"seed_components": NOISY, "fixed_components": KNOWN}, "Give fixed_components or seed_components"),
        ({"component_mask": np.ones((3, 12), bool)}, "in the shape of components_, .4, 12."),
        ({"component_mask": np.ones((4, 12))}, "must hold True and False"),
        ({"component_mask": np.arange(4)[:, None] * np.ones(12) > 0}, "leaves component 0 no feature"),
    ],
)
def test_what_does_not_fit_together(given, message):
    with pytest.raises(ValueError, match=message):
        NMF(**{"n_components": 4, **given}).fit(X)


@pytest.mark.parametrize("name", ["fixed_components", "seed_components", "component_mask"])
def test_what_is_no_array(name):
    with pytest.raises(ValueError, match=f"'{name}' parameter of NMF must be an array-like"):
        NMF(4, **{name: sp.csr_array(TRUTH)}).fit(X)
    for unreadable in ([["a"] * 12], [[1, 2], [3]], TRUTH[None], 1j * TRUTH):
        with pytest.raises(ValueError, match=f"{name} must hold numbers, with a row for every component"):
            NMF(4, **{name: unreadable}).fit(X)


def never(data):
    raise AssertionError("the graph was built before the input was checked")


@pytest.mark.parametrize(
    "known",
    [
        {"fixed_components": KNOWN[:, :5]},
        {"fixed_components": -KNOWN},
        {"fixed_components": np.ones((5, 12))},
        {"seed_components": 0 * NOISY},
        {"component_mask": np.zeros((4, 12), bool)},
    ],
)
def test_bad_input_is_refused_before_any_work(known):
    with pytest.raises(ValueError, match=r"features|negative|fixed|zero|no feature"):
        GraphNMF(4, graph=never, **known).fit(X)


@pytest.mark.parametrize("known", ["fixed_components", "seed_components"])
@pytest.mark.parametrize("loss", LOSSES)
def test_with_missing_entries_and_a_graph(known, loss):
    holes = np.where(RNG.uniform(size=X.shape) < 0.1, np.nan, X)
    for kind, settings in ((NMF, {}), (GraphNMF, {"graph_strength": 0.1, "n_neighbors": 3})):
        model = kind(4, loss=loss, missing="nan", max_iter=40, tol=0, **{known: KNOWN}, **settings).fit(holes)
        assert cosines(model.components_[:2], KNOWN).min() > (0.999999 if known == "fixed_components" else 0.9)
        assert np.diff(model.history_["objective"]).max() <= 1e-9 * model.history_["objective"][0]


NAMES = [f"gene{number}" for number in range(12)]


def test_columns_of_a_table_are_those_of_the_data():
    data, known = pd.DataFrame(X, columns=NAMES), pd.DataFrame(KNOWN, columns=NAMES)
    model = NMF(4, fixed_components=known, max_iter=20, tol=0).fit(data)
    np.testing.assert_array_equal(model.components_[:2], KNOWN)
    for name in ("fixed_components", "seed_components"):
        with pytest.raises(ValueError, match=f"The columns of {name} are not the features of X in their order"):
            NMF(4, **{name: known[NAMES[::-1]]}).fit(data)
    NMF(4, fixed_components=known, max_iter=20, tol=0).fit(X)


def test_with_a_mask_the_true_components_are_found():
    """Whatever the places of their zeros: a start that knows nothing of these may end elsewhere."""
    for seed in range(3):
        rng = np.random.RandomState(seed)
        H = rng.gamma(0.3, size=(5, 60))
        counts = rng.poisson(20 * rng.gamma(0.5, size=(120, 5)) @ H)
        for loss in LOSSES:
            model = NMF(5, loss=loss, component_mask=np.median(H) < H, random_state=seed).fit(counts)
            assert cosines(model.components_, H).min() > 0.95


def test_markers_are_features_of_their_component_alone():
    mask = marker_mask({"a": ["gene0", "gene3"], "b": ["gene3", "gene5"]}, NAMES, 4)
    assert mask.shape == (4, 12)
    assert np.flatnonzero(~mask[0]).tolist() == [5]
    assert np.flatnonzero(~mask[1]).tolist() == [0]
    assert np.flatnonzero(~mask[2]).tolist() == [0, 3, 5]
    model = NMF(4, component_mask=mask, random_state=0, max_iter=30, tol=0).fit(X)
    assert not model.components_[~mask].any()
    assert model.components_[0, 0] > 0


@pytest.mark.parametrize(
    ("markers", "message"),
    [
        ({"a": ["gene00"]}, "marker 'gene00' of 'a' is not the name of a feature. Is it 'gene0'"),
        ({"a": "gene0"}, r"The markers of 'a' are a text; give a list of names: \['gene0'\]"),
        ({"a": []}, "There are no markers of 'a'"),
        ({key: ["gene0"] for key in range(5)}, "markers of 5 components, but n_components=4"),
    ],
)
def test_markers_that_cannot_be(markers, message):
    with pytest.raises(ValueError, match=message):
        marker_mask(markers, NAMES, 4)


def test_markers_need_names_that_differ():
    with pytest.raises(ValueError, match="Several features have the name 'gene0'"):
        marker_mask({"a": ["gene1"]}, ["gene0", "gene0", "gene1"], 4)


CLOSED = np.ones((3, 12), bool)
CLOSED[:, 5] = False
FORMS = {
    "dense": (np.asarray, None),
    "sparse": (sp.csr_array, None),
    "holes": (lambda X: np.where(np.eye(30, 12, dtype=bool), np.nan, X), "nan"),
    "sparse holes": (lambda X: sp.csr_array(np.where(np.eye(30, 12, dtype=bool), np.nan, X)), "nan"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("known", ["component_mask", "fixed_components"])
@pytest.mark.parametrize("loss", ["itakura-saito", 0.5, "kullback-leibler", "negative-binomial", 1.5, "huber"])
def test_positive_features_that_no_component_may_have(loss, known, form):
    """With β < 1 the loss is infinite at zero, and nothing else would count; features that are zero are no matter."""
    make, missing = FORMS[form]
    model = NMF(3, loss=loss, missing=missing, max_iter=3, tol=0, random_state=0)
    model.set_params(**{known: CLOSED if known == "component_mask" else CLOSED.astype(float)})
    if loss in ("itakura-saito", 0.5):
        with pytest.raises(ValueError, match=r"is infinite in 1 features \(5\): X is positive there"):
            model.fit(make(X))
    else:
        assert np.isfinite(model.fit(make(X)).objective_)
    if loss != "itakura-saito":
        assert np.isfinite(model.fit(make(np.where(CLOSED[0], X, 0))).objective_)

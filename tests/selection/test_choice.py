"""Parameters left open: what is chosen, why, and what cannot be."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import normalize

from partwise import NMF, ConstrainedNMF, GraphNMF, LocalCoordinateNMF, LocalLearningNMF, LocalSimilarityNMF
from partwise.clusters import Assignment
from partwise.core.storage import as_operand
from partwise.graphs import neighbor_graph
from partwise.selection import choice, trials
from partwise.selection.criteria import modularity, neighbor_information, normalized_cut, silhouette
from partwise.selection.grids import fixed_strengths
from partwise.terms import LocalCoordinates, LocalLearning, NeighborGraph

DIGITS, CLASSES = load_digits(n_class=4, return_X_y=True)
X, y = normalize(DIGITS[:160]), CLASSES[:160]


@pytest.mark.parametrize(
    ("estimator", "parameter"),
    [
        (GraphNMF(4, random_state=0), "graph_strength"),
        (LocalLearningNMF(4, random_state=0), "local_strength"),
        (LocalCoordinateNMF(4, random_state=0), "coordinate_strength"),
        (LocalCoordinateNMF(4, coordinate_strength=0.0, random_state=0), "graph_strength"),
    ],
    ids=["GraphNMF", "LocalLearningNMF", "LocalCoordinateNMF", "LocalCoordinateNMF-graph"],
)
def test_a_strength_is_chosen_and_explained(estimator, parameter):
    model = clone(estimator).set_params(**{parameter: "auto"}).fit(X)
    assert model.get_params()[parameter] == "auto"
    (path,) = model.selection_.paths
    assert model.selection_.choice == {parameter: path.chosen}
    assert path.parameter == parameter
    assert path.chosen in path.values
    assert (np.diff(path.values) > 0).all()
    assert path.values[0] == 0
    starts = 3 if parameter == "graph_strength" else 2
    assert all(values.shape == (len(path.values), starts) for values in path.criteria.values())
    assert path.stability.shape == path.values.shape
    assert parameter in str(model.selection_)
    assert adjusted_rand_score(y, model.labels_) > 0.8
    # The chosen strength is the one of the fit: the same terms at the same factors have the same value.
    fixed = clone(estimator).set_params(
        **{parameter: path.chosen}, init=(model.embedding_, model.components_), max_iter=1, tol=0
    )
    assert fixed.fit(X).history_["objective"][0] == pytest.approx(model.objective_, rel=1e-9)


def test_same_seed_same_choice_and_a_fitted_model_like_any_other():
    models = [GraphNMF(4, graph_strength="auto", random_state=3).fit(X) for _ in range(2)]
    assert models[0].selection_.choice == models[1].selection_.choice
    assert np.array_equal(models[0].embedding_, models[1].embedding_)
    again = pickle.loads(pickle.dumps(models[0]))
    assert np.array_equal(again.predict(X[:5]), models[0].predict(X[:5]))
    assert again.score(X) == models[0].score(X)
    assert models[0].transform(X[:5]).shape == (5, 4)


def test_selection_goes_when_nothing_is_open():
    model = GraphNMF(4, graph_strength="auto", random_state=0).fit(X)
    model.set_params(graph_strength=1.0).fit(X)
    assert not hasattr(model, "selection_")


def _best_as_it_stands(_, rows):
    place = divmod(int(choice.losses(rows, rows).argmin()), len(rows[0]))
    return place, rows[place[0]][place[1]]


def test_criteria_are_those_of_the_labels(monkeypatch):
    """The best trial's numbers, computed again from its codes, which are those of the start if no trial is finished."""
    monkeypatch.setattr(choice, "_finished", _best_as_it_stands)
    open_parameters = {"graph_strength": choice.Grid("strength", (1.0, 10.0), 10.0, refined=False)}
    recipe = GraphNMF(4, graph_strength=[1.0, 10.0], random_state=0)
    made = choice.choose(recipe.problem(X), open_parameters)
    path = made.selection.paths[0]
    at = int(np.flatnonzero(path.values == path.chosen)[0]), path.start
    run = trials.Trials(recipe.problem(X))
    labels = Assignment(made.problem.start.given[0], "kmeans", run._seed, n_starts=trials.KMEANS_STARTS).labels
    edges = neighbor_graph(X, trials.JUDGING_NEIGHBORS)
    assert path.criteria["connectedness"][at] == pytest.approx(1 - normalized_cut(edges, labels, 4), abs=1e-12)
    assert path.criteria["silhouette"][at] == pytest.approx(silhouette(X, labels), abs=1e-12)
    assert path.criteria["modularity"][at] == pytest.approx(modularity(edges, labels), abs=1e-12)
    assert path.criteria["information"][at] == pytest.approx(neighbor_information(edges, labels), abs=1e-12)


def _trial(*worth):
    return trials.Trial({}, None, None, dict(zip(trials.CRITERIA, worth, strict=True)))


def test_the_middle_of_four_criteria_decides():
    path = [[_trial(0.0, 2.0, 0.0, 1.0)], [_trial(1.0, 6.0, 2.0, 0.0)], [_trial(0.8, 5.0, 4.0, 0.7)]]
    # What the second loses is 0, 0, 0.5 and 1; the third 0.2, 0.25, 0 and 0.3.
    np.testing.assert_allclose(choice.losses(path, path), [[1.0], [0.25], [0.225]])
    # Beyond the best and the worst of the path, by the same measure.
    np.testing.assert_allclose(choice.losses([[_trial(2.0, 8.0, 4.0, -1.0)]], path), [[-0.25]])
    equal = [[_trial(0.5, 0.5, 0.5, 0.5)] * 2] * 2
    assert (choice.losses(equal, equal) == 0).all()


@pytest.mark.parametrize(("supporters", "kept"), [(0, 0), (2, 0), (3, 1), (4, 1)])
def test_ends_decide_and_not_how_trials_stood_on_the_way(monkeypatch, supporters, kept):
    """The best trial is finished, next to a fit from the method's own start, which needs three of four criteria."""
    begun, ends, paths = [], [], []
    losses = choice.losses

    def finish(self, parameters, start):
        begun.append(start)
        factors = tuple(np.full_like(F, 1 + len(ends)) for F in start)
        votes = np.repeat([1.0, -1.0], [supporters, 4 - supporters]) if ends else np.zeros(4)
        ends.append(trials.Trial(parameters, factors, None, dict(zip(trials.CRITERIA, votes, strict=True))))
        return ends[-1]

    monkeypatch.setattr(trials.Trials, "finish", finish)
    monkeypatch.setattr(choice, "losses", lambda rows, path: paths.append(path) or losses(rows, path))
    open_parameters = {"graph_strength": choice.Grid("strength", (0.0, 1.0, 10.0), 10.0)}
    recipe = GraphNMF(4, graph_strength="auto", random_state=0)
    made = choice.choose(recipe.problem(X), open_parameters)
    path = made.selection.paths[0]
    value, start = divmod(int(losses(paths[0], paths[0]).argmin()), len(paths[0][0]))
    assert value > 0
    assert path.chosen == path.values[value]
    assert [end.parameters["graph_strength"] for end in ends] == [path.chosen] * 2
    assert path.start == (0 if kept else start)
    assert all(np.unique(F).tolist() == [1 + kept] for F in made.problem.start.given)
    run = trials.Trials(recipe.problem(X))
    assert begun[0] is paths[0][value][start].factors
    np.testing.assert_allclose(begun[1][0], run.own_start({"graph_strength": path.chosen})[0], atol=1e-6)


def test_what_starts_anew_already_is_finished_once(monkeypatch):
    """The first trial of the method's own start is such a fit."""
    ends = []
    monkeypatch.setattr(choice, "losses", lambda rows, path: np.arange(2.0 * len(rows)).reshape(-1, 2))
    monkeypatch.setattr(trials.Trials, "finish", lambda self, parameters, start: ends.append(parameters))
    run = trials.Trials(GraphNMF(4, random_state=0).problem(X))
    first = trials.Trial({"graph_strength": 0.0}, None, None, {})
    assert choice._finished(run, [[first, first]] * 2)[0] == (0, 0)
    assert ends == [{"graph_strength": 0.0}]


@pytest.mark.parametrize(
    "term",
    [NeighborGraph(2.0, 3), NeighborGraph(2.0, 3, use_labels=True), LocalLearning(2.0, 4), LocalCoordinates(2.0)],
    ids=["graph", "graph and labels", "local learning", "local coordinates"],
)
def test_another_strength_is_as_if_bound_anew(term):
    from dataclasses import replace

    from partwise.core.state import State

    rng = np.random.RandomState(0)
    data, labels = as_operand(X[:30]), np.where(np.arange(30) < 8, y[:30], -1)
    state = State(data, rng.uniform(size=(30, 3)), rng.uniform(size=(64, 3)))
    shared = term.bind(data, labels).with_strength(0.3)
    rebound = replace(term, strength=0.3).bind(data, labels)
    assert shared.value(state) == pytest.approx(rebound.value(state), rel=1e-12)
    for factor in ("codes", "components"):
        ours, theirs = shared.split(state, factor), rebound.split(state, factor)
        assert (ours is None) == (theirs is None)
        if ours is not None:
            np.testing.assert_allclose(ours.halves()[0], theirs.halves()[0], rtol=1e-12)
            np.testing.assert_allclose(ours.halves()[1], theirs.halves()[1], rtol=1e-12)
    new = State(as_operand(X[30:40]), rng.uniform(size=(10, 3)), state.Ht)
    ours, theirs = (bound.for_new(state).bind(new.X).value(new) for bound in (shared, rebound))
    assert ours == pytest.approx(theirs, rel=1e-12)


def test_graphs_are_built_once(monkeypatch):
    calls = []
    bind = NeighborGraph.bind
    monkeypatch.setattr(NeighborGraph, "bind", lambda self, *rest: calls.append(self) or bind(self, *rest))
    GraphNMF(4, graph_strength="auto", max_iter=5, tol=0, random_state=0).fit(X)
    assert len(calls) == 1  # for the path and for the fit


def test_a_single_sample_decides_no_number_of_components():
    with pytest.raises(ValueError, match="single sample"):
        NMF("auto").fit(X[:1])


STRENGTHS = {GraphNMF: "graph_strength", LocalLearningNMF: "local_strength", LocalCoordinateNMF: "coordinate_strength"}
FALLBACKS = {
    "one component": (X, 1, "one component has no clusters"),
    "one sample": (X[:1], 3, "1 distinct sample cannot make 3 clusters"),
    "two samples": (X[:2], 2, "2 distinct samples cannot make 2 clusters"),
    "as many samples as components": (X[:3], 3, "3 distinct samples cannot make 3 clusters"),
    "constant data": (np.ones((20, 6)), 3, "1 distinct sample cannot"),
    "no data": (np.zeros((20, 6)), 3, "1 distinct sample cannot"),
    "few distinct samples": (np.repeat(X[:2], 10, axis=0), 4, "2 distinct samples cannot"),
    "one direction and zeros": (sp.csr_array(np.repeat([[0.0], [0.0], [1.0]], 8, axis=0)), 1, "one component"),
}


@pytest.mark.parametrize("method", STRENGTHS)
@pytest.mark.parametrize("data", FALLBACKS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_where_nothing_can_be_compared_a_number_stands(method, data):
    """The fit is, bit for bit, the one with the fallback number, and the selection says why."""
    samples, k, reason = FALLBACKS[data]
    parameter, (value,) = STRENGTHS[method], fixed_strengths(method).values()
    options = {"n_components": k, "max_iter": 20, "random_state": 0}
    model = method(**options).fit(samples)
    assert model.selection_.choice == {parameter: value}
    assert model.selection_.paths == ()
    assert str(model.selection_).startswith(f"{parameter} = {value:g} (the default: {reason}")
    fixed = method(**options, **{parameter: value}).fit(samples)
    np.testing.assert_array_equal(model.embedding_, fixed.embedding_)
    with pytest.raises(ValueError, match="no path to draw, because nothing was chosen"):
        model.selection_.plot()


def test_clusters_that_cannot_be_compared(monkeypatch):
    monkeypatch.setattr(trials.Trials, "judge", lambda *_: dict.fromkeys(trials.CRITERIA, np.nan))
    model = GraphNMF(4, max_iter=5, tol=0, random_state=0).fit(X)
    assert model.selection_.choice == {"graph_strength": 10.0}
    assert "no value makes clusters that can be compared" in str(model.selection_)


def test_a_warm_start_goes_on_with_what_was_chosen():
    model = GraphNMF(4, warm_start=True, max_iter=3, tol=0, random_state=0).fit(X)
    value, reached = model.selection_.choice["graph_strength"], model.objective_
    assert len(model.selection_.paths) == 1
    model.fit(X)
    assert model.selection_.choice == {"graph_strength": value}
    assert "the last fit continues" in str(model.selection_)
    assert model.history_["objective"][0] == pytest.approx(reached, rel=1e-9)
    # Without an earlier choice to continue, it is the number.
    model = GraphNMF(4, graph_strength=3.0, warm_start=True, max_iter=3, tol=0, random_state=0).fit(X)
    assert model.set_params(graph_strength="auto").fit(X).selection_.choice == {"graph_strength": 10.0}
    # Other data are another fit.
    assert len(model.fit(X[:100]).selection_.paths) == 1


@pytest.mark.parametrize("given", [lambda links: links, lambda links: lambda _: links], ids=["matrix", "function"])
def test_a_given_graph_is_that_of_all_samples(monkeypatch, given):
    monkeypatch.setattr(choice, "MOST_ROWS", 100)
    model = GraphNMF(4, graph=given(neighbor_graph(X, 5)), max_iter=5, tol=0, random_state=0).fit(X)
    assert (model.selection_.n_rows, model.graph_method_) == (160, "given")


@pytest.mark.parametrize("method", STRENGTHS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_values_of_any_size(method):
    """The grid follows strengths that have a unit; so does the record of a choice by a fit in another unit."""
    for options in ({}, {"loss": "kullback-leibler"}):
        common = {"n_components": 4, "max_iter": 5, "tol": 0, "random_state": 0, **options}
        here, there = (method(**common).fit(np.ldexp(X, power)) for power in (0, 600))
        np.testing.assert_array_equal(here.labels_, there.labels_)
        power = -600 if options else 0
        assert there.selection_.choice == {name: np.ldexp(v, power) for name, v in here.selection_.choice.items()}
        np.testing.assert_array_equal(
            there.selection_.paths[0].values, np.ldexp(here.selection_.paths[0].values, power)
        )


def test_values_of_ones_own():
    model = GraphNMF(4, graph_strength=np.array([5.0, 1.0]), n_neighbors=[4, 7], random_state=0).fit(X)
    neighbors, strengths = model.selection_.paths
    assert neighbors.values.tolist() == [4, 7]
    assert strengths.values.tolist() == [1, 5]
    assert set(model.selection_.choice) == {"n_neighbors", "graph_strength"}


@pytest.mark.parametrize("estimator", [NMF("auto"), GraphNMF("auto"), LocalCoordinateNMF("auto")], ids=repr)
def test_number_of_separate_clusters(estimator):
    rng = np.random.RandomState(0)
    centres = np.kron(np.eye(5), np.ones(4))
    data = np.maximum(np.repeat(centres, 40, axis=0) + rng.normal(scale=0.15, size=(200, 20)), 0)
    model = estimator.set_params(random_state=0).fit(data)
    assert model.components_.shape == (5, 20)
    assert model.selection_.choice["n_components"] == 5
    assert np.isnan(model.selection_.paths[0].stability).all()


def test_sparse_float32_weights_and_labels():
    weight = np.r_[np.zeros(5), np.ones(155)]
    known = np.where(np.arange(160) < 20, y, -1)
    model = GraphNMF(4, graph_strength="auto", use_labels=True, random_state=0)
    model.fit(sp.csr_array(X.astype(np.float32)), known, sample_weight=weight)
    assert model.embedding_.dtype == np.float32
    assert model.selection_.choice["graph_strength"] >= 0


def test_strengths_next_to_another_loss_follow_its_unit():
    """Scaling X scales what a strength is worth next to the Kullback-Leibler divergence, and the grid with it."""
    options = {"loss": "kullback-leibler", "max_iter": 5, "tol": 0, "random_state": 0}
    values = [
        GraphNMF(4, graph_strength="auto", **options).fit(scale * X).selection_.paths[0].values for scale in (1, 10)
    ]
    np.testing.assert_allclose(values[0], 10 * values[1])


def test_many_rows_are_sampled_and_all_are_fitted(monkeypatch):
    monkeypatch.setattr(choice, "MOST_ROWS", 100)
    models = [GraphNMF(4, graph_strength="auto", random_state=seed).fit(X) for seed in range(4)]
    for model in models:
        assert (model.selection_.n_rows, model.selection_.n_samples) == (100, 160)
        assert model.embedding_.shape == (160, 4)
    # On a sample as small as this, all strengths may find the same clusters; then the weakest is taken.
    assert np.mean([adjusted_rand_score(y, model.labels_) for model in models]) > 0.85
    given = GraphNMF(4, graph_strength="auto", graph=neighbor_graph(X, 5), random_state=0).fit(X)
    assert given.selection_.n_rows == 160


@pytest.mark.parametrize(
    ("method", "parameter"),
    [
        (GraphNMF, "n_neighbors"),
        (GraphNMF, "n_components"),
        (LocalLearningNMF, "local_strength"),
        (LocalCoordinateNMF, "coordinate_strength"),
        (LocalCoordinateNMF, "graph_strength"),
        (NMF, "n_components"),
    ],
)
def test_whatever_is_open_is_chosen_on_a_sample_of_many_rows(monkeypatch, method, parameter):
    monkeypatch.setattr(choice, "MOST_ROWS", 100)
    fixed = {"n_components": 4, "max_iter": 20, "tol": 1e-3, **fixed_strengths(method)}
    model = method(**{**fixed, parameter: "auto"}, random_state=0).fit(X)
    assert (model.selection_.n_rows, len(model.embedding_)) == (100, 160)
    assert model.selection_.choice[parameter] == model.selection_.paths[0].chosen


@pytest.mark.parametrize(
    ("method", "given"),
    [
        *(
            (method, given)
            for method in (GraphNMF, LocalLearningNMF, LocalCoordinateNMF)
            for given in ("init", "weights")
        ),
        *((method, "labels") for method in (GraphNMF, LocalCoordinateNMF)),
    ],
)
def test_what_is_given_for_every_sample_goes_with_those_of_the_sample(monkeypatch, method, given):
    monkeypatch.setattr(choice, "MOST_ROWS", 100)
    rng = np.random.RandomState(0)
    start = rng.uniform(size=(160, 4)), rng.uniform(size=(4, 64))
    model = method(4, init=start if given == "init" else "auto", max_iter=20, tol=1e-3, random_state=0)
    if given == "labels":
        model.set_params(use_labels=True)
    known = np.where(np.arange(160) % 8 == 0, y, -1) if given == "labels" else None
    model.fit(X, known, sample_weight=np.linspace(0, 1, 160) if given == "weights" else None)
    assert (model.selection_.n_rows, len(model.embedding_)) == (100, 160)
    assert adjusted_rand_score(y, model.labels_) > 0.5


@pytest.mark.parametrize("method", [GraphNMF, LocalCoordinateNMF])
def test_a_fit_from_the_cut_of_the_graph_is_tried_at_every_strength(method):
    """Two groups of very different sizes, which share all features but are not linked: the cut alone knows them."""
    sizes = 150, 10
    groups = np.repeat([0, 1], sizes)
    data = np.random.RandomState(0).uniform(0.5, 1, size=(160, 12))
    graph = sp.block_diag([np.ones((n, n)) - np.eye(n) for n in sizes], format="csr")
    strengths = {**fixed_strengths(method), "graph_strength": 1.0}
    run = trials.Trials(method(2, **strengths, graph=graph, random_state=0).problem(data))
    rows = choice.follow(run, "graph_strength", (0.0, 10.0, 1000.0), {})
    assert [len(row) for row in rows] == [3, 3, 3]
    start = run.cut_start({"graph_strength": 1.0})
    assert adjusted_rand_score(groups, start[0].argmax(axis=1)) == 1
    assert adjusted_rand_score(groups, rows[-1][2].labels) == 1


def test_no_cut_where_a_start_is_given_or_samples_are_few():
    start = np.ones((160, 4)), np.ones((4, 64))
    for model, data, columns in ((GraphNMF(4, init=start), X, 1), (GraphNMF(4, n_neighbors=3), X[:4], 2)):
        rows = choice.follow(trials.Trials(model.problem(data)), "graph_strength", (0.0, 1.0), {})
        assert [len(row) for row in rows] == [columns, columns]


def test_interruption_ends_the_choice(monkeypatch):
    def interrupted(self, point):
        raise KeyboardInterrupt

    from partwise.solvers.coordinate import Coordinate

    monkeypatch.setattr(Coordinate, "steps", interrupted)
    with pytest.raises(KeyboardInterrupt):
        GraphNMF(4, graph_strength="auto").fit(X)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (GraphNMF(4, graph_strength=[]), "graph_strength is empty"),
        (GraphNMF(4, graph_strength=[1.0, -1.0]), "graph_strength holds -1.0"),
        (GraphNMF(4, graph_strength=[1.0, np.nan]), "graph_strength holds nan"),
        (GraphNMF(4, graph_strength=["strong"]), "graph_strength holds 'strong'"),
        (GraphNMF(4, graph_strength="best"), "graph_strength"),
        (GraphNMF(4, n_neighbors=[0, 5]), "n_neighbors holds 0"),
        (GraphNMF([2.5]), "n_components holds 2.5"),
        (GraphNMF(range(0)), "n_components is empty"),
        (GraphNMF([3, 10**12]), "GiB"),
        (GraphNMF(4, n_neighbors="auto", graph=neighbor_graph(X, 5)), "the graph is given"),
        (GraphNMF(4, n_neighbors="auto", graph_strength=0), "graph_strength is 0"),
        (GraphNMF("auto", init=(np.ones((160, 4)), np.ones((4, 64)))), "fixes it"),
        (ConstrainedNMF("auto"), "n_components"),
        (LocalSimilarityNMF(4, similarity_strength="auto"), "similarity_strength"),
        (NMF(4, l1_codes="auto"), "l1_codes"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_what_cannot_be_chosen(estimator, message):
    with pytest.raises(ValueError, match=message):
        estimator.fit(X)

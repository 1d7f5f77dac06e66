"""Many problems solved as one give what each gives by itself."""

import weakref
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from partwise import NMF, GraphNMF, SemiNMF
from partwise.core.held import HeldOperand
from partwise.core.storage import as_operand
from partwise.solvers import Options, solve, solve_many, steps

RNG = np.random.RandomState(0)
X = RNG.gamma(0.6, size=(90, 4)) @ RNG.gamma(0.6, size=(4, 30)) + RNG.uniform(0, 0.1, size=(90, 30))
COUNTS = sp.csr_array(RNG.poisson(0.5 * X).astype(float))
WEIGHTS = RNG.poisson(1.0, size=len(X)).astype(float)
# As part of another fit, so that none warns that it has not converged.
OPTIONS = Options(60, 1e-5, inner=True)


def started(problem, seeds):
    """The problem from several random starts."""
    start = replace(problem.start, init="random")
    return [replace(problem, start=start, rng=np.random.RandomState(seed)) for seed in seeds]


def compare(posed):
    """Solve problems one by one and together; each call poses them, because starts draw from their generators."""
    alone = [solve(problem, OPTIONS) for problem in posed()]
    together = dict(solve_many(posed(), OPTIONS))
    assert sorted(together) == list(range(len(alone)))
    for index, one in enumerate(alone):
        other = together[index]
        assert other.result.objective == pytest.approx(one.result.objective, rel=1e-7)
        np.testing.assert_allclose(other.state.W, one.state.W, atol=1e-5 * one.state.W.max())
        np.testing.assert_allclose(other.state.Ht, one.state.Ht, atol=1e-5 * one.state.Ht.max())
        assert abs(other.result.n_iter - one.result.n_iter) <= 5
        assert other.result.stop_reason == one.result.stop_reason


@pytest.mark.parametrize(
    ("model", "data"),
    [
        (NMF(3), X),
        (NMF(3), COUNTS),
        (NMF(9), COUNTS),
        (NMF(3, l1_codes=0.1, l2_components=0.2), X),
        (NMF(3, loss="kullback-leibler"), COUNTS),
        (NMF(3, loss="kullback-leibler"), X),
        (NMF(3, solver="multiplicative"), X),
        (NMF(3, missing="nan"), np.where(RNG.uniform(size=X.shape) < 0.1, np.nan, X)),
        (GraphNMF(3, graph_strength=1.0), X),
        (GraphNMF(3, graph_strength=1.0), COUNTS),
        (GraphNMF(3, graph_strength=1.0, loss="kullback-leibler"), COUNTS),
        (SemiNMF(3), X),
    ],
    ids=lambda each: repr(each) if hasattr(each, "fit") else type(each).__name__,
)
def test_together_is_alone(model, data):
    compare(lambda: started(model.problem(data), range(4)))


@pytest.mark.parametrize(("model", "data"), [(NMF(3), X), (NMF(9), COUNTS), (GraphNMF(3, graph_strength=1.0), X)])
def test_alike_is_alone_to_the_bit(model, data):
    alone = [solve(problem, OPTIONS) for problem in started(model.problem(data), range(3))]
    together = dict(solve_many(started(model.problem(data), range(3)), OPTIONS, alike=True))
    for index, one in enumerate(alone):
        np.testing.assert_array_equal(together[index].state.W, one.state.W)
        np.testing.assert_array_equal(together[index].state.Ht, one.state.Ht)


def test_problems_may_differ():
    def posed():
        base = NMF(3).problem(X)
        return [
            *started(base.with_components(2), [0]),
            *started(base.with_components(5), [1]),
            *started(base.reweighted(WEIGHTS), [2]),
            *started(GraphNMF(3, graph_strength=2.0).problem(X), [3]),
            *started(base, [4]),
        ]

    compare(posed)


def test_sample_weights_are_repeated_samples():
    base = NMF(3, init="nndsvda").problem(X)
    ((_, weighted),) = solve_many([base.reweighted(WEIGHTS)], OPTIONS)
    repeated = NMF(3, init="nndsvda").problem(np.repeat(X, WEIGHTS.astype(int), axis=0))
    assert weighted.result.objective == pytest.approx(solve(repeated, OPTIONS).result.objective, rel=1e-4)
    assert base.X.sample_weight is None


def test_products_are_shared(monkeypatch):
    """Six fits make no more passes over X than one."""
    widths = []
    code = HeldOperand.code_together

    def counted(self, passes):
        widths.append(sum(each.Ht.shape[1] for each in passes))
        return code(self, passes)

    monkeypatch.setattr(HeldOperand, "code_together", counted)
    results = list(solve_many(started(NMF(3).problem(X), range(6)), Options(10, 0)))
    assert widths == [18] * 10
    assert {minimum.result.n_iter for _, minimum in results} == {10}


def test_those_that_end_leave_and_others_join(monkeypatch):
    """With room for two, a fit is posed when another one has ended."""
    begun = []
    monkeypatch.setattr(steps, "LIVE_BYTES", 2 * steps.COPIES * sum(X.shape) * 3 * 8)
    base = NMF(3).problem(X)

    def lazily():
        for index, problem in enumerate(started(base, range(6))):
            begun.append(index)
            yield problem

    ended = []
    for index, _ in solve_many(lazily(), OPTIONS):
        ended.append(index)
        # Both may end at once, and be followed by two others, before the first is handed out.
        assert len(begun) <= len(ended) + 3
    assert sorted(ended) == list(range(6))


def test_fits_that_share_nothing_are_handed_out_one_by_one():
    """None begins before the result of the last one could be forgotten."""
    begun, base = [], NMF(3, loss="kullback-leibler").problem(COUNTS)

    def lazily():
        for index, problem in enumerate(started(base, range(6))):
            begun.append(index)
            yield problem

    for place, (index, _) in enumerate(solve_many(lazily(), OPTIONS)):
        assert index == place == begun[-1]


@pytest.mark.parametrize("model", [NMF(3), NMF(3, loss="kullback-leibler")], ids=lambda each: each.loss)
def test_other_data_wait_until_those_before_them_have_ended(model):
    """Of many data sets, that of the running fits and the next one are in memory."""
    base, alive, most = model.problem(X), weakref.WeakSet(), []

    def on_other_data():
        rng = np.random.RandomState(0)
        for seed in range(6):
            other = as_operand(rng.poisson(5 * X).astype(float))
            alive.add(other)
            # Each twice, so that two fits have the same data.
            for problem in started(base, [seed, seed + 1]):
                yield problem.on(other, None, problem.rng)
            del problem, other
            most.append(len(alive))

    ends = [index for index, _ in solve_many(on_other_data(), OPTIONS)]
    assert sorted(ends) == list(range(12))
    assert max(most) <= 2
    compare(lambda: list(on_other_data()))


def test_no_problem_no_result():
    assert list(solve_many([])) == []


def test_float32_stays():
    base = NMF(3).problem(X.astype(np.float32))
    for _, minimum in solve_many(started(base, range(3)), Options(5, 0)):
        assert minimum.state.W.dtype == minimum.state.Ht.dtype == np.float32

"""Single steps of a stream, against sums over all batches."""

import numpy as np
import pytest
import scipy.sparse as sp

from partwise import NMF, GraphNMF, LocalCoordinateNMF
from partwise.core.objective import Objective
from partwise.solvers import Options, begin_stream, check_streams, solve, take_batch
from partwise.solvers.codes import code_rows

NONE = np.zeros(0, np.intp)
RNG = np.random.RandomState(0)
X = RNG.gamma(1.0, size=(120, 4)) @ RNG.gamma(0.5, size=(4, 15)) + 0.2 * RNG.uniform(size=(120, 15))
METHODS = {
    "squared error": NMF(4),
    "Kullback-Leibler": NMF(4, loss="kullback-leibler"),
    "Itakura-Saito": NMF(4, loss="itakura-saito"),
    "penalties": NMF(4, l1_codes=0.1, l2_codes=0.1),
    "local coordinates": LocalCoordinateNMF(4, coordinate_strength=0.1),
}


def streamed(method, batches):
    """The problem, the codes before scaling, and the stream after every batch."""
    problem = method.set_params(random_state=0).problem(batches[0])
    minimum = solve(problem, Options(30, 0.0, inner=True))
    steps = [(problem, minimum, begin_stream(problem, minimum, batches[0].shape[0], NONE))]
    for batch in batches[1:]:
        problem = method.problem(batch)
        steps.append((problem, *take_batch(problem, steps[-1][2], NONE)))
    return steps


def test_what_is_kept_is_the_sum_over_all_batches():
    batches = np.split(X, 4)
    method = NMF(4, scale=None)
    steps = streamed(method, batches)
    (past,) = steps[-1][2].pasts
    codes = [minimum.state.W for _, minimum, _ in steps]
    np.testing.assert_allclose(past.pull, sum(x.T @ W for x, W in zip(batches, codes, strict=True)))
    np.testing.assert_allclose(past.gram, sum(W.T @ W for W in codes))


def test_scaled_components_leave_what_is_explained_as_it_was():
    batches = np.split(X, 4)
    steps = streamed(NMF(4), batches)
    norms = np.linalg.norm(steps[-1][2].Ht, axis=0)
    np.testing.assert_allclose(norms, 1)
    # The objective that was reached counts the past at the components as they were before they were scaled.
    _, minimum, stream = steps[-1]
    (past,) = stream.pasts
    assert past.value(minimum.state) == pytest.approx(minimum.result.objective, rel=1e-10)


@pytest.mark.parametrize("name", METHODS)
def test_a_batch_lowers_the_sum_of_it_and_the_past(name):
    method = METHODS[name]
    steps = streamed(method, np.split(X, 3))
    stream = steps[1][2]
    _, minimum, _ = steps[2]
    last = method.problem(np.split(X, 3)[2])
    objective = Objective([*minimum.terms, *stream.pasts])
    start = last.state(code_rows(Objective(minimum.terms), last.X, stream.Ht, 3), stream.Ht)
    assert minimum.result.objective <= sum(objective.values(start).values()) * (1 + 1e-3)


@pytest.mark.parametrize("name", ["squared error", "Kullback-Leibler"])
def test_sparse_and_dense_batches_are_the_same(name):
    data = np.where(X > 0.5, X, 0)
    dense, sparse = np.split(data, 3), [sp.csr_array(part) for part in np.split(data, 3)]
    one, other = (streamed(METHODS[name], parts)[-1][2] for parts in (dense, sparse))
    np.testing.assert_allclose(one.Ht, other.Ht, rtol=1e-6, atol=1e-8)


def test_what_cannot_be_learned_from_batches_is_refused():
    with pytest.raises(ValueError, match="ties the codes of samples to each other"):
        check_streams(GraphNMF(4, graph_strength=1.0).problem(X))
    with pytest.raises(ValueError, match="Penalise the codes as well"):
        check_streams(NMF(4, l1_components=0.1).problem(X))

"""float32 on nearly exact data: as good as float64 can be stored, and no rise beyond rounding."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits

from partwise import NMF, GraphNMF
from partwise.core.rounding import is_resolved
from partwise.core.state import State
from partwise.core.storage import as_operand
from partwise.terms import Frobenius

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

MODELS = {
    "NMF": NMF,
    "GraphNMF": lambda k, **params: GraphNMF(k, graph_strength=1e-7, **params),
}


def nearly_exact(n, m, k, residual, sparse):
    """Data of rank k and some noise, as float32."""
    rng = np.random.RandomState(0)
    W, H = rng.gamma(0.5, size=(n, k)), rng.gamma(0.5, size=(k, m))
    if sparse:
        W, H = W * (rng.uniform(size=W.shape) < 0.3), H * (rng.uniform(size=H.shape) < 0.2)
    exact = W @ H
    noise = rng.uniform(size=exact.shape) * (exact > 0)
    X = (exact + residual * np.linalg.norm(exact) / np.linalg.norm(noise) * noise).astype(np.float32)
    return sp.csr_array(X) if sparse else X


def error(X, model):
    """‖X − WH‖ / ‖X‖ in float64, of factors as float32 holds them."""
    W, H = (F.astype(np.float32).astype(np.float64) for F in (model.embedding_, model.components_))
    X = (X.toarray() if sp.issparse(X) else X).astype(np.float64)
    return np.linalg.norm(X - W @ H) / np.linalg.norm(X)


@pytest.mark.parametrize("residual", [1e-2, 2e-4, 2e-5])
@pytest.mark.parametrize(("shape", "sparse"), [((200, 50, 5), False), ((60, 300, 4), False), ((300, 200, 6), True)])
@pytest.mark.parametrize("solver", ["coordinate", "multiplicative"])
@pytest.mark.parametrize("name", MODELS)
def test_float32_ends_where_float64_does(name, solver, shape, sparse, residual):
    X = nearly_exact(*shape, residual, sparse)
    params = {"solver": solver, "init": "random", "random_state": 0, "max_iter": 500 if solver == "coordinate" else 150}
    single, double = (MODELS[name](shape[2], **params).fit(data) for data in (X, X.astype(np.float64)))
    assert single.embedding_.dtype == np.float32
    assert error(X, single) < 2 * error(X, double)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weight", [None, np.random.RandomState(2).uniform(size=80)])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csc_array])
def test_the_value_of_a_nearly_exact_fit(make, weight, dtype):
    """What is left of the squared error is far below the rounding errors of its parts."""
    rng = np.random.RandomState(1)
    W, H = rng.gamma(0.5, size=(80, 4)).astype(dtype), rng.gamma(0.5, size=(4, 30)).astype(dtype)
    H[:, :5] = 0
    fitted = W.astype(np.float64) @ H
    X = (fitted * (1 + 1e-5 * rng.uniform(size=fitted.shape))).astype(dtype)
    squares, weight = (X - fitted) ** 2, None if weight is None else weight.astype(dtype)
    wanted = float((squares if weight is None else weight[:, None] * squares).sum())
    operand = as_operand(make(X), None, weight)
    value = Frobenius().bind(operand, sample_weight=weight).value(State(operand, W, np.ascontiguousarray(H.T)))
    assert not is_resolved(value, operand.squared_norm, np.dtype(dtype)) or dtype == np.float64
    assert value == pytest.approx(wanted, rel=2e-2)
    assert operand.squared_error(W, H.T) == pytest.approx(wanted, rel=2e-2)


@pytest.mark.parametrize("kind", [NMF, GraphNMF])
def test_float32_does_not_rise_beyond_its_rounding(kind):
    """A rise that is accepted is one that products of float32 cannot tell from none."""
    X = load_digits().data[:600].astype(np.float32)
    for k in (6, 10, 16):
        model = kind(k, random_state=0, max_iter=120, **({"graph_strength": 10.0} if kind is GraphNMF else {})).fit(X)
        history = np.array(model.history_["objective"])
        assert np.diff(history).max() < 1e-6 * max(float(np.sum(X.astype(np.float64) ** 2)), history[0])


@pytest.mark.parametrize(
    "model",
    [
        NMF(4, l1_codes=0.01),
        NMF(4, l2_codes=0.1),
        NMF(4, l1_components=1.0),
        NMF(4, l1_codes=0.1, l2_components=0.1),
        NMF(4, seed_components=np.eye(2, 40)),
        GraphNMF(4, graph_strength=0.1),
        GraphNMF(4, graph_strength=10.0),
    ],
    ids=str,
)
@pytest.mark.parametrize("loss", ["huber", "l1"])
def test_robust_losses_with_penalties_go_on_as_without(loss, model):
    """All is summed entry by entry: what rounding may add is far below what squared norms would allow."""
    rng = np.random.RandomState(0)
    X = rng.poisson(8 * rng.gamma(0.5, size=(120, 4)) @ rng.gamma(0.5, size=(4, 40)))
    single, double = (clone(model).set_params(loss=loss, random_state=0).fit(X.astype(t)) for t in ("f4", "f8"))
    assert np.diff(single.history_["objective"]).max() <= 1e-6 * single.objective_
    assert single.objective_ <= double.objective_ * (1 + 5e-5)

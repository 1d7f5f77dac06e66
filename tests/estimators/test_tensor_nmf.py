"""TensorNMF against dense tensors and tensorly."""

import numpy as np
import pytest
import scipy.sparse as sp

from partwise import NMF, TensorNMF

SHAPE = (4, 5, 3)


def problem(shape=SHAPE, n=15, k=3, noise=0.05, seed=0):
    rng = np.random.RandomState(seed)
    factors = [rng.gamma(1.0, size=(size, k)) for size in (n, *shape)]
    letters = "abcd"[: len(factors)]
    tensor = np.einsum(",".join(f"{a}z" for a in letters) + f"->{letters}", *factors)
    tensor = tensor + noise * tensor.mean() * rng.uniform(size=tensor.shape)
    return tensor.reshape(n, -1)


def explicit(model, n):
    letters = "abcd"[: len(model.mode_factors_) + 1]
    spec = ",".join(f"{a}z" for a in letters) + f"->{letters}"
    return np.einsum(spec, model.embedding_, *model.mode_factors_).reshape(n, -1)


@pytest.mark.parametrize("shape", [(60,), (12, 5), SHAPE])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csc_matrix], ids=["dense", "csr", "csc"])
def test_components_are_outer_products(shape, make):
    X = problem()
    model = TensorNMF(3, sample_shape=shape, random_state=0, max_iter=60, tol=0).fit(make(X))
    product = explicit(model, len(X))
    np.testing.assert_allclose(model.embedding_ @ model.components_, product, atol=1e-10)
    np.testing.assert_allclose(model.objective_, ((X - product) ** 2).sum(), rtol=1e-8)
    for factor, size in zip(model.mode_factors_, shape, strict=True):
        assert factor.shape == (size, 3)
        np.testing.assert_allclose(np.linalg.norm(factor, axis=0), 1)
    assert np.diff(model.history_["objective"]).max() <= 1e-10 * (X**2).sum()
    assert model.solver_ == "alternating"


def test_sparse_and_dense_data_give_the_same():
    X = problem() * (np.random.RandomState(1).uniform(size=(15, 60)) < 0.4)
    models = [
        TensorNMF(3, sample_shape=SHAPE, random_state=0, max_iter=30, tol=0).fit(make(X))
        for make in (np.asarray, sp.csr_array)
    ]
    np.testing.assert_allclose(models[0].components_, models[1].components_, atol=1e-8)


def test_exact_tensor_is_found():
    X = problem(noise=0.0)
    model = TensorNMF(3, sample_shape=SHAPE, init="random", n_init=5, random_state=0, max_iter=3000, tol=1e-9).fit(X)
    assert model.objective_ < 1e-4 * (X**2).sum()


def test_against_tensorly():
    """From the same start, with the same number of sweeps, to an error at least as small as that of its HALS."""
    tensorly = pytest.importorskip("tensorly")
    from tensorly.decomposition import non_negative_parafac_hals

    X = problem(noise=1.0)
    rng = np.random.RandomState(3)
    factors = [rng.uniform(size=(size, 3)) for size in (15, *SHAPE)]
    start = tensorly.cp_tensor.CPTensor((np.ones(3), [factor.copy() for factor in factors]))
    peer = non_negative_parafac_hals(X.reshape(15, *SHAPE), 3, n_iter_max=300, init=start, tol=0)
    error = float(((tensorly.cp_to_tensor(peer) - X.reshape(15, *SHAPE)) ** 2).sum())
    H = np.einsum("az,bz,cz->zabc", *factors[1:]).reshape(3, -1)
    model = TensorNMF(3, sample_shape=SHAPE, init=(factors[0], H), max_iter=300, tol=0).fit(X)
    assert model.objective_ <= error * 1.01


def test_stationary_for_every_block():
    """At the end, no single factor can be moved down along its gradient: the conditions of the CP problem."""
    X = problem(noise=0.5)
    model = TensorNMF(3, sample_shape=(12, 5), random_state=0, max_iter=3000, tol=0).fit(X)
    T, W, (A, B) = X.reshape(15, 12, 5), model.embedding_, model.mode_factors_
    residual = np.einsum("iz,az,bz->iab", W, A, B) - T
    # The scale stands in the codes; give each factor its share of it.
    gradients = {
        "W": (W, np.einsum("iab,az,bz->iz", residual, A, B)),
        "A": (A, np.einsum("iab,iz,bz->az", residual, W, B)),
        "B": (B, np.einsum("iab,iz,az->bz", residual, W, A)),
    }
    for name, (factor, gradient) in gradients.items():
        size = np.abs(gradient).max() + np.linalg.norm(X)
        assert (gradient > -1e-3 * size).all(), name
        assert np.abs(gradient * factor).max() < 1e-3 * size, name


def test_vectors_are_plain_samples():
    X = problem(noise=0.5)
    tensor = TensorNMF(3, random_state=0, max_iter=2000, tol=1e-8).fit(X)
    plain = NMF(3, random_state=0, max_iter=2000, tol=1e-8).fit(X)
    assert tensor.objective_ <= 1.02 * plain.objective_


def test_new_samples_and_bad_shapes():
    X = problem()
    model = TensorNMF(3, sample_shape=SHAPE, random_state=0, max_iter=30, tol=0).fit(X)
    codes = model.transform(X)
    assert ((X - codes @ model.components_) ** 2).sum() <= model.objective_ * (1 + 1e-8)
    for shape, message in (
        ((7, 7), "49 entries"),
        ((), "positive integers"),
        ((-60, -1), "positive"),
        ((6.0, 10), "int"),
    ):
        with pytest.raises(ValueError, match=message):
            TensorNMF(3, sample_shape=shape).fit(X)

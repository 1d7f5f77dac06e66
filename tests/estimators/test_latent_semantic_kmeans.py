"""LatentSemanticKMeans against singular vectors and scikit-learn's k-means."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from partwise import LatentSemanticKMeans

X = load_digits(n_class=4).data[:200]


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csc_matrix], ids=["dense", "csr", "csc"])
def test_kmeans_of_singular_vectors(make):
    signed = X - X.mean()
    model = LatentSemanticKMeans(4, n_dimensions=6, random_state=0).fit(make(signed))
    U, s, Vt = np.linalg.svd(signed, full_matrices=False)
    best = (U[:, :6] * s[:6]) @ Vt[:6]
    np.testing.assert_allclose(model.inverse_transform(model.embedding_), best, atol=0.02 * np.abs(best).max())
    labels = KMeans(4, n_init=20, random_state=0).fit((U * s)[:, :6]).labels_
    assert adjusted_rand_score(labels, model.labels_) > 0.98
    np.testing.assert_array_equal(model.predict(make(signed)), model.labels_)
    np.testing.assert_allclose(model.transform(signed), model.embedding_, atol=1e-9)


@pytest.mark.filterwarnings("ignore:The codes give:UserWarning")
@pytest.mark.parametrize("m", [1, 2, 3, 7, 12, 29])
def test_of_data_that_do_not_vary(m):
    """Whether rounding leaves a variance of zero or next to nothing depends on the BLAS; nothing may divide by it."""
    model = LatentSemanticKMeans(2, random_state=0).fit(np.full((m + 3, m), 0.1 * m))
    assert np.isfinite(model.components_).all()
    np.testing.assert_array_equal(model.labels_, 0)


def test_bad_sizes():
    with pytest.raises(ValueError, match="at most 64"):
        LatentSemanticKMeans(4, n_dimensions=65).fit(X)
    with pytest.raises(ValueError, match="as many samples"):
        LatentSemanticKMeans(201).fit(X)


def test_codes_of_another_width_are_refused_in_a_sentence():
    model = LatentSemanticKMeans(3, random_state=0).fit(np.random.RandomState(0).uniform(size=(20, 6)))
    width = len(model.components_)
    with pytest.raises(ValueError, match=f"W has {width + 1} columns; the model has {width} components"):
        model.inverse_transform(np.ones((2, width + 1)))

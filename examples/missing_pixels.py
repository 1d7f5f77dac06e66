"""Local coordinates with missing entries: parts that look like samples, learned from samples with holes.

    Σ_known (x_if − (W H)_if)² + μ Σ_ij w_ij Σ_{f known} (x_if − h_jf)²

Both terms see the known pixels only: distances between a sample and a component are taken where the sample is known. A
component is therefore whole even if no sample is, and W H fills the holes.
"""

import numpy as np
from sklearn.datasets import load_digits

from partwise import Factorization
from partwise.terms import Frobenius, LocalCoordinates


def fit(hidden_share=0.3):
    """Digits with a share of their pixels hidden; returns the model, the whole images and what was hidden."""
    X = load_digits().data[:400] / 16
    hidden = np.random.RandomState(0).uniform(size=X.shape) < hidden_share
    terms = [Frobenius(), LocalCoordinates(0.1)]
    model = Factorization(20, terms=terms, missing="nan", max_iter=150, tol=0, random_state=0)
    return model.fit(np.where(hidden, np.nan, X)), X, hidden


if __name__ == "__main__":
    model, X, hidden = fit()
    filled = model.inverse_transform(model.embedding_)
    mean = np.broadcast_to(np.nanmean(np.where(hidden, np.nan, X), axis=0), X.shape)
    for name, guess in (("mean of the pixel", mean), ("W H", filled)):
        print(f"error in the hidden pixels, {name}: {np.sqrt(np.mean((guess - X)[hidden] ** 2)):.3f}")

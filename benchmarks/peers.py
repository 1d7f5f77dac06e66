"""NMF of other libraries, each called as its documentation says, from a given start where it accepts one."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from .measure import Run, clock, squared_error


@dataclass(frozen=True)
class Peer:
    """A library's solver.

    Attributes
    ----------
    name : str
    package : str
        What must be installed.
    solve : callable
        (X, W, H, sweeps) to (W, H); only this is timed. W may be None if the peer keeps no codes.
    steps : bool
        Whether sweeps can be made a few at a time without changing anything, so that there is a trace.
    note : str
        What a reader of the table should know.
    dtype : type, optional
        Solve in this precision whatever that of the data; the conversion is not timed.
    """

    name: str
    package: str
    solve: Callable
    steps: bool = False
    note: str = ""
    dtype: type | None = None

    @property
    def missing(self):
        """Why it cannot be measured, or nothing."""
        if importlib.util.find_spec(self.package) is None:
            return f"{self.package} is not installed: pip install 'partwise[bench]'"
        return ""

    def run(self, X, W, H, sweeps, chunk=None):
        """Make `sweeps`, with a point of the trace every `chunk` sweeps if the solver can be stepped."""
        if self.dtype is not None:
            X, W, H = (array.astype(self.dtype, copy=False) for array in (X, W, H))
        chunk = chunk if chunk and self.steps else sweeps
        seconds, trace = 0.0, []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for done in range(0, sweeps, chunk):
                W, H = W.copy(), H.copy()
                begin = clock()
                W, H = self.solve(X, W, H, min(chunk, sweeps - done))
                seconds += clock() - begin
                W = _best_codes(X, H) if W is None else W
                trace.append((seconds, squared_error(X, W, H)))
        return Run(seconds, trace[-1][1], trace, sweeps)


def _sklearn(solver):
    def solve(X, W, H, sweeps):
        from sklearn.decomposition import non_negative_factorization

        # The function, not the class: the class also computes the error after the fit, which is not needed here.
        return non_negative_factorization(
            X, W, H, n_components=len(H), init="custom", solver=solver, tol=0, max_iter=sweeps
        )[:2]

    return solve


def _minibatch(X, W, H, sweeps):
    from sklearn.decomposition import MiniBatchNMF

    model = MiniBatchNMF(len(H), init="custom", tol=0, max_no_improvement=None, max_iter=sweeps)
    return model.fit_transform(X, W=W, H=H), model.components_


def _torchnmf(X, W, H, sweeps):
    import torch
    from torchnmf.nmf import NMF

    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64 if X.dtype == np.float64 else torch.float32)
    if sp.issparse(X):
        coo = X.tocoo()
        V = torch.sparse_coo_tensor(np.vstack([coo.row, coo.col]), coo.data, X.shape).coalesce()
    else:
        V = torch.from_numpy(X)
    net = NMF(W=torch.from_numpy(np.ascontiguousarray(H.T)), H=torch.from_numpy(W))
    net.fit(V, beta=2, tol=-np.inf, max_iter=sweeps)
    return net.H.detach().numpy(), net.W.detach().numpy().T


def _nimfa(X, W, H, sweeps):
    import nimfa

    X = sp.csr_matrix(X) if sp.issparse(X) else X
    model = nimfa.Nmf(X, W=W, H=H, rank=len(H), max_iter=sweeps, test_conv=sweeps, update="euclidean", objective="fro")
    fit = model().fit
    return tuple(np.asarray(F.toarray() if sp.issparse(F) else F) for F in (fit.basis(), fit.coef()))


def _gensim(X, W, H, sweeps):
    from gensim.models.nmf import Nmf

    words = {i: str(i) for i in range(X.shape[1])}
    corpus = sp.csc_matrix(X.T, dtype=np.float64)
    model = Nmf(corpus, len(H), words, passes=sweeps, random_state=0, normalize=False, eval_every=None)
    return None, np.ascontiguousarray(model.get_topics(normalize=False), X.dtype)


def _best_codes(X, H):
    """Codes for given components, for a peer that keeps none."""
    from sklearn.decomposition import non_negative_factorization

    return non_negative_factorization(X, H=H, n_components=len(H), update_H=False, max_iter=200, tol=1e-4)[0]


CD = Peer("scikit-learn cd", "sklearn", _sklearn("cd"), steps=True)
CD64 = Peer("scikit-learn cd in float64", "sklearn", _sklearn("cd"), steps=True, dtype=np.float64)
MU = Peer("scikit-learn mu", "sklearn", _sklearn("mu"))
MINIBATCH = Peer("MiniBatchNMF", "sklearn", _minibatch, note="passes over the data, batches of 1024")
TORCHNMF = Peer("torchnmf", "torchnmf", _torchnmf)
NIMFA = Peer("nimfa", "nimfa", _nimfa)
GENSIM = Peer("gensim", "gensim", _gensim, note="its own start; its codes solved for exactly, off the clock")

"""β-divergences other than the squared error and Kullback-Leibler: Newton steps against our multiplicative rules."""

from __future__ import annotations

import numpy as np

from partwise import NMF
from studies.real_data import FOLDER

from . import missing
from .counts import counts
from .table import Row


def spectrogram(n=1000, m=513, parts=12):
    """A made-up power spectrogram: frames of varying loudness, exponential noise on every entry, a faint hum."""
    rng = np.random.default_rng(0)
    loudness, activations = np.exp(rng.normal(size=(n, 1))), rng.gamma(0.3, size=(n, parts))
    power = loudness * activations @ rng.gamma(0.3, size=(parts, m))
    return (power + 1e-4) * rng.exponential(size=(n, m)) + 1e-9


def against_rules(name, beta, k=10, seeds=range(5), **others):
    """Rows for one β and one data set: the CPU time to what the rules reach in 200 sweeps, from the same start."""
    if name != "spectrogram" and not (FOLDER / f"{name}.npz").is_file():
        return [Row(f"NMF, β = {beta:g}", name, note="the data set is not here")]
    X = spectrogram() if name == "spectrogram" else counts(name)
    return missing.against_rules(
        f"NMF, β = {beta:g},", lambda **how: NMF(k, loss=beta, **how), X, name, seeds=seeds, **others
    )

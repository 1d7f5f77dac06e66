"""Fits at the defaults end before `max_iter`, without a warning, whatever the loss, on ordinary data of all kinds."""

import argparse
import csv
import inspect
import logging
import subprocess
import tarfile

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import CountVectorizer

from partwise import NMF, CauchyNMF

LOSSES = [0, 0.5, 1, 1.5, 2, 3, "huber", "l1", "negative-binomial", "cauchy"]
MODULES = argparse, csv, inspect, logging, subprocess, tarfile


def docstrings():
    """Counts of the words of docstrings of the standard library."""
    found = {inspect.getdoc(thing) or "" for module in MODULES for thing in vars(module).values()}
    texts = sorted(text for text in found if len(text) > 200)
    return sp.csr_matrix(CountVectorizer(min_df=4, stop_words="english").fit_transform(texts), dtype=float)


DIGITS = load_digits().data[::4]
HOLES = np.where(np.random.RandomState(0).uniform(size=DIGITS.shape) < 0.3, np.nan, DIGITS)
MOSTLY = np.where(np.random.RandomState(0).uniform(size=DIGITS.shape) < 0.8, np.nan, DIGITS)
COUNTS = docstrings()


def fitted(X, loss, k):
    """With the defaults; warnings are errors."""
    if loss == 0:
        X = X + X.dtype.type(1)
    if loss == "cauchy":
        return CauchyNMF(k, random_state=0).fit(X)
    missing = None if sp.issparse(X) or not np.isnan(X).any() else "nan"
    return NMF(k, loss=loss, missing=missing, random_state=0).fit(X)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("loss", LOSSES)
def test_digits(loss, dtype):
    assert fitted(DIGITS.astype(dtype), loss, 10).stop_reason_ == "converged"


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("loss", [loss for loss in LOSSES if loss != "cauchy"])
def test_digits_with_holes(loss, dtype):
    assert fitted(HOLES.astype(dtype), loss, 10).stop_reason_ == "converged"


@pytest.mark.parametrize("loss", [loss for loss in LOSSES if loss not in (0, "cauchy", "l1")])
def test_digits_of_which_little_is_known(loss):
    """Codes of which few known entries say anything may be huge; they must not keep a fit from ending."""
    assert fitted(MOSTLY, loss, 3).stop_reason_ == "converged"


def spectrogram():
    """Power spectra of fading tones: loud and silent frames differ by ten orders of magnitude."""
    rng, time = np.random.RandomState(3), np.arange(8000) / 8000
    sound = 0.001 * rng.normal(size=128 * 300 + 256)
    for start in rng.randint(len(sound) - 8000, size=15):
        pitch = rng.choice([220, 277, 330, 440, 554])
        tones = sum(np.sin(2 * np.pi * pitch * n * time) / n for n in (1, 2, 3, 4))
        sound[start : start + 8000] += np.exp(-8 * time) * tones
    frames = np.stack([sound[128 * i : 128 * i + 256] * np.hanning(256) for i in range(300)])
    return np.abs(np.fft.rfft(frames)) ** 2


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("loss", [loss for loss in LOSSES if loss not in ("huber", "l1", "cauchy")])
def test_power_spectra(loss, dtype):
    """In float32 silent frames, whose curvatures are extreme, must not keep a fit from ending."""
    X = spectrogram().astype(dtype)
    assert NMF(5, loss=loss, random_state=0).fit(X).stop_reason_ == "converged"


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("loss", [loss for loss in LOSSES if loss != 0])
def test_counts_of_words(loss, dtype):
    assert fitted(COUNTS.astype(dtype), loss, 10).stop_reason_ == "converged"

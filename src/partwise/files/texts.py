"""Texts as counts of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..core.types import Array
from .archive import Refused

StopWords = Literal["english"] | Sequence[str] | None
# Stop words that a note names.
NAMED = 3


@dataclass(frozen=True, eq=False)
class Counts:
    """How often every word occurs in every text.

    Attributes
    ----------
    X : csr_matrix of shape (n_texts, n_words)
    words : list of str
    notes : tuple of str
        What was left out.
    """

    X: Any
    words: list[str]
    notes: tuple[str, ...] = ()


def count_words(texts: Sequence[str], stop_words: StopWords = None) -> Counts:
    """Count words of two characters or more, in lower case.

    Parameters
    ----------
    texts : sequence of str
    stop_words : {"english"}, sequence of str or None
        Words that are not counted; "english" is scikit-learn's list.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer()
    try:
        X = vectorizer.fit_transform(texts)
    except ValueError:
        raise Refused("there are no words in its texts") from None
    words = vectorizer.get_feature_names_out()
    common = np.isin(words, list(listed(stop_words)))
    if common.all():
        raise Refused(
            "there are no words in its texts but stop words; keep them with stop_words=None (--stop-words none)"
        )
    return Counts(
        X[:, ~common], words[~common].tolist(), _say(words, np.where(common, X.sum(axis=0).A1, 0), stop_words)
    )


def _say(words: Array, left_out: Array, stop_words: StopWords) -> tuple[str, ...]:
    """Which words are not counted, the most frequent first; an English list is not used without a word."""
    if stop_words is None:
        return ()
    kind = "English stop words" if stop_words == "english" else "stop words"
    number = np.count_nonzero(left_out)
    if not number:
        return (f"the texts hold no {kind}; a list of your own may be given (stop_words; --stop-words FILE)",)
    often = ", ".join(words[np.argsort(-left_out, kind="stable")[: min(NAMED, number)]])
    return (f"{number} {kind} are not counted, such as {often} (stop_words; --stop-words none, or a file of your own)",)


def listed(stop_words: StopWords) -> frozenset[str]:
    """The words themselves, in lower case."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    if stop_words == "english":
        return ENGLISH_STOP_WORDS
    return frozenset(word.lower() for word in stop_words or ())

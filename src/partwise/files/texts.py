"""Texts as counts of words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .archive import Refused


def count_words(texts: Sequence[str]) -> tuple[Any, list[str]]:
    """How often every word occurs in every text, as a CSR matrix, and the words."""
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer()
    try:
        X = vectorizer.fit_transform(texts)
    except ValueError:
        raise Refused("there are no words in its texts") from None
    return X, vectorizer.get_feature_names_out().tolist()

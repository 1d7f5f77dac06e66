"""Tables of texts as people have them: what is counted, and what a note says about the rest."""

import numpy as np
import pytest
from reading import refuse, write

from partwise.files import read
from partwise.files.data_set import describe
from partwise.files.texts import count_words

TEXTS = [
    "the cat sat on the mat",
    "the dog ate all of my shoes",
    "a cat and a dog in the garden",
    "shoes on the mat again",
]


def table(path, **columns):
    rows = zip(*columns.values(), strict=True)
    return write(path, "\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]) + "\n")


def counted(data):
    """The words of the first text."""
    return {data.terms[j] for j in data.X[[0]].indices.tolist()}


def test_the_only_column_of_prose_is_counted_and_the_rest_is_named(tmp_path):
    days = ["2024-01-02", "2024-01-03", "2024-01-02", "2024-01-09"]
    path = table(tmp_path / "a.csv", id=[7, 8, 9, 10], date=days, review=TEXTS, stars=[1, 5, 3, 2])
    data = read(path)
    assert counted(data) == {"the", "cat", "sat", "on", "mat"}
    assert data.sample_names == ("7", "8", "9", "10")
    assert "the words of column 'review' are counted; 'date', 'stars' are not used" in data.notes
    alone = read(table(tmp_path / "b.csv", abstract=TEXTS))
    assert alone.notes == ("the words of column 'abstract' are counted",)
    classes = read(table(tmp_path / "c.csv", label=["a", "b", "a", "b"], comment=TEXTS))
    assert (classes.class_names, counted(classes)) == (("a", "b"), counted(data))
    first = read(table(tmp_path / "d.csv", review=TEXTS, stars=[1, 5, 3, 2]))
    assert (first.sample_names, counted(first)) == (None, counted(data))


def test_a_column_named_text_says_what_it_leaves_out(tmp_path):
    path = table(tmp_path / "a.csv", title=["a", "b", "a", "b"], text=TEXTS)
    assert read(path).notes == ("the words of column 'text' are counted; 'title' is not used",)


def test_the_user_names_the_texts(tmp_path):
    path = table(tmp_path / "a.csv", title=TEXTS[::-1], body=TEXTS, pages=[3, 1, 2, 5])
    refuse(path, "'title' and 'body' hold texts; .* text_column .*--text-column 'body'")
    assert counted(read(path, text_column="body")) == {"the", "cat", "sat", "on", "mat"}
    both = read(path, text_column=["title", "body"])
    assert counted(both) == {"the", "cat", "sat", "on", "mat", "shoes", "again"}
    assert "columns 'title' and 'body' are counted; 'pages' is not used" in both.notes[0]
    refuse(path, "no column named 'abstract'; its columns are 'title', 'body', 'pages'", text_column="abstract")
    refuse(tmp_path, "only tables have a column 'body'", text_column="body")
    numbers = read(path, text_column=False, drop_columns=["title", "body"])
    assert numbers.terms == ("pages",)


def test_numbers_with_a_remark_stay_numbers(tmp_path):
    """More columns of numbers than of text: nothing is guessed, and the sentence names both ways out."""
    path = table(tmp_path / "a.csv", a=[1, 2, 3, 4], b=[2, 2, 3, 4], remark=TEXTS)
    refuse(path, r"text where numbers should be, .* --drop-column 'remark'|text where .*--text-column 'remark'")
    assert read(path, drop_columns=["remark"]).terms == ("a", "b")
    named = table(tmp_path / "b.csv", car=[f"model {i} of the works" for i in range(4)], a=[1, 2, 3, 4], b=[4, 1, 2, 3])
    assert read(named).terms == ("a", "b")
    assert len(read(named).sample_names) == 4


def test_all_columns_of_text_are_named_at_once(tmp_path):
    path = table(tmp_path / "a.csv", x=[1, 2, 3], city=["Rome", "Oslo", "Rome"], sky=["grey", "blue", "blue"])
    refuse(path, "'Rome' near line 2 in column 'city'; so there is in 'sky'; ")


def test_texts_without_a_name(tmp_path):
    assert read(write(tmp_path / "a.csv", "\n".join(TEXTS))).X.shape[0] == 4
    refuse(write(tmp_path / "b.csv", "review\n"), "no samples", text_column="review")


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-8", "utf-8-sig"])
def test_encodings(tmp_path, encoding):
    path = tmp_path / "a.csv"
    path.write_text("text;größe\nCafé und Öl;1\nÖl “neu”;2\n", encoding=encoding)
    if encoding == "cp1252":
        refuse(path, r"not UTF-8 text; .* encoding \(--encoding cp1252")
        refuse(path, "not text in the encoding ascii", encoding="ascii")
        refuse(path, "no encoding named 'windows'", encoding="windows")
    data = read(path, encoding="cp1252" if encoding == "cp1252" else None)
    assert data.terms == ("café", "neu", "und", "öl")
    assert "'größe' is not used" in data.notes[-1]


def test_stop_words():
    english = count_words(TEXTS, "english")
    assert english.words == ["ate", "cat", "dog", "garden", "mat", "sat", "shoes"]
    assert english.notes[0].startswith("8 English stop words are not counted, such as the, on, ")
    np.testing.assert_array_equal(english.X.toarray()[0], [0, 1, 0, 0, 1, 1, 0])
    own = count_words(TEXTS, ["CAT", "dog"])
    assert "cat" not in own.words
    assert "the" in own.words
    assert own.notes[0].startswith("2 stop words are not counted, such as cat, dog")
    assert count_words(TEXTS).notes == ()
    assert "no English stop words" in count_words(["der Hund", "die Katze"], "english").notes[0]


def test_texts_of_stop_words_alone(tmp_path):
    refuse(table(tmp_path / "a.csv", text=["the of", "and so"]), "but stop words", stop_words="english")


def test_empty_samples_are_named(tmp_path):
    lines = describe(read(table(tmp_path / "a.csv", text=["red fox", '""', "!", "owl"])))
    assert lines[-1].startswith("note: 2 samples have no words that are counted (the first: number 2)")
    dense = describe(read(write(tmp_path / "b.csv", "name,p,q\nfirst,1,2\nsecond,0,0\nthird,1,0\n")))
    assert dense[-1].startswith("note: 1 sample has no entries but zeros (the first: second)")
    assert not any("sample" in line for line in describe(read(write(tmp_path / "c.csv", "1,0\n0,1\n")))[1:])

"""Data from tables, and new data for an old model: what is read, and what is refused in one sentence."""

import os

import numpy as np
import pytest
from reading import refuse, write

from partwise.files import ReadError, align, read

X = np.round(np.random.RandomState(0).uniform(0, 9, size=(6, 4)), 2)


def test_paths(tmp_path):
    refuse(tmp_path / "none.csv", "no such file")
    refuse(write(tmp_path / "set.xlsx", "x"), r"does not end in \.npz")
    refuse(tmp_path / "none", "it is not a folder")
    refuse(write(tmp_path / "set.npz", "x"), "only tables have a column 'y'", label_column="y")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipes_are_not_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    refuse(tmp_path / "pipe.csv", "not an ordinary file")


def test_tables_of_numbers(tmp_path):
    rows = "\n".join(",".join(map(str, row)) for row in X)
    plain = read(write(tmp_path / "a.csv", rows + "\n\n"))
    np.testing.assert_array_equal(plain.X, X)
    assert plain.terms is None
    tabs = read(write(tmp_path / "b.tsv", "w\tx\ty z\tv\r\n" + rows.replace(",", "\t").replace("\n", "\r\n")))
    np.testing.assert_array_equal(tabs.X, X)
    assert tabs.terms == ("w", "x", "y z", "v")
    one = read(write(tmp_path / "c.csv", "\ufeff1,2\n"))
    np.testing.assert_array_equal(one.X, [[1.0, 2.0]])
    many = read(write(tmp_path / "d.csv", "1,2\n" * 9000))
    assert many.X.shape == (9000, 2)


def test_labels_in_a_table(tmp_path):
    path = write(tmp_path / "a.csv", 'x,Class,z\n1,owl,\n3,"fox, red",4\n5,,6\n')
    data = read(path)
    assert data.class_names == ("fox, red", "owl")
    assert data.y.tolist() == [1, 0, -1]
    assert data.terms == ("x", "z")
    np.testing.assert_array_equal(data.X, [[1, np.nan], [3, 4], [5, 6]])
    named = read(write(tmp_path / "b.csv", "kind,label,x\n1,2,3\n4,5,6\n"), label_column="kind")
    assert named.class_names == ("1", "4")
    np.testing.assert_array_equal(named.X, [[2, 3], [5, 6]])


def test_tables_of_texts(tmp_path):
    data = read(write(tmp_path / "a.csv", "text,label\nred fox red,a\nan owl,b\n"))
    assert data.terms == ("an", "fox", "owl", "red")
    np.testing.assert_array_equal(data.X.toarray(), [[0, 1, 0, 2], [1, 0, 1, 0]])
    assert data.class_names == ("a", "b")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "it is empty"),
        ("\n\n", "it is empty"),
        ("a,b\n", "no samples"),
        ("a,b\n1,2\n3,x\n", "text where numbers should be, 'x' near line 3 in column 'b'"),
        ("1,2\n3\n", "line 2 has 1 cells, but the first has 2"),
        ("1,2\n3,=cmd|'/c calc'!A0\n", "text where numbers should be"),
        ('1,"2\n3,4\n', "told apart"),
        ("text\n!\n", "no words"),
        ("text,label\n!\n", "line 2 has 1 cells"),
        ("y\n1\n2\n", "no data"),
    ],
)
def test_tables_that_are_not_data(tmp_path, text, sentence):
    refuse(write(tmp_path / "a.csv", text), sentence)


def test_a_label_column_that_is_not_there(tmp_path):
    path = write(tmp_path / "a.csv", "a,b\n1,2\n")
    refuse(path, "no column named 'c'", label_column="c")


def test_align(tmp_path):
    table = read(write(tmp_path / "a.csv", "a,b,c\n1,2,3\n"))
    np.testing.assert_array_equal(align(table, ["c", "a"]).X, [[3, 1]])
    assert align(table, ["a", "b", "c"]) is table
    with pytest.raises(ReadError, match="no column 'd'"):
        align(table, ["a", "d"])
    texts = read(write(tmp_path / "b.csv", "text\nfox owl fox\n"))
    np.testing.assert_array_equal(align(texts, ["owl", "cat", "fox"]).X.toarray(), [[1, 0, 2]])
    np.testing.assert_array_equal(align(texts, ["cat"]).X.toarray(), [[0]])
    twice = read(write(tmp_path / "c.csv", "a,a\n1,2\n"))
    with pytest.raises(ReadError, match="the same name"):
        align(twice, ["a"])

"""Tables as pandas, R, numpy and spreadsheets write them are read back as the same numbers, classes and names."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reading import refuse, write

from partwise.files import read

X = np.round(np.random.RandomState(0).uniform(0.1, 9, size=(7, 4)), 3)
Y = ["owl", "fox", "owl", "", "fox", "owl", "fox"]
COLUMNS = {
    "default": range(4),
    "words": ["sepal", "petal", "Na", "width (cm)"],
    "years": range(1990, 1994),
    "blanks": ["a b", "c", "d, e", "f"],
}
INDICES = {
    "default": range(7),
    "sampled": [5, 3, 9, 11, 0, 2, 7],
    "names": [f"row {i}" for i in range(7)],
    "dates": pd.date_range("2024-01-01", periods=7),
    "ones": range(1, 8),
}
# What spreadsheets and other languages make of a table.
WRITERS = {
    "commas": {},
    "semicolons": {"sep": ";"},
    "European": {"sep": ";", "decimal": ",", "encoding": "utf-8-sig", "lineterminator": "\r\n"},
    "tabs": {"sep": "\t"},
    "quoted": {"quoting": 1},
}


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("index", INDICES)
def test_a_frame_comes_back(tmp_path, columns, index):
    frame = pd.DataFrame(X, index=INDICES[index], columns=COLUMNS[columns])
    names = [str(name) for name in frame.index.astype(str)]
    path = tmp_path / "frame.csv"
    for writer, with_index, with_header, labels in product(WRITERS.values(), (True, False), (True, False), (None, Y)):
        if (labels is not None and not with_header) or (
            with_index and not with_header and index in ("sampled", "ones")
        ):
            continue  # nothing tells such an index from a feature; the tests below have labels without names
        labelled = frame if labels is None else frame.assign(label=labels)
        labelled.to_csv(path, index=with_index, header=with_header, **writer)
        data = read(path)
        np.testing.assert_array_equal(data.X, X, err_msg=path.read_text())
        assert data.terms == (tuple(map(str, frame.columns)) if with_header else None)
        assert data.sample_names == (tuple(names) if with_index else None)
        assert data.class_names == (() if labels is None else ("fox", "owl"))
        assert data.y.tolist() == ([-1] * 7 if labels is None else [1, 0, 1, -1, 0, 1, 0])


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_numbers_come_back(tmp_path_factory, data):
    n, m = data.draw(st.tuples(st.integers(3, 9), st.integers(2, 6)))
    kind = data.draw(
        st.sampled_from([st.integers(0, 300), st.floats(0, 1e9), st.floats(0, 1, width=32), st.booleans()])
    )
    values = np.array(data.draw(st.lists(st.lists(kind, min_size=m, max_size=m), min_size=n, max_size=n)))
    frame = pd.DataFrame(values)
    if values.dtype.kind == "f" and data.draw(st.booleans()):
        frame = frame.mask(np.random.RandomState(n).uniform(size=(n, m)) < 0.2)
        frame.iloc[:, 0] = values[:, 0]
        frame.iloc[0] = values[0]
    path = tmp_path_factory.mktemp("frame") / "frame.csv"
    options = {
        "index": data.draw(st.booleans()),
        "na_rep": data.draw(st.sampled_from(["", "nan", "NaN", "NA", "<NA>", "null"])),
        **WRITERS[data.draw(st.sampled_from(list(WRITERS)))],
    }
    frame.to_csv(path, **options)
    np.testing.assert_array_equal(read(path).X, frame.to_numpy(float), err_msg=path.read_text())


@pytest.mark.parametrize(
    "options",
    [
        {"delimiter": ","},
        {"delimiter": ";"},
        {},
        {"fmt": "%8.3f"},
        {"fmt": "%.3f", "delimiter": ",", "header": "a,b,c,d"},
        {"fmt": "%.3f", "header": "a b c d"},
        {"fmt": "%.3f", "header": "a b c d", "comments": ""},
        {"fmt": "%.3f", "delimiter": ",", "header": "a,b,c,d", "comments": ""},
        {"fmt": "%.3f", "delimiter": ",", "header": "made on a Monday\nby nobody"},
    ],
)
def test_arrays_written_by_numpy(tmp_path, options):
    np.savetxt(tmp_path / "a.csv", X, **options)
    data = read(tmp_path / "a.csv")
    np.testing.assert_array_equal(data.X, X)
    assert data.terms == (("a", "b", "c", "d") if "a" in options.get("header", "")[:1] else None)


def test_counts_written_by_numpy(tmp_path):
    counts = np.random.RandomState(0).poisson(3, size=(6, 5))
    np.savetxt(tmp_path / "a.csv", counts, fmt="%d", delimiter=",")
    np.testing.assert_array_equal(read(tmp_path / "a.csv").X, counts)


def test_tables_written_by_r(tmp_path):
    with_corner = '"","a","b","class"\n"1",0.5,2,"x"\n"2",NA,4,NA\n"7",1.5,1,"y"\n'
    for text in (with_corner, with_corner.removeprefix('"",')):  # write.csv, write.table
        data = read(write(tmp_path / "a.csv", text))
        np.testing.assert_array_equal(data.X, [[0.5, 2], [np.nan, 4], [1.5, 1]])
        assert (data.sample_names, data.terms) == (("1", "2", "7"), ("a", "b"))
        assert (data.y.tolist(), data.class_names) == ([0, -1, 1], ("x", "y"))


def test_tables_written_by_spreadsheets(tmp_path):
    data = read(write(tmp_path / "a.csv", "\ufeffsep=;\r\nName;Länge;Breite;\r\nA;1,5;2;\r\nB;,5;3e2;\r\n"))
    np.testing.assert_array_equal(data.X, [[1.5, 2], [0.5, 300]])
    assert (data.terms, data.sample_names) == (("Länge", "Breite"), ("A", "B"))
    assert "numbers have decimal commas" in data.notes
    refuse(write(tmp_path / "b.csv", "a;b\n1,5;2\n1.5;2\n"), "decimal commas, but a decimal point in '1.5' near line 3")
    (tmp_path / "c.csv").write_bytes("Länge;Breite\n1;2\n".encode("cp1252"))
    refuse(tmp_path / "c.csv", "CSV UTF-8")


@pytest.mark.parametrize("index", [True, False])
def test_the_index_and_the_names_of_pandas_are_said(tmp_path, index):
    pd.DataFrame(X).to_csv(tmp_path / "a.csv", index=index)
    data = read(tmp_path / "a.csv")
    said = " ".join(data.notes)
    assert "the first row, 0, 1, 2, …, holds the names of the columns" in said
    assert ("holds the names of the samples" in said) == index


def test_an_index_that_was_read_as_a_column_and_written_again(tmp_path):
    frame = pd.DataFrame(X, columns=list("abcd"))
    for _ in range(3):
        frame.to_csv(tmp_path / "a.csv")
        frame = pd.read_csv(tmp_path / "a.csv")
    assert list(frame)[:2] == ["Unnamed: 0.2", "Unnamed: 0.1"] or "Unnamed: 0" in list(frame)
    np.testing.assert_array_equal(read(tmp_path / "a.csv").X, X)


def test_what_counts_is_not_always_an_index(tmp_path):
    """A named column is a feature, and the first feature of one or two samples may be 0 and 1."""
    time = read(write(tmp_path / "a.csv", "time,b\n0,5\n1,6\n2,7\n"))
    np.testing.assert_array_equal(time.X, [[0, 5], [1, 6], [2, 7]])
    for text in ("0,5,3\n", "0,5.5,3\n1,6.5,2\n"):
        assert read(write(tmp_path / "b.csv", text)).X.shape[1] == 3
    ids = read(write(tmp_path / "c.csv", "id,b,c\n17,5,1\n4,6,2\n"))
    assert (ids.terms, ids.sample_names) == (("b", "c"), ("17", "4"))


def test_the_user_knows_better(tmp_path):
    path = write(tmp_path / "a.csv", "400.5,401,401.5\n1,2,3\n4,5,6\n")
    assert read(path).X.shape == (3, 3)
    named = read(path, header=True)
    assert (named.X.shape, named.terms) == ((2, 3), ("400.5", "401", "401.5"))
    counted = write(tmp_path / "b.csv", "0,1,2\n5,6,7\n")
    assert read(counted).X.shape == (1, 3)
    assert read(counted, header=False).X.shape == (2, 3)
    flowers = write(tmp_path / "c.csv", "5.1,3.5,setosa\n4.9,3.0,setosa\n6.3,3.3,virginica\n")
    refuse(flowers, "'setosa' near line 1 in column '2'; if the column holds the classes, name it with label_column")
    data = read(flowers, label_column="2")
    assert (data.X.shape, data.class_names) == ((3, 2), ("setosa", "virginica"))
    assert read(flowers, drop_columns=["2"]).y.tolist() == [-1, -1, -1]
    refuse(flowers, "no column named '9'; its columns are '0', '1', '2'", drop_columns=["9"])


@pytest.mark.parametrize("unknown", ["-1", "-1.0", "nan", "NaN", "", "NA", "-1,0"])
def test_unlabelled_samples(tmp_path, unknown):
    rows = [f"{i};{i},5;{label}" for i, label in enumerate(["1", "2", unknown, "1,0", unknown, "2,0", "10"])]
    data = read(write(tmp_path / "a.csv", "\n".join(["a;b;label", *rows])))
    assert data.y.tolist() == [0, 1, -1, 0, -1, 1, 2]
    assert data.class_names == ("1", "2", "10")


def test_labels_that_pandas_has_made_floats(tmp_path):
    labels = pd.Series([1, 2, None, 2, -1, 1, 10])
    pd.DataFrame(X).assign(target=labels).to_csv(tmp_path / "a.csv")
    data = read(tmp_path / "a.csv")
    assert (data.y.tolist(), data.class_names) == ([0, 1, -1, 1, -1, 0, 2], ("1", "2", "10"))
    for dtype in (float, str):
        np.savez(tmp_path / "a.npz", X=X, y=labels.to_numpy().astype(dtype))
        again = read(tmp_path / "a.npz")
        assert (again.y.tolist(), again.class_names) == (data.y.tolist(), data.class_names)


def test_columns_that_may_hold_the_classes(tmp_path):
    for name in ("label", "Target", "class", "y", "labels"):
        data = read(write(tmp_path / "a.csv", f"a,{name}\n1,2\n3,4\n"))
        assert (data.terms, data.class_names) == (("a",), ("2", "4"))
        assert data.notes == (f"column {name!r} holds the classes",)
    both = write(tmp_path / "b.csv", "a,label,target\n1,2,x\n3,4,y\n")
    refuse(both, "'label' and 'target' may all hold the classes; name the one that does with label_column .--label-col")
    chosen = read(both, label_column="target")
    assert (chosen.class_names, chosen.terms) == (("x", "y"), ("a", "label"))
    assert "column 'label' is read as a feature" in chosen.notes
    assert read(both, label_column="target", drop_columns=["label"]).terms == ("a",)
    points = write(tmp_path / "c.csv", "x,y\n0.5,0.25\n1.5,2.25\n")
    refuse(points, r"column 'y' holds fractions, .* \(--drop-column 'y'\), .* \(--label-column none\)")
    assert read(points, label_column=False).terms == ("x", "y")


def test_text_in_a_column_says_what_to_do(tmp_path):
    path = write(tmp_path / "a.csv", "size,city,age\n1,Rome,3\n2,Oslo,4\n3,Rome,5\n")
    refuse(path, r"'Rome' near line 2 in column 'city'; .*--label-column 'city'\); .*--drop-column 'city'\)")
    assert read(path, label_column="city").class_names == ("Oslo", "Rome")
    assert read(path, drop_columns=["city"]).terms == ("size", "age")
    late = write(tmp_path / "b.csv", "size,city\n" + "1,2\n" * 5000 + "1,Rome\n")
    refuse(late, "'Rome' near line 5002 in column 'city'")


def test_names_over_texts_and_empty_columns(tmp_path):
    """A column of texts that is not called so is refused by its name, whatever stands at the ends of the lines."""
    path = write(tmp_path / "a.csv", 'v1,v2,,\nham,"Go, now",,\nspam,Free,,\nham,Hi,,\n')
    refuse(path, "'ham' near line 2 in column 'v1'")


def test_names_of_samples_in_tables_of_texts(tmp_path):
    data = read(write(tmp_path / "a.csv", "name,text,class\nfirst,red fox,a\nsecond,an owl,-1\n"))
    assert data.sample_names == ("first", "second")
    assert (data.y.tolist(), data.class_names) == ([0, -1], ("a",))
    assert data.terms == ("an", "fox", "owl", "red")
